/** The product for a matrix, from the host or from rows that are on the device already. */
import { type DeviceBuffer, isGpu, uploaded } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { bcsrProduct, pktProduct, withRest } from "./block-products.ts";
import { checkPlaces, type ConvertOptions } from "./convert.ts";
import { cooAdded, cooAddedOf, cooProductOf } from "./coo-product.ts";
import { csrProductOf, type CsrShape } from "./csr-product.ts";
import { coordinatesOf, diagonalsOf, ellOf } from "./device-formats.ts";
import type { DeviceRows } from "./device-rows.ts";
import { type CooMatrix, pitchOf, type SparseMatrix, hybWidth, longestRow } from "./formats.ts";
import { compiled, type Product, type Setting, uploadReals } from "./product.ts";
import { diaFormat, ellFormat, placesTogether, productOf, type SlotFormat, slotProduct, slotsKernel } from "./slots.ts";
import { lanesOf, type OperatorOptions } from "./spec.ts";
import type { Stencil } from "./stencil.ts";

/** Uploads a matrix and returns its product in its format. @throws SpecError (coordinates out of order or repeated) */
export async function productFor(
  setting: Setting,
  matrix: SparseMatrix | Stencil,
  options: OperatorOptions,
): Promise<Product> {
  const { device } = setting;
  switch (matrix.kind) {
    case "csr": {
      const { rows, starts, column, values, padding } = matrix;
      const arrays = {
        starts: uploaded(device, "i32", starts),
        column: uploaded(device, "i32", column),
        values: uploadReals(setting, values),
      };
      return csrProductOf(setting, csrShape(setting, rows, padding > 1, values.length, options), arrays);
    }
    case "coo":
      checkOrder(matrix);
      return cooProductOf(setting, matrix.rows, await cooAdded(setting, matrix));
    case "hyb":
      return withRest(await slotProduct(setting, matrix.ell), await cooAdded(setting, matrix.rest));
    case "bcsr":
      return bcsrProduct(setting, matrix);
    case "pkt":
      return pktProduct(setting, matrix);
    case "ell":
    case "dia":
    case "stencil":
      return slotProduct(setting, matrix);
    default:
      throw new SpecError(`SparseOperator: a matrix of kind ${JSON.stringify(matrix satisfies never)}`);
  }
}

function csrShape(
  { device }: Setting,
  rows: number,
  padded: boolean,
  entries: number,
  { algorithm = isGpu(device) ? "vector" : "scalar", lanes = lanesOf(rows, entries) }: OperatorOptions,
): CsrShape {
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
  readonly setting: Setting;
  readonly rows: number;
  readonly columns: number;
  readonly from: DeviceRows;
  readonly convert: Pick<ConvertOptions, "width" | "maxPlaces">;
  readonly operator: OperatorOptions;
}

/**
 * Returns a product in a format made from rows on a device; for csr it takes ownership of the rows, otherwise it only
 * reads them.
 */
export async function productFromRows(
  format: "csr" | "coo" | "ell" | "dia" | "hyb",
  { setting, rows, columns, from, convert, operator }: FromRows,
): Promise<Product> {
  const { device } = setting;
  const entries = from.column.length;
  const maxPlaces = convert.maxPlaces ?? Math.max(10 * entries, 1e6);
  const slots = async (format: SlotFormat, made: Awaited<ReturnType<typeof ellOf>>) => {
    const { pitch, slots, index, values } = made;
    const program = await compiled(setting, slotsKernel(format, placesTogether(device, format, slots)), 2);
    return productOf(setting, format, { rows, columns, pitch, slots }, { index, values }, program);
  };
  const coordinates = async (skipped: number) => {
    const arrays = await coordinatesOf(setting, rows, from, skipped);
    return cooAddedOf(setting, arrays);
  };
  switch (format) {
    case "csr": {
      const arrays: Readonly<Record<"starts" | "column" | "values", DeviceBuffer>> = { ...from };
      return csrProductOf(setting, csrShape(setting, rows, false, entries, operator), arrays);
    }
    case "coo":
      return cooProductOf(setting, rows, await coordinates(0));
    case "ell": {
      const width = longestRow(await device.read(from.starts));
      checkPlaces("ell", width * pitchOf(rows), maxPlaces);
      return slots(ellFormat, await ellOf(setting, rows, from, width));
    }
    case "dia":
      return slots(diaFormat, await diagonalsOf(setting, rows, columns, from, maxPlaces));
    case "hyb": {
      const width = convert.width ?? hybWidth(await device.read(from.starts));
      return withRest(await slots(ellFormat, await ellOf(setting, rows, from, width)), await coordinates(width));
    }
    default:
      throw new SpecError(
        `SparseOperator.convert: ${JSON.stringify(format satisfies never)} is not made on a device; ` +
          "make it with convertSparse on the host",
      );
  }
}
