import { type Device, isGpu } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import { toCsr } from "./convert.ts";
import { pitchOf, type SparseMatrix, hybWidth, longestRow } from "./formats.ts";

/** The cost of a stored entry in each format, padding included. */
interface Costs {
  readonly csr: number;
  readonly csrRow: number;
  readonly ell: number;
  readonly dia: number;
  readonly coo: number;
}

/**
 * Nanoseconds on a core, of matrices of 10⁶ rows with one to seven diagonals in f64; f32 takes about the same part of
 * each. Compressed rows are scalar code, and the others have rows side by side in SIMD vectors.
 */
const ON_CPU: Costs = { csr: 1.1, csrRow: 2, ell: 1.3, dia: 1.1, coo: 4.5 };

/** Bytes, by which a GPU is limited; coordinates are read once more by a scan. */
const onGpu = (word: number): Costs => ({
  csr: word + 4,
  csrRow: 4,
  ell: word + 4,
  dia: word,
  coo: 2 * (word + 8),
});

/**
 * Returns the format whose product is expected to be fastest, by the number of entries (with padding) that each would
 * store, and the cost of an entry: measured times on CPUs, bytes on GPUs. bcsr, pkt and coo are never chosen, because
 * none was fastest for any measured matrix.
 *
 * @param matrix in any format.
 * @param device that it is for.
 * @param precision of the product; "f64" by default.
 * @example
 * import { openDevice } from "feynkac/device";
 * import { chooseFormat, stencil, stencilMatrix } from "feynkac/linalg";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const laplace = stencilMatrix(stencil({ shape: [9, 9], points: [[0, 0], [0, 1], [1, 0]], coefficient: [2, -1, -1]
 * })); console.log(chooseFormat(laplace, device)); // dia
 * @stable
 */
export function chooseFormat(
  matrix: SparseMatrix,
  device: Device,
  precision: Precision = "f64",
): "csr" | "ell" | "dia" | "hyb" {
  const { rows, starts, column } = toCsr(matrix);
  const diagonals = new Set<number>();
  for (let i = 0; i < rows; i++) for (let k = starts[i]; k < starts[i + 1]; k++) diagonals.add(column[k] - i);
  const pitch = pitchOf(rows);
  const width = hybWidth(starts);
  let rest = 0;
  for (let i = 0; i < rows; i++) rest += Math.max(0, starts[i + 1] - starts[i] - width);
  const cost = isGpu(device) ? onGpu(precision === "f32" ? 4 : 8) : ON_CPU;
  const expected = {
    dia: diagonals.size * pitch * cost.dia,
    ell: longestRow(starts) * pitch * cost.ell,
    csr: column.length * cost.csr + rows * cost.csrRow,
    hyb: width * pitch * cost.ell + rest * cost.coo,
  };
  // The first of the best: simpler formats come first.
  return (Object.keys(expected) as (keyof typeof expected)[]).reduce((a, b) => (expected[b] < expected[a] ? b : a));
}
