/**
 * Algorithms II and III for chains whose layers have one grid. The grid and the table of its search are in workgroup
 * memory, where neighbouring items read different words at full speed. In device memory each item's word is in a line
 * of its own.
 */
import { i32, kernel, read, real } from "../../../kernel/index.ts";
import type { NearestFunction } from "../search/brute-force.ts";
import type { StepFunction } from "./chain.ts";
import { blocksOf, countingParams, normalBlocks } from "./walk.ts";

/** The shape of a walk on one grid; each number is a constant of the kernel. */
interface OneGridShape {
  readonly dimension: number;
  /** The number of points of the grid. */
  readonly size: number;
  readonly tableLength: number;
  readonly step: StepFunction;
  readonly nearest: NearestFunction;
  /** True where the table fits in workgroup memory; otherwise it is in device memory. */
  readonly sharesTable: boolean;
}

interface GridWalkShape extends OneGridShape {
  /** The number of items of a workgroup, one path each. */
  readonly groupSize: number;
}

/**
 * Returns the GPU kernel that counts the transitions of simulated paths between the cells of consecutive layers, where
 * all layers share one grid (Algorithm II of Pagès and Wilbertz). Item i simulates path firstPath + i from layer 0,
 * where all paths are in cell 0, through all layers.
 *
 * Operations of a path and step in two dimensions with f32: 40 of 32-bit integers for half a block of Philox (20
 * products of 64 bits), 2 × 50 for normal numbers, 12 for the step, 20 for the bin, and 11 for each point of its list.
 * Bytes: in device memory the counter; in workgroup memory 8 per point of the list, and its words.
 */
export function gridTransitionCountKernel(shape: GridWalkShape) {
  const { dimension, size, tableLength, step, nearest, sharesTable, groupSize } = shape;
  const { blocks, layers: perGroup } = blocksOf(dimension);
  return kernel({
    name: "transitions-grid",
    groupSize,
    params: {
      ...countingParams,
      firstPath: i32,
      /** The path after the last one. */
      endPath: i32,
      layers: i32,
      initial: read(real),
    },
    env: {
      normalBlocks,
      step,
      nearest,
      D: dimension,
      N: size,
      TABLE: tableLength,
      BLOCKS: blocks,
      GROUP: perGroup,
      ITEMS: groupSize,
      SHARES_TABLE: sharesTable,
    },
    *body(
      { seedLow, seedHigh, firstPath, endPath, layers, initial, parameters, points, table, geometry, counters },
      gpu,
      { normalBlocks, step, nearest, D, N, TABLE, BLOCKS, GROUP, ITEMS, SHARES_TABLE },
    ) {
      const grid = gpu.sharedReal(N * D);
      const lists = gpu.sharedI32(SHARES_TABLE ? TABLE : 1);
      const local = gpu.localId();
      for (let k = local; k < N * D; k += ITEMS) grid[k] = points[k];
      if (SHARES_TABLE) for (let k = local; k < TABLE; k += ITEMS) lists[k] = table[k];
      yield;
      const path = firstPath + gpu.globalId();
      if (path < endPath) {
        const used = SHARES_TABLE ? lists : table;
        const search = { points: grid, size: N, first: 0, table: used, tableAt: 0, geometry, geometryAt: 0 };
        const key = { x: seedLow, y: seedHigh };
        const state = gpu.privateReal(D);
        const normals = gpu.privateReal(4 * BLOCKS);
        const own = gpu.privateReal(D);
        for (let a = 0; a < D; a++) state[a] = initial[a];
        // The counters of the transitions from the cell that the path is in.
        let base = 0;
        let from = 0;
        for (let before = 0; before < layers - 1; before += GROUP) {
          const first = ((before / GROUP) | 0) * BLOCKS;
          normalBlocks({ first, count: BLOCKS, path: gpu.u32(path), layer: 0, key, normals, at: 0 });
          for (let s = 0; s < GROUP; s++) {
            const layer = before + s + 1;
            if (layer < layers) {
              for (let a = 0; a < D; a++) own[a] = normals[s * D + a];
              step({ state, normals: own, layer, parameters });
              const to = nearest({ search, query: state });
              gpu.atomicAdd(counters, base + from * N + to, 1);
              base += layer === 1 ? N : N * N;
              from = to;
            }
          }
        }
      }
    },
  });
}

/** The number of work items of a workgroup of `layersKernel`. */
export const LAYER_GROUP_SIZE = 256;

interface LayersShape extends OneGridShape {
  /** True where counters fit in workgroup memory; otherwise they are in device memory. */
  readonly sharesCounters: boolean;
}

/**
 * Returns the kernel of Algorithm III of Pagès and Wilbertz, for autoregressive chains: the law of a layer is known, so
 * that each pair of neighbouring layers is simulated on its own. A workgroup takes a part of the paths of one pair of
 * layers, with the grid and the counters in workgroup memory, and adds its counts to those of the others at the end.
 *
 * Group g counts the transitions of the pair (g mod pairs) + 1 → + 2 of layers for part
 * ⌊g/pairs⌋ of the paths; for the pair 0 → 1 the cells are known, since layer 0 has one.
 *
 * Bytes: in device memory a counter per group and pair of cells that occurs; all else stays on the chip.
 */
export function layersKernel(shape: LayersShape) {
  const { dimension, size, tableLength, step, nearest, sharesCounters, sharesTable } = shape;
  const blocks = Math.ceil((2 * dimension) / 4);
  return kernel({
    name: "transitions-layers",
    groupSize: LAYER_GROUP_SIZE,
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
      ITEMS: LAYER_GROUP_SIZE,
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
