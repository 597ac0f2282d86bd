/**
 * The product in emulated double: the matrix product of the CUDA tutorials, an item an element of C, tiles of 16×16 in
 * workgroup memory.
 *
 * A multiplication and a sum are 38 operations there, so that two loads from workgroup memory for each do not matter,
 * and a tile in registers would only be code: 16 of them take a minute to compile on SwiftShader.
 */
import { kernel } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { matmulParams } from "./operand.ts";

/** The variant of the simple product kernel. */
interface SimpleShape {
  readonly aTransposed: boolean;
  readonly bTransposed: boolean;
}

/** The number of rows and of columns of a workgroup's tile, and of steps of the inner index between barriers. */
export const SIMPLE_TILE_SIZE = 16;

/** Returns the kernel of the matrix product, in any precision, by square tiles in workgroup memory. */
export const simpleMatmulKernel = memoize(({ aTransposed, bTransposed }: SimpleShape) =>
  kernel({
    name: "simpleProduct",
    params: matmulParams,
    groupSize: SIMPLE_TILE_SIZE * SIMPLE_TILE_SIZE,
    env: { A_TRANSPOSED: aTransposed, B_TRANSPOSED: bTransposed, TILE: SIMPLE_TILE_SIZE },
    *body(given, gpu, { A_TRANSPOSED, B_TRANSPOSED, TILE }) {
      const { rows, columns, inner, tileRows, tileColumns, alpha, beta, a, b, c } = given;
      const { aStart, aStride, aBatch, bStart, bStride, bBatch, cStart, cStride, cBatch } = given;
      const left = gpu.sharedReal(TILE * TILE);
      const right = gpu.sharedReal(TILE * TILE);
      const tiles = tileRows * tileColumns;
      const matrix = (gpu.groupId() / tiles) | 0;
      const tile = gpu.groupId() - matrix * tiles;
      const y = (gpu.localId() / TILE) | 0;
      const x = gpu.localId() % TILE;
      const i = ((tile / tileColumns) | 0) * TILE + y;
      const j = (tile % tileColumns) * TILE + x;
      let sum = 0;
      for (let p0 = 0; p0 < inner; p0 += TILE) {
        const fromA = A_TRANSPOSED ? (p0 + x) * aStride + i : i * aStride + p0 + x;
        const fromB = B_TRANSPOSED ? j * bStride + p0 + y : (p0 + y) * bStride + j;
        left[y * TILE + x] = i < rows && p0 + x < inner ? a[aStart + matrix * aBatch + fromA] : 0;
        right[y * TILE + x] = j < columns && p0 + y < inner ? b[bStart + matrix * bBatch + fromB] : 0;
        yield;
        let p = 0;
        while (p < TILE) {
          sum += left[y * TILE + p] * right[p * TILE + x];
          p++;
        }
        yield;
      }
      if (i < rows && j < columns) {
        const at = cStart + matrix * cBatch + i * cStride + j;
        if (beta === 0) c[at] = alpha * sum;
        else c[at] = alpha * sum + beta * c[at];
      }
    },
  }),
);
