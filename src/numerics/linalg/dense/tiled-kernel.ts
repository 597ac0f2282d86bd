/**
 * The product on GPUs: a workgroup computes a tile of C, an item a smaller one in registers.
 *
 * A's and B's tiles pass through workgroup memory, twice there: while one pair is multiplied, the next is on its way
 * from memory into registers, so that one barrier a step is enough. Both lie there with the inner index outermost, so
 * that an item reads neighbours; it reads fours of them, at multiples of four, which CUDA's compiler merges into one
 * 128-bit access.
 *
 * Traffic of a step, per item, of the 128×128×16 tile in f32: 1,024 fused multiply-adds on 16 words from memory, 16
 * stores to and 256 words (64 accesses) from workgroup memory. Per unknown of C: inner·(1/128 + 1/128) words from
 * memory.
 */
import { kernel } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { matmulParams } from "./operand.ts";
import { itemsPerWorkgroup, WARP_LANES, PADDING_WORDS, type Tile } from "./tile.ts";

/** The variant of the tiled product kernel. */
interface TiledShape extends Tile {
  readonly aTransposed: boolean;
  readonly bTransposed: boolean;
}

function environment({ aTransposed, bTransposed, rows, columns, depth, itemRows, itemColumns }: TiledShape) {
  const group = itemsPerWorkgroup({ rows, columns, depth, itemRows, itemColumns });
  return {
    /** True if the unit stride of A and B is along their columns. */
    A_TRANSPOSED: aTransposed,
    B_TRANSPOSED: bTransposed,
    GROUP: group,
    BM: rows,
    BN: columns,
    BK: depth,
    LANES_M: WARP_LANES.rows,
    LANES_N: WARP_LANES.columns,
    /** Warps side by side along the columns. */
    WARPS_N: columns / (WARP_LANES.columns * itemColumns),
    /** Fours along an item's rows and columns. */
    QM: itemRows / 4,
    QN: itemColumns / 4,
    PAD: PADDING_WORDS,
    /** Fours of A's and B's tiles that an item carries. */
    FOURS_A: (rows * depth) / (4 * group),
    FOURS_B: (columns * depth) / (4 * group),
    /** Tile rows that run side by side, so that they share B's columns in the cache. */
    BAND: 8,
  };
}

/** Returns the kernel of the matrix product on a GPU, by tiles in workgroup memory and registers. */
export const tiledMatmulKernel = memoize((shape: TiledShape) =>
  kernel({
    name: "tiledProduct",
    params: matmulParams,
    env: environment(shape),
    groupSize: itemsPerWorkgroup(shape),
    *body(given, gpu, env) {
      const { rows, columns, inner, tileRows, tileColumns, alpha, beta, a, b, c } = given;
      const { aStart, aStride, aBatch, bStart, bStride, bBatch, cStart, cStride, cBatch } = given;
      const { A_TRANSPOSED, B_TRANSPOSED, GROUP, BM, BN, BK, PAD, BAND } = env;
      const { LANES_M, LANES_N, WARPS_N, QM, QN, FOURS_A, FOURS_B } = env;
      const left = gpu.sharedReal(2 * BK * (BM + PAD));
      const right = gpu.sharedReal(2 * BK * (BN + PAD));
      const sums = gpu.privateReal(16 * QM * QN);
      const x = gpu.privateReal(4 * QM);
      const y = gpu.privateReal(4 * QN);
      const nextA = gpu.privateReal(4 * FOURS_A);
      const nextB = gpu.privateReal(4 * FOURS_B);
      const item = gpu.localId();

      // The tile: bands of BAND tile rows, within one from column to column.
      const tiles = tileRows * tileColumns;
      const matrix = (gpu.groupId() / tiles) | 0;
      const tile = gpu.groupId() - matrix * tiles;
      const band = (tile / (BAND * tileColumns)) | 0;
      const bandRows = Math.min(BAND, tileRows - band * BAND);
      const inBand = tile - band * BAND * tileColumns;
      const row0 = (band * BAND + (inBand % bandRows)) * BM;
      const column0 = ((inBand / bandRows) | 0) * BN;

      // What this item carries: fours along the rows of A's tile and the columns of B's, some (items) apart.
      const aOrigin = aStart + matrix * aBatch;
      const bOrigin = bStart + matrix * bBatch;
      const aI = 4 * (A_TRANSPOSED ? item % (BM / 4) : (item / BK) | 0);
      const aP = A_TRANSPOSED ? (item / (BM / 4)) | 0 : item % BK;
      const bJ = 4 * (B_TRANSPOSED ? (item / BK) | 0 : item % (BN / 4));
      const bP = B_TRANSPOSED ? item % BK : (item / (BN / 4)) | 0;
      const toLeft = aP * (BM + PAD) + aI;
      const toRight = bP * (BN + PAD) + bJ;

      // Where this item multiplies.
      const warp = item >> 5;
      const lane = item & 31;
      const i0 = ((warp / WARPS_N) | 0) * (LANES_M * 4 * QM) + ((lane / LANES_N) | 0) * 4;
      const j0 = (warp % WARPS_N) * (LANES_N * 4 * QN) + (lane % LANES_N) * 4;
      for (let q = 0; q < 16 * QM * QN; q++) sums[q] = 0;

      const inside = row0 + BM <= rows && column0 + BN <= columns;
      const fromA = aOrigin + (A_TRANSPOSED ? aP * aStride + row0 + aI : (row0 + aI) * aStride + aP);
      const fromB = bOrigin + (B_TRANSPOSED ? (column0 + bJ) * bStride + bP : bP * bStride + column0 + bJ);
      let half = 0;
      for (let step = -BK; step < inner; step += BK) {
        const p0 = step + BK;
        if (inside && p0 + BK <= inner) {
          for (let e = 0; e < FOURS_A; e++) {
            for (let r = 0; r < 4; r++) {
              const i = r + (A_TRANSPOSED ? 0 : 4 * e * ((GROUP / BK) | 0));
              const p = p0 + (A_TRANSPOSED ? e * (((4 * GROUP) / BM) | 0) : 0);
              nextA[4 * e + r] = a[fromA + (A_TRANSPOSED ? p * aStride + i : i * aStride + p)];
            }
          }
          for (let e = 0; e < FOURS_B; e++) {
            for (let r = 0; r < 4; r++) {
              const j = r + (B_TRANSPOSED ? 4 * e * ((GROUP / BK) | 0) : 0);
              const p = p0 + (B_TRANSPOSED ? 0 : e * (((4 * GROUP) / BN) | 0));
              nextB[4 * e + r] = b[fromB + (B_TRANSPOSED ? j * bStride + p : p * bStride + j)];
            }
          }
        } else if (p0 < inner) {
          for (let e = 0; e < FOURS_A; e++) {
            for (let r = 0; r < 4; r++) {
              const i = r + (A_TRANSPOSED ? 0 : 4 * e * ((GROUP / BK) | 0));
              const p = p0 + (A_TRANSPOSED ? e * (((4 * GROUP) / BM) | 0) : 0);
              const there = row0 + aI + i < rows && aP + p < inner;
              nextA[4 * e + r] = there ? a[fromA + (A_TRANSPOSED ? p * aStride + i : i * aStride + p)] : 0;
            }
          }
          for (let e = 0; e < FOURS_B; e++) {
            for (let r = 0; r < 4; r++) {
              const j = r + (B_TRANSPOSED ? 4 * e * ((GROUP / BK) | 0) : 0);
              const p = p0 + (B_TRANSPOSED ? 0 : e * (((4 * GROUP) / BN) | 0));
              const there = column0 + bJ + j < columns && bP + p < inner;
              nextB[4 * e + r] = there ? b[fromB + (B_TRANSPOSED ? j * bStride + p : p * bStride + j)] : 0;
            }
          }
        }
        if (step >= 0) {
          const rowAt = half * (BK * (BM + PAD)) + i0;
          const columnAt = half * (BK * (BN + PAD)) + j0;
          // Two at a time for compilers of WGSL, which unroll no more than that (`unrollLoops`).
          for (let pair = 0; pair < BK; pair += 2) {
            for (let odd = 0; odd < 2; odd++) {
              for (let q = 0; q < QM; q++)
                for (let r = 0; r < 4; r++)
                  x[4 * q + r] = left[rowAt + (pair + odd) * (BM + PAD) + q * (4 * LANES_M) + r];
              for (let q = 0; q < QN; q++)
                for (let r = 0; r < 4; r++)
                  y[4 * q + r] = right[columnAt + (pair + odd) * (BN + PAD) + q * (4 * LANES_N) + r];
              for (let i = 0; i < 4 * QM; i++) for (let j = 0; j < 4 * QN; j++) sums[i * 4 * QN + j] += x[i] * y[j];
            }
          }
          half = 1 - half;
        }
        if (p0 < inner) {
          const atA = half * (BK * (BM + PAD)) + toLeft;
          const atB = half * (BK * (BN + PAD)) + toRight;
          for (let e = 0; e < FOURS_A; e++)
            for (let r = 0; r < 4; r++)
              left[atA + e * (A_TRANSPOSED ? (((4 * GROUP) / BM) | 0) * (BM + PAD) : 4 * ((GROUP / BK) | 0)) + r] =
                nextA[4 * e + r];
          for (let e = 0; e < FOURS_B; e++)
            for (let r = 0; r < 4; r++)
              right[atB + e * (B_TRANSPOSED ? 4 * ((GROUP / BK) | 0) : (((4 * GROUP) / BN) | 0) * (BN + PAD)) + r] =
                nextB[4 * e + r];
        }
        yield;
      }

      for (let i = 0; i < 4 * QM; i++) {
        const row = row0 + i0 + ((i / 4) | 0) * (4 * LANES_M) + (i % 4);
        for (let j = 0; j < 4 * QN; j++) {
          const column = column0 + j0 + ((j / 4) | 0) * (4 * LANES_N) + (j % 4);
          if (row < rows && column < columns) {
            const at = cStart + matrix * cBatch + row * cStride + column;
            const product = alpha * sums[i * 4 * QN + j];
            if (beta === 0) c[at] = product;
            else c[at] = product + beta * c[at];
          }
        }
      }
    },
  }),
);
