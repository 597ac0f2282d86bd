/** The product for a matrix, from the host or from rows that are on the device already. */
import { type DeviceBuffer, isGpu, createBufferOf } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { bcsrProduct, pktProduct, productWithRest } from "./block-products.ts";
import { checkStoredEntries, type ConvertOptions } from "./convert.ts";
import { uploadAccumulatingCoo, accumulatingCooProductOf, cooProductOf } from "./coo-product.ts";
import { csrProductOf, type CsrProductSettings } from "./csr-product.ts";
import { cooFromRows, diaFromRows, ellFromRows } from "./device-formats.ts";
import type { DeviceRows } from "./device-rows.ts";
import { type CooMatrix, pitchOf, type SparseMatrix, hybWidth, longestRow } from "./formats.ts";
import { compileFor, type SparseProduct, type ComputeTarget, uploadReals } from "./product.ts";
import {
  diaFormat,
  ellFormat,
  entriesPerRound,
  slotProductOf,
  type SlotFormat,
  uploadSlotProduct,
  slotProductKernel,
} from "./slots.ts";
import { lanesPerRow, type OperatorOptions } from "./spec.ts";
import type { Stencil } from "./stencil.ts";

/**
 * Uploads a matrix and returns its product, in the matrix's format. @throws SpecError (coordinates out of order or
 * repeated)
 */
export async function uploadProduct(
  setting: ComputeTarget,
  matrix: SparseMatrix | Stencil,
  options: OperatorOptions,
): Promise<SparseProduct> {
  const { device } = setting;
  switch (matrix.kind) {
    case "csr": {
      const { rows, starts, column, values, padding } = matrix;
      const arrays = {
        starts: createBufferOf(device, "i32", starts),
        column: createBufferOf(device, "i32", column),
        values: uploadReals(setting, values),
      };
      return csrProductOf(setting, csrProductSettings(setting, rows, padding > 1, values.length, options), arrays);
    }
    case "coo":
      checkOrder(matrix);
      return cooProductOf(setting, matrix.rows, await uploadAccumulatingCoo(setting, matrix));
    case "hyb":
      return productWithRest(
        await uploadSlotProduct(setting, matrix.ell),
        await uploadAccumulatingCoo(setting, matrix.rest),
      );
    case "bcsr":
      return bcsrProduct(setting, matrix);
    case "pkt":
      return pktProduct(setting, matrix);
    case "ell":
    case "dia":
    case "stencil":
      return uploadSlotProduct(setting, matrix);
    default:
      throw new SpecError(`SparseOperator: a matrix of kind ${JSON.stringify(matrix satisfies never)}`);
  }
}

function csrProductSettings(
  { device }: ComputeTarget,
  rows: number,
  padded: boolean,
  entries: number,
  { algorithm = isGpu(device) ? "vector" : "scalar", lanes = lanesPerRow(rows, entries) }: OperatorOptions,
): CsrProductSettings {
  return { rows, padded, algorithm, lanes };
}

/** Sums of rows rely on it. */
function checkOrder({ row, column }: CooMatrix): void {
  for (let k = 1; k < row.length; k++)
    if (row[k] < row[k - 1] || (row[k] === row[k - 1] && column[k] <= column[k - 1]))
      throw new SpecError(
        `SparseOperator: coordinates: entry ${k} at (${row[k]}, ${column[k]}) follows (${row[k - 1]}, ${column[k - 1]}), ` +
          "expected ascending rows, and columns within a row; sparseMatrix sorts entries",
      );
}

/** The rows that a conversion on the device starts from. */
interface FromRows {
  readonly setting: ComputeTarget;
  readonly rows: number;
  readonly columns: number;
  readonly from: DeviceRows;
  readonly convert: Pick<ConvertOptions, "width" | "maxPlaces">;
  readonly operator: OperatorOptions;
}

/**
 * Converts a CSR matrix on a device to a format, and returns the operator that multiplies the converted matrix by
 * vectors. With csr the operator takes ownership of the given arrays; with the other formats they are only read.
 */
export async function productFromCsr(
  format: "csr" | "coo" | "ell" | "dia" | "hyb",
  { setting, rows, columns, from, convert, operator }: FromRows,
): Promise<SparseProduct> {
  const { device } = setting;
  const entries = from.column.length;
  const maxPlaces = convert.maxPlaces ?? Math.max(10 * entries, 1e6);
  const slots = async (format: SlotFormat, made: Awaited<ReturnType<typeof ellFromRows>>) => {
    const { pitch, slots, index, values } = made;
    const program = await compileFor(setting, slotProductKernel(format, entriesPerRound(device, format, slots)), 2);
    return slotProductOf(setting, format, { rows, columns, pitch, slots }, { index, values }, program);
  };
  const coordinates = async (skipped: number) => {
    const arrays = await cooFromRows(setting, rows, from, skipped);
    return accumulatingCooProductOf(setting, arrays);
  };
  switch (format) {
    case "csr": {
      const arrays: Readonly<Record<"starts" | "column" | "values", DeviceBuffer>> = { ...from };
      return csrProductOf(setting, csrProductSettings(setting, rows, false, entries, operator), arrays);
    }
    case "coo":
      return cooProductOf(setting, rows, await coordinates(0));
    case "ell": {
      const width = longestRow(await device.read(from.starts));
      checkStoredEntries("ell", width * pitchOf(rows), maxPlaces);
      return slots(ellFormat, await ellFromRows(setting, rows, from, width));
    }
    case "dia":
      return slots(diaFormat, await diaFromRows(setting, rows, columns, from, maxPlaces));
    case "hyb": {
      const width = convert.width ?? hybWidth(await device.read(from.starts));
      return productWithRest(
        await slots(ellFormat, await ellFromRows(setting, rows, from, width)),
        await coordinates(width),
      );
    }
    default:
      throw new SpecError(
        `SparseOperator.convert: ${JSON.stringify(format satisfies never)} is not made on a device; ` +
          "make it with convertSparse on the host",
      );
  }
}
