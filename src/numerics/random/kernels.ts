/**
 * The kernels of `RandomGenerator`. A stream of numbers is divided into parts of `length` numbers; a work item computes
 * the state at its part's start and continues from there. A number depends only on its position in the stream, not on
 * the work item.
 *
 * Bytes: each number is written once, nothing is read but the table (a few KB).
 */
import { bool, i32, type Kernel, kernel, read, real, u32, write } from "../../kernel/index.ts";
import type { NumberSource } from "./draws.ts";
import type { RandomSpec } from "./spec.ts";

/** The number of random numbers that an item generates between two barriers, before its workgroup writes them. */
export const TILE_LENGTH = 16;
/** The number of items of a workgroup. */
export const GROUP_SIZE = 64;

const paramsOf = ({ distribution }: RandomSpec) =>
  ({
    /** See `tableOf`, or of Sobol' points `sobolTableOf`. */
    table: read(u32),
    /** The streams of the specification, and the first that is wanted of each: parts start at a multiple of a draw. */
    streams: i32,
    firstStream: i32,
    /** Numbers before the first wanted one in the first draw. */
    lead: i32,
    count: i32,
    /** The parts of this launch: how many of each stream, and which is the first. */
    parts: i32,
    firstPart: i32,
    /** Numbers from a part's start to the next, a multiple of `TILE_LENGTH`. */
    length: i32,
    /** The numbers of this launch's parts. */
    used: i32,
    /** True if a draw may begin before the first wanted number, or end after the last. */
    guarded: bool,
    out: write(distribution === "bits" ? (u32 as unknown as typeof real) : real),
  }) as const;

/** A kernel that generates random numbers. */
export type RandomNumbersKernel = Kernel<ReturnType<typeof paramsOf>>;

/**
 * Returns the kernel in which each work item generates one part and writes its numbers itself. In interleaved order
 * neighbouring items are streams and write next to each other. By stream, neighbouring items are parts of a stream and
 * write `length` numbers apart, which is efficient only on a CPU. @param unroll the number of random numbers that a
 * loop iteration generates: a multiple of the numbers of one draw, and a divisor of `TILE_LENGTH`
 */
export function directKernel(
  spec: RandomSpec,
  { start, draw, group }: NumberSource,
  unroll: number,
): RandomNumbersKernel {
  return kernel({
    name: `random-${spec.generator}`,
    params: paramsOf(spec),
    env: { start, draw, DRAW: group, UNROLL: unroll, INTERLEAVED: spec.order === "interleaved" },
    body(
      { table, streams, firstStream, lead, count, parts, firstPart, length, used, guarded, out },
      gpu,
      { start, draw, DRAW, UNROLL, INTERLEAVED },
    ): undefined {
      const item = gpu.globalId();
      const stream = INTERLEAVED ? item % streams : (item / parts) | 0;
      const part = firstPart + (INTERLEAVED ? (item / streams) | 0 : item % parts);
      let state = start({ table, stream: gpu.u32(firstStream + stream), part: gpu.u32(part) });
      const step = INTERLEAVED ? streams : 1;
      const first = part * length - lead;
      let at = INTERLEAVED ? first * streams + stream : stream * count + first;
      // The same trips for all items, so that a CPU's vectors store without masks.
      for (let from = 0; from < used; from += UNROLL)
        for (let k = 0; k < UNROLL; k += DRAW) {
          const { state: next, a, b, c, d } = draw({ state, table });
          state = next;
          const i = first + from + k;
          if (!guarded || (i >= 0 && i < count)) out[at] = a;
          if (DRAW > 1 && (!guarded || (i + 1 >= 0 && i + 1 < count))) out[at + step] = b;
          if (DRAW > 2 && (!guarded || (i + 2 >= 0 && i + 2 < count))) out[at + 2 * step] = c;
          if (DRAW > 2 && (!guarded || (i + 3 >= 0 && i + 3 < count))) out[at + 3 * step] = d;
          at += DRAW * step;
        }
    },
  });
}

/**
 * Returns the kernel that generates numbers by stream on a GPU. Each item of a workgroup generates `TILE_LENGTH`
 * numbers of its part; then all items write them, so that neighbouring items write neighbouring numbers. It is launched
 * with parts / `GROUP_SIZE` workgroups for each stream, where parts is a multiple of `GROUP_SIZE`.
 */
export function tiledKernel(spec: RandomSpec, { start, draw, group }: NumberSource): RandomNumbersKernel {
  const isBits = spec.distribution === "bits";
  return kernel({
    name: `random-${spec.generator}-tiled`,
    params: paramsOf(spec),
    env: {
      start,
      draw,
      DRAW: group,
      TILE_LENGTH,
      GROUP_SIZE,
      ROWS: GROUP_SIZE / TILE_LENGTH,
      ROW: TILE_LENGTH + 1,
      BITS: isBits,
    },
    groupSize: GROUP_SIZE,
    *body(
      { table, firstStream, lead, count, parts, length, out },
      gpu,
      { start, draw, DRAW, TILE_LENGTH, GROUP_SIZE, ROWS, ROW, BITS },
    ) {
      // A word more in each row, so that the items of a subgroup use different banks.
      const tile = BITS ? gpu.sharedU32(GROUP_SIZE * ROW) : gpu.sharedReal(GROUP_SIZE * ROW);
      const local = gpu.localId();
      const groups = (parts / GROUP_SIZE) | 0;
      const stream = (gpu.groupId() / groups) | 0;
      const firstPart = (gpu.groupId() % groups) * GROUP_SIZE;
      let state = start({ table, stream: gpu.u32(firstStream + stream), part: gpu.u32(firstPart + local) });
      const row = local * ROW;
      // Of each tile an item writes one column of every ROWS-th row.
      const column = local % TILE_LENGTH;
      const firstRow = (local / TILE_LENGTH) | 0;
      const cell = firstRow * ROW + column;
      const base = stream * count;
      let first = (firstPart + firstRow) * length + column - lead;
      // All but a stream's first and last groups have nothing but wanted numbers.
      const inside = firstPart * length >= lead && (firstPart + GROUP_SIZE) * length - lead <= count;
      for (let from = 0; from < length; from += TILE_LENGTH) {
        for (let k = 0; k < TILE_LENGTH; k += DRAW) {
          const { state: next, a, b, c, d } = draw({ state, table });
          state = next;
          tile[row + k] = a;
          if (DRAW > 1) tile[row + k + 1] = b;
          if (DRAW > 2) tile[row + k + 2] = c;
          if (DRAW > 2) tile[row + k + 3] = d;
        }
        yield;
        if (inside) {
          for (let k = 0; k < TILE_LENGTH; k++) out[base + first + k * ROWS * length] = tile[cell + k * ROWS * ROW];
        } else {
          for (let k = 0; k < TILE_LENGTH; k++) {
            const i = first + k * ROWS * length;
            if (i >= 0 && i < count) out[base + i] = tile[cell + k * ROWS * ROW];
          }
        }
        first += TILE_LENGTH;
        yield;
      }
    },
  });
}
