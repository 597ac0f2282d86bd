/**
 * The product on the CPU, after Goto & van de Geijn (2008): blocks of A and B are copied to where they lie densely, so
 * that they stay in the caches, and a small block of C stays in registers while the inner index runs.
 *
 * A workgroup is one set of vectors, so that its items are the lanes: 8 columns in f64, 16 in f32, four vectors of 16
 * bytes. An item holds ROWS = 2 elements of its column. A step of the inner index is 4 loads from B, 2 of A which every
 * lane gets, 8 products and 8 sums: 8 accumulators, 4 vectors of B, 1 of A and a product are 14 of the 16 registers
 * that x86 has.
 *
 * Memory: of C's BM×BN elements each is loaded and stored once in KC steps; A and B are read once a block of C, that is
 * 1/BN + 1/BM words a multiplication.
 */
import { kernel } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { matmulParams } from "./operand.ts";

/** The variant of the blocked product kernel. */
interface BlockedShape {
  readonly precision: "f64" | "f32";
  readonly aTransposed: boolean;
  readonly bTransposed: boolean;
  /** The number of rows of a workgroup's block of C. */
  readonly rows: number;
  readonly columns: number;
}

/** The number of steps of the inner index that are copied at a time. */
const depth = 128;
const rowsHeld = 2;

/** Returns the number of SIMD lanes that the blocked kernel uses. */
export const simdLanesOf = (precision: "f64" | "f32"): number => (precision === "f64" ? 8 : 16);

/** Returns the kernel of the matrix product on a CPU. Each workgroup keeps a block of C in registers. */
export const blockedMatmulKernel = memoize(({ precision, aTransposed, bTransposed, rows, columns }: BlockedShape) =>
  kernel({
    name: "blockedProduct",
    params: matmulParams,
    groupSize: simdLanesOf(precision),
    env: {
      A_TRANSPOSED: aTransposed,
      B_TRANSPOSED: bTransposed,
      LANES: simdLanesOf(precision),
      BM: rows,
      BN: columns,
      KC: depth,
      ROWS: rowsHeld,
    },
    *body(given, gpu, { A_TRANSPOSED, B_TRANSPOSED, LANES, BM, BN, KC, ROWS }) {
      const { rows, columns, inner, tileRows, tileColumns, alpha, beta, a, b, c } = given;
      const { aStart, aStride, aBatch, bStart, bStride, bBatch, cStart, cStride, cBatch } = given;
      const left = gpu.sharedReal(BM * KC);
      const right = gpu.sharedReal(BN * KC);
      const sums = gpu.privateReal(ROWS);
      const lane = gpu.localId();
      const tiles = tileRows * tileColumns;
      const matrix = (gpu.groupId() / tiles) | 0;
      const tile = gpu.groupId() - matrix * tiles;
      const row0 = ((tile / tileColumns) | 0) * BM;
      const column0 = (tile % tileColumns) * BN;
      const rowsHere = Math.min(BM, rows - row0);
      const columnsHere = Math.min(BN, columns - column0);
      const aOrigin = aStart + matrix * aBatch + (A_TRANSPOSED ? row0 : row0 * aStride);
      const bOrigin = bStart + matrix * bBatch + (B_TRANSPOSED ? column0 * bStride : column0);
      const cOrigin = cStart + matrix * cBatch + row0 * cStride + column0;

      // At least once, so that C gets β·C where there is nothing to add.
      let p0 = 0;
      do {
        const steps = Math.min(KC, inner - p0);
        // left[i·KC + p·ROWS + r] = A[row0 + i + r, p0 + p], i a multiple of ROWS; zeros where A ends.
        for (let i = 0; i < rowsHere; i += ROWS) {
          for (let p = 0; p < steps; p += LANES) {
            const at = p + lane;
            for (let r = 0; r < ROWS; r++) {
              const from = aOrigin + (A_TRANSPOSED ? (p0 + at) * aStride + i + r : (i + r) * aStride + (p0 + p) + lane);
              const to = i * KC + at * ROWS + r;
              if (i + r < rowsHere && p + LANES <= steps) left[to] = a[from];
              else left[to] = i + r < rowsHere && at < steps ? a[from] : 0;
            }
          }
        }
        // right[j·KC + p·LANES + lane] = B[p0 + p, column0 + j + lane], j a multiple of LANES.
        for (let p = 0; p < steps; p++) {
          for (let j = 0; j < columnsHere; j += LANES) {
            const to = j * KC + p * LANES + lane;
            if (B_TRANSPOSED) right[to] = j + lane < columnsHere ? b[bOrigin + (j + lane) * bStride + p0 + p] : 0;
            else if (j + LANES <= columnsHere) right[to] = b[bOrigin + (p0 + p) * bStride + j + lane];
            else right[to] = j + lane < columnsHere ? b[bOrigin + (p0 + p) * bStride + j + lane] : 0;
          }
        }
        yield;
        for (let j = 0; j < columnsHere; j += LANES) {
          for (let i = 0; i < rowsHere; i += ROWS) {
            for (let r = 0; r < ROWS; r++) sums[r] = 0;
            const fromA = i * KC;
            const fromB = j * KC;
            for (let p = 0; p < steps; p++) {
              const y = right[fromB + p * LANES + lane];
              for (let r = 0; r < ROWS; r++) sums[r] += left[fromA + p * ROWS + r] * y;
            }
            for (let r = 0; r < ROWS; r++) {
              if (i + r < rowsHere && j + lane < columnsHere) {
                const at = cOrigin + (i + r) * cStride + j + lane;
                if (p0 > 0) c[at] += alpha * sums[r];
                else if (beta === 0) c[at] = alpha * sums[r];
                else c[at] = alpha * sums[r] + beta * c[at];
              }
            }
          }
        }
        yield;
        p0 += KC;
      } while (p0 < inner);
    },
  }),
);
