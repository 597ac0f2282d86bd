/**
 * Algorithms I and II of Pagès and Wilbertz: paths of a chain, the nearest point of each layer's grid, and a count for
 * each pair of cells that a path goes through one after the other.
 *
 * Normal numbers belong to the path and the layer: number a of layer k is word n mod 4 of block n/4 of the Philox
 * counter (block, path), n = (k − 1)·d + a if d divides 4; otherwise each layer begins a block. So counts do not depend
 * on the order of paths, nor on who walks them.
 */
import { fn, i32, kernel, read, real, u32, write } from "../../../kernel/index.ts";
import { normal32, philox4x32, PhiloxKey } from "../../../numerics/random/index.ts";
import type { NearestFunction } from "../search/brute-force.ts";
import type { StepFunction } from "./chain.ts";

/**
 * The positions of a layer's numbers in `layout`: its number of points, the first of them, the start of its tables, and
 * the start of the counters of transitions to it.
 */
export const LAYER_HEADER = { numbers: 5, size: 0, first: 1, table: 2, geometry: 3, counters: 4 } as const;

/** Returns the number of blocks of four random words for a group of layers, and the number of layers in a group. */
export const blocksOf = (dimension: number): { readonly blocks: number; readonly layers: number } =>
  4 % dimension === 0 ? { blocks: 1, layers: 4 / dimension } : { blocks: Math.ceil(dimension / 4), layers: 1 };

/**
 * Writes the normal numbers of `count` blocks of Philox, four for each, to `normals` from index `at` on. `first` is the
 * number of the first block.
 */
export const normalBlocks = fn({
  name: "normalBlocks",
  params: { first: i32, count: i32, path: u32, layer: i32, key: PhiloxKey, normals: write(real), at: i32 },
  env: { philox4x32, normal32 },
  body({ first, count, path, layer, key, normals, at }, gpu, { philox4x32, normal32 }) {
    const zero = gpu.u32(0);
    for (let b = 0; b < count; b++) {
      const counter = { x: gpu.u32(first + b), y: path, z: gpu.u32(layer), w: zero };
      const { x, y, z, w } = philox4x32({ counter, key });
      normals[at + 4 * b] = normal32(x);
      normals[at + 4 * b + 1] = normal32(y);
      normals[at + 4 * b + 2] = normal32(z);
      normals[at + 4 * b + 3] = normal32(w);
    }
  },
});

/** The parameters of all kernels that count transitions: the seed, the chain, the tables of the search, counters. */
export const countingParams = {
  seedLow: u32,
  seedHigh: u32,
  parameters: read(real),
  points: read(real),
  table: read(i32),
  geometry: read(real),
  counters: write(u32),
} as const;

/** The shape of a walk; each number is a constant of the kernel. */
export interface WalkShape {
  readonly dimension: number;
  readonly step: StepFunction;
  readonly nearest: NearestFunction;
  /**
   * The algorithm: "serial", Algorithm I, in which one item simulates all paths; "paths", Algorithm II, with many items
   * and atomic counters.
   */
  readonly by: "serial" | "paths";
  /** The number of paths that an item simulates side by side, a layer at a time. */
  readonly abreast: number;
}

/**
 * Returns the kernel that counts the transitions of simulated paths between the cells of consecutive layers. An item
 * simulates `abreast` paths at a time: one on a GPU; many on a CPU, where the counters of a layer then stay in the
 * cache.
 *
 * Bytes: per step one counter read and written; the tables of a layer are read by all items at the same time.
 */
export function transitionCountKernel({ dimension, step, nearest, by, abreast }: WalkShape) {
  const { blocks, layers: perGroup } = blocksOf(dimension);
  return kernel({
    name: `transitions-${by}`,
    params: {
      ...countingParams,
      firstPath: i32,
      /** The number of rounds of `abreast` paths of each item. */
      rounds: i32,
      layers: i32,
      initial: read(real),
      layout: read(i32),
    },
    env: {
      normalBlocks,
      step,
      nearest,
      D: dimension,
      BLOCKS: blocks,
      GROUP: perGroup,
      SERIAL: by === "serial",
      ABREAST: abreast,
    },
    body(
      { seedLow, seedHigh, firstPath, rounds, layers, initial, parameters, layout, points, table, geometry, counters },
      gpu,
      { normalBlocks, step, nearest, D, BLOCKS, GROUP, SERIAL, ABREAST },
    ) {
      const states = gpu.privateReal(ABREAST * D);
      const cells = gpu.privateI32(ABREAST);
      const normals = gpu.privateReal(ABREAST * 4 * BLOCKS);
      const state = gpu.privateReal(D);
      const own = gpu.privateReal(D);
      const key = { x: seedLow, y: seedHigh };
      for (let round = 0; round < rounds; round++) {
        const first = firstPath + (gpu.globalId() * rounds + round) * ABREAST;
        for (let p = 0; p < ABREAST; p++) {
          cells[p] = 0;
          for (let a = 0; a < D; a++) states[p * D + a] = initial[a];
        }
        for (let group = 0; group * GROUP < layers - 1; group++) {
          for (let p = 0; p < ABREAST; p++) {
            const path = gpu.u32(first + p);
            const at = 4 * p * BLOCKS;
            normalBlocks({ first: group * BLOCKS, count: BLOCKS, path, layer: 0, key, normals, at });
          }
          const used = Math.min(GROUP, layers - 1 - group * GROUP);
          for (let s = 0; s < used; s++) {
            const layer = group * GROUP + s + 1;
            const at = 5 * layer;
            const size = layout[at];
            const base = layout[at + 4];
            const first = layout[at + 1];
            const tableAt = layout[at + 2];
            const geometryAt = layout[at + 3];
            const search = { points, size, first, table, tableAt, geometry, geometryAt };
            for (let p = 0; p < ABREAST; p++) {
              for (let a = 0; a < D; a++) {
                own[a] = normals[4 * BLOCKS * p + s * D + a];
                state[a] = states[p * D + a];
              }
              step({ state, normals: own, layer, parameters });
              for (let a = 0; a < D; a++) states[p * D + a] = state[a];
              const to = nearest({ search, query: state });
              const counter = base + cells[p] * size + to;
              if (SERIAL) counters[counter] += 1;
              else gpu.atomicAdd(counters, counter, 1);
              cells[p] = to;
            }
          }
        }
      }
    },
  });
}

/**
 * Returns the kernel that advances the states of paths by a step in place, [paths, d], from which the grids of a
 * stepped chain are made.
 */
export function advanceKernel(dimension: number, step: StepFunction) {
  const { blocks, layers: perGroup } = blocksOf(dimension);
  return kernel({
    name: "advance",
    params: { seedLow: u32, seedHigh: u32, layer: i32, parameters: read(real), states: write(real) },
    env: { normalBlocks, step, D: dimension, BLOCKS: blocks, GROUP: perGroup },
    body({ seedLow, seedHigh, layer, parameters, states }, gpu, { normalBlocks, step, D, BLOCKS, GROUP }) {
      const path = gpu.globalId();
      const state = gpu.privateReal(D);
      const normals = gpu.privateReal(4 * BLOCKS);
      const own = gpu.privateReal(D);
      const group = ((layer - 1) / GROUP) | 0;
      const key = { x: seedLow, y: seedHigh };
      normalBlocks({ first: group * BLOCKS, count: BLOCKS, path: gpu.u32(path), layer: 0, key, normals, at: 0 });
      for (let a = 0; a < D; a++) {
        own[a] = normals[(layer - 1 - group * GROUP) * D + a];
        state[a] = states[path * D + a];
      }
      step({ state, normals: own, layer, parameters });
      for (let a = 0; a < D; a++) states[path * D + a] = state[a];
    },
  });
}
