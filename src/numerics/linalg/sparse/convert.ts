/** Conversions between formats, on the host. `SparseOperator.convert` makes most of them on a device. */
import { SpecError } from "../../../base/errors.ts";
import { checkFields } from "../../../base/argument-checks.ts";
import { uncheckedCsr, cooFromCsr } from "./entries.ts";
import {
  type BcsrMatrix,
  type CooMatrix,
  type CsrMatrix,
  type DiaMatrix,
  type EllMatrix,
  type HybMatrix,
  NO_ENTRY,
  pitchOf,
  type PktMatrix,
  type SparseFormat,
  type SparseMatrix,
  hybWidth,
  longestRow,
} from "./formats.ts";
import { packetsOf } from "./packets.ts";

/** The options of `convertSparse` besides the format. @stable */
export interface ConvertOptions {
  /** The number to a multiple of which csr pads the length of every row; 1, no padding, by default. */
  readonly padding?: number;
  /** The rows and columns of a block of bcsr; [2, 2] by default. */
  readonly block?: readonly [rows: number, columns: number];
  /** The number of entries of each row in the ELL part of hyb; by default the number that a third of the rows fill. */
  readonly width?: number;
  /** The maximum number of rows of a packet of pkt, 512 by default. */
  readonly packetRows?: number;
  readonly packetItems?: number;
  /** The order of rows of pkt before they are divided into packets; "rcm", reverse Cuthill–McKee, by default. */
  readonly order?: "natural" | "rcm";
  /**
   * The maximum number of stored entries of ell and dia, padding included; by default ten times the entries, but at
   * least a million.
   */
  readonly maxPlaces?: number;
}

type Of<F extends SparseFormat> = Extract<SparseMatrix, { kind: F }>;

/**
 * Converts a matrix to another format. Zeros stored by dia and bcsr are dropped when they are converted back.
 *
 * Cost: one pass over the entries; pkt also orders the rows, O(entries · log entries).
 *
 * @param matrix in any format.
 * @param format "coo", "csr", "bcsr", "ell", "dia", "hyb" or "pkt".
 * @param options the settings of the format.
 * @throws SpecError (an option; ell or dia that would store far more padding than entries; pkt of a matrix that is not
 * square)
 * @example
 * import { convertSparse, sparseMatrix } from "feynkac/linalg";
 *
 * const a = sparseMatrix({ rows: 3, columns: 3, row: [0, 1, 2], column: [1, 2, 0], values: [1, 1, 5] });
 * console.log(convertSparse(a, "dia").offsets.join(" ")); // -2 1
 * @stable
 */
export function convertSparse<F extends SparseFormat>(
  matrix: SparseMatrix,
  format: F,
  options: ConvertOptions = {},
): Of<F> {
  checkFields("convertSparse", options, [
    "padding",
    "block",
    "width",
    "packetRows",
    "packetItems",
    "order",
    "maxPlaces",
  ]);
  return to(format, toCsr(matrix), options) as Of<F>;
}

function to(format: SparseFormat, rows: CsrMatrix, options: ConvertOptions): SparseMatrix {
  switch (format) {
    case "coo":
      return cooFromCsr(rows);
    case "csr":
      return padded(rows, whole("padding", options.padding ?? 1));
    case "bcsr":
      return toBlocks(rows, options.block ?? [2, 2]);
    case "ell":
      return toEll(rows, longestRow(rows.starts), maxPlaces(rows, options));
    case "dia":
      return toDiagonals(rows, maxPlaces(rows, options));
    case "hyb":
      return toHybrid(rows, options);
    case "pkt":
      return toPackets(rows, options);
    default:
      throw new SpecError(
        `convertSparse: format ${JSON.stringify(format satisfies never)}, expected coo, csr, bcsr, ell, dia, hyb or pkt`,
      );
  }
}

/** Converts a matrix to compressed rows without padding. */
export function toCsr(matrix: SparseMatrix): CsrMatrix {
  if (matrix.kind === "csr" && matrix.padding === 1) return matrix;
  const { rows, columns } = matrix;
  if (matrix.kind === "coo") {
    const { column, values } = matrix;
    return uncheckedCsr({ rows, columns, starts: startsOf(rows, matrix.row), column, values });
  }
  const lists = entriesOf(matrix);
  const starts = startsOf(rows, lists.row);
  const next = starts.slice(0, rows);
  const column = new Int32Array(lists.row.length);
  const values = new Float64Array(lists.row.length);
  lists.row.forEach((i, k) => {
    const at = next[i]++;
    column[at] = lists.column[k];
    values[at] = lists.values[k];
  });
  return sortedRows(uncheckedCsr({ rows, columns, starts, column, values }));
}

function startsOf(rows: number, row: Iterable<number>): Int32Array {
  const starts = new Int32Array(rows + 1);
  for (const i of row) starts[i + 1]++;
  for (let i = 0; i < rows; i++) starts[i + 1] += starts[i];
  return starts;
}

interface Lists {
  readonly row: number[];
  readonly column: number[];
  readonly values: number[];
}

/** Every entry, in any order; zeros of formats that cannot tell them from none are left out. */
function entriesOf(matrix: SparseMatrix): Lists {
  const lists: Lists = { row: [], column: [], values: [] };
  const add = (i: number, j: number, value: number): void => {
    lists.row.push(i);
    lists.column.push(j);
    lists.values.push(value);
  };
  each(matrix, add);
  return lists;
}

type Visit = (row: number, column: number, value: number) => void;

function each(matrix: SparseMatrix, visit: Visit): void {
  const { rows, columns } = matrix;
  switch (matrix.kind) {
    case "coo":
      matrix.row.forEach((i, k) => visit(i, matrix.column[k], matrix.values[k]));
      return;
    case "csr":
      for (let i = 0; i < rows; i++)
        for (let k = matrix.starts[i]; k < matrix.starts[i + 1]; k++)
          if (matrix.column[k] >= 0) visit(i, matrix.column[k], matrix.values[k]);
      return;
    case "ell":
      for (let i = 0; i < rows; i++)
        for (let k = i; k < matrix.width * matrix.pitch; k += matrix.pitch)
          if (matrix.column[k] >= 0) visit(i, matrix.column[k], matrix.values[k]);
      return;
    case "dia":
      matrix.offsets.forEach((offset, d) => {
        for (let i = Math.max(0, -offset); i < Math.min(rows, columns - offset); i++) {
          const value = matrix.values[d * matrix.pitch + i];
          if (value !== 0) visit(i, i + offset, value);
        }
      });
      return;
    case "bcsr":
      eachOfBlocks(matrix, visit);
      return;
    case "hyb":
      each(matrix.ell, visit);
      each(matrix.rest, visit);
      return;
    case "pkt":
      eachOfPackets(matrix, visit);
      each(matrix.rest, visit);
  }
}

function eachOfBlocks({ block: [height, width], starts, column, values }: BcsrMatrix, visit: Visit): void {
  for (let band = 0; band < starts.length - 1; band++)
    for (let b = starts[band]; b < starts[band + 1]; b++)
      for (let e = 0; e < height * width; e++) {
        const value = values[b * height * width + e];
        const [r, c] = [e % height, Math.floor(e / height)];
        if (value !== 0) visit(band * height + r, column[b] * width + c, value);
      }
}

function eachOfPackets({ order, starts, entryStarts, packed, values }: PktMatrix, visit: Visit): void {
  for (let p = 0; p < starts.length - 1; p++)
    for (let k = entryStarts[p]; k < entryStarts[p + 1]; k++)
      if (packed[k] !== NO_ENTRY)
        visit(order[starts[p] + (packed[k] >>> 16)], order[starts[p] + (packed[k] & 0xffff)], values[k]);
}

function sortedRows(matrix: CsrMatrix): CsrMatrix {
  const { rows, starts, column, values } = matrix;
  for (let i = 0; i < rows; i++) {
    const [from, end] = [starts[i], starts[i + 1]];
    const places = Array.from({ length: end - from }, (_, k) => from + k).sort((a, b) => column[a] - column[b]);
    const sorted = places.map((k) => [column[k], values[k]] as const);
    sorted.forEach(([j, value], k) => {
      column[from + k] = j;
      values[from + k] = value;
    });
  }
  return matrix;
}

function padded(matrix: CsrMatrix, padding: number): CsrMatrix {
  if (padding === 1) return matrix;
  const { rows } = matrix;
  const starts = new Int32Array(rows + 1);
  for (let i = 0; i < rows; i++)
    starts[i + 1] = starts[i] + Math.ceil((matrix.starts[i + 1] - matrix.starts[i]) / padding) * padding;
  const column = new Int32Array(starts[rows]).fill(-1);
  const values = new Float64Array(starts[rows]);
  for (let i = 0; i < rows; i++) {
    column.set(matrix.column.subarray(matrix.starts[i], matrix.starts[i + 1]), starts[i]);
    values.set(matrix.values.subarray(matrix.starts[i], matrix.starts[i + 1]), starts[i]);
  }
  return { ...matrix, starts, column, values, padding };
}

function toBlocks(matrix: CsrMatrix, block: readonly [number, number]): BcsrMatrix {
  const [height, width] = block.map((size) => whole("block", size));
  const { rows, columns } = matrix;
  const bands = Math.ceil(rows / height);
  const starts = new Int32Array(bands + 1);
  const column: number[] = [];
  const values: number[] = [];
  for (let band = 0; band < bands; band++) {
    const [top, bottom] = [band * height, Math.min(rows, (band + 1) * height)];
    const found = new Set<number>();
    for (let k = matrix.starts[top]; k < matrix.starts[bottom]; k++) found.add(Math.floor(matrix.column[k] / width));
    const blocks = [...found].sort((a, b) => a - b);
    const place = new Map(blocks.map((j, k) => [j, column.length + k]));
    column.push(...blocks);
    for (let k = 0; k < blocks.length * height * width; k++) values.push(0);
    for (let i = top; i < bottom; i++)
      for (let k = matrix.starts[i]; k < matrix.starts[i + 1]; k++) {
        const j = matrix.column[k];
        const b = place.get(Math.floor(j / width))!;
        values[b * height * width + (j % width) * height + (i - top)] = matrix.values[k];
      }
    starts[band + 1] = column.length;
  }
  const arrays = { starts, column: Int32Array.from(column), values: Float64Array.from(values) };
  return { kind: "bcsr", rows, columns, block: [height, width], ...arrays };
}

function toEll({ rows, columns, starts, column, values }: CsrMatrix, width: number, max: number): EllMatrix {
  const pitch = pitchOf(rows);
  checkStoredEntries("ell", width * pitch, max);
  const result = {
    column: new Int32Array(width * pitch).fill(-1),
    values: new Float64Array(width * pitch),
  };
  for (let i = 0; i < rows; i++) {
    const count = Math.min(width, starts[i + 1] - starts[i]);
    for (let k = 0; k < count; k++) {
      result.column[k * pitch + i] = column[starts[i] + k];
      result.values[k * pitch + i] = values[starts[i] + k];
    }
  }
  return { kind: "ell", rows, columns, width, pitch, ...result };
}

function toDiagonals({ rows, columns, starts, column, values }: CsrMatrix, max: number): DiaMatrix {
  const pitch = pitchOf(rows);
  const place = new Map<number, number>();
  for (let i = 0; i < rows; i++) for (let k = starts[i]; k < starts[i + 1]; k++) place.set(column[k] - i, 0);
  const offsets = Int32Array.from(place.keys()).sort();
  checkStoredEntries("dia", offsets.length * pitch, max);
  offsets.forEach((offset, d) => place.set(offset, d));
  const stored = new Float64Array(offsets.length * pitch);
  for (let i = 0; i < rows; i++)
    for (let k = starts[i]; k < starts[i + 1]; k++) stored[place.get(column[k] - i)! * pitch + i] = values[k];
  return { kind: "dia", rows, columns, pitch, offsets, values: stored };
}

function toHybrid(matrix: CsrMatrix, options: ConvertOptions): HybMatrix {
  const { rows, columns, starts } = matrix;
  const width = Math.min(longestRow(starts), whole("width", options.width ?? hybWidth(starts), 0));
  const ell = toEll(matrix, width, Infinity);
  const all = cooFromCsr(matrix);
  const kept = (k: number): boolean => k - starts[all.row[k]] >= width;
  const left = Int32Array.from({ length: all.row.length }, (_, k) => k).filter(kept);
  const rest: CooMatrix = {
    kind: "coo",
    rows,
    columns,
    row: left.map((k) => all.row[k]),
    column: left.map((k) => all.column[k]),
    values: Float64Array.from(left, (k) => all.values[k]),
  };
  return { kind: "hyb", rows, columns, ell, rest };
}

function toPackets(matrix: CsrMatrix, options: ConvertOptions): PktMatrix {
  const { packetRows = 512, packetItems = 128, order = "rcm" } = options;
  if (matrix.rows !== matrix.columns)
    throw new SpecError(`convertSparse: pkt of ${matrix.rows} × ${matrix.columns}, expected a square matrix`);
  if (whole("packetRows", packetRows) > 2 ** 15)
    throw new SpecError(`convertSparse: packetRows ${packetRows}, expected at most ${2 ** 15}`);
  return packetsOf(matrix, packetRows, whole("packetItems", packetItems), order);
}

function whole(name: string, value: number, min = 1): number {
  if (!Number.isInteger(value) || value < min)
    throw new SpecError(`convertSparse: ${name}: got ${value}, expected a whole number of at least ${min}`);
  return value;
}

const maxPlaces = ({ values }: CsrMatrix, options: ConvertOptions): number =>
  options.maxPlaces ?? Math.max(10 * values.length, 1e6);

/**
 * Checks that a format stores at most `max` entries. `places` is the number of entries that it would store, padding
 * included. @throws SpecError
 */
export function checkStoredEntries(format: "ell" | "dia", places: number, max: number): void {
  if (places > max)
    throw new SpecError(
      `convertSparse: ${format} would store ${places} places, expected at most ${max}; take "hyb" or "csr", or raise maxPlaces`,
    );
}
