/**
 * Algorithm III of Pagès and Wilbertz, for autoregressive chains: the law of a layer is known, so that each pair of
 * neighbouring layers is simulated on its own. A workgroup takes a part of the paths of one pair of layers, with the
 * grid and the counters in workgroup memory, and adds its counts to those of the others at the end.
 */
import { i32, kernel } from "../../../kernel/index.ts";
import { countingParams, normalBlocks } from "./walk.ts";
import type { OneGridShape } from "./walk-grid.ts";

/** The number of items of a workgroup. */
export const LAYER_GROUP = 256;

interface LayersShape extends OneGridShape {
  /** True where counters fit in workgroup memory; otherwise they are in device memory. */
  readonly sharesCounters: boolean;
}

/**
 * Returns the kernel in which group g counts the transitions of the pair (g mod pairs) + 1 → + 2 of layers for part
 * ⌊g/pairs⌋ of the paths; for the pair 0 → 1 the cells are known, since layer 0 has one.
 *
 * Bytes: in device memory a counter per group and pair of cells that occurs; all else stays on the chip.
 */
export function layersKernel(shape: LayersShape) {
  const { dimension, size, tableLength, step, nearest, sharesCounters, sharesTable } = shape;
  const blocks = Math.ceil((2 * dimension) / 4);
  return kernel({
    name: "transitions-layers",
    groupSize: LAYER_GROUP,
    params: {
      ...countingParams,
      /** Pairs of layers, and paths of a part; the last part has fewer. */
      pairs: i32,
      paths: i32,
      length: i32,
    },
    env: {
      normalBlocks,
      step,
      nearest,
      D: dimension,
      N: size,
      TABLE: tableLength,
      BLOCKS: blocks,
      ITEMS: LAYER_GROUP,
      SHARES: sharesCounters,
      SHARES_TABLE: sharesTable,
    },
    *body(
      { seedLow, seedHigh, pairs, paths, length, parameters, points, table, geometry, counters },
      gpu,
      { normalBlocks, step, nearest, D, N, TABLE, BLOCKS, ITEMS, SHARES, SHARES_TABLE },
    ) {
      const counts = gpu.sharedU32(SHARES ? N * N : 1);
      const grid = gpu.sharedReal(N * D);
      const lists = gpu.sharedI32(SHARES_TABLE ? TABLE : 1);
      const local = gpu.localId();
      const pair = gpu.groupId() % pairs;
      const first = ((gpu.groupId() / pairs) | 0) * length;
      const last = Math.min(first + length, paths);
      const base = pair === 0 ? 0 : N + (pair - 1) * N * N;
      const used = pair === 0 ? N : N * N;
      if (SHARES) for (let k = local; k < used; k += ITEMS) counts[k] = gpu.u32(0);
      for (let k = local; k < N * D; k += ITEMS) grid[k] = points[k];
      if (SHARES_TABLE) for (let k = local; k < TABLE; k += ITEMS) lists[k] = table[k];
      yield;
      const state = gpu.privateReal(D);
      const normals = gpu.privateReal(4 * BLOCKS);
      const own = gpu.privateReal(D);
      const key = { x: seedLow, y: seedHigh };
      const read = SHARES_TABLE ? lists : table;
      const search = { points: grid, size: N, first: 0, table: read, tableAt: 0, geometry, geometryAt: 0 };
      for (let path = first + local; path < last; path += ITEMS) {
        normalBlocks({ first: 0, count: BLOCKS, path: gpu.u32(path), layer: pair + 1, key, normals, at: 0 });
        for (let a = 0; a < D; a++) {
          state[a] = normals[a];
          own[a] = normals[D + a];
        }
        let from = 0;
        if (pair > 0) from = nearest({ search, query: state });
        step({ state, normals: own, layer: pair + 1, parameters });
        const to = nearest({ search, query: state });
        if (SHARES) gpu.atomicAdd(counts, from * N + to, 1);
        else gpu.atomicAdd(counters, base + from * N + to, 1);
      }
      yield;
      if (SHARES) {
        for (let k = local; k < used; k += ITEMS) {
          const count = gpu.atomicLoad(counts, k);
          if (count > 0) gpu.atomicAdd(counters, base + k, count);
        }
      }
    },
  });
}
