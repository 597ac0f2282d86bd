import type { Device } from "../../../device/index.ts";
import { fn, hostRealType, type Kernel, i32, kernel, read, real, write } from "../../../kernel/index.ts";
import { bytesPerReal, type Method, type TridiagonalBatch, layoutOf, systemParams } from "./method.ts";
import { privateCapacity, privateArrayEnvironment } from "./thomas.ts";
import { memoize } from "../../../base/memoize.ts";
import { firstZeroPivot } from "./checks.ts";
import { CODES } from "./status.ts";

/** The number of bytes of a vector, and of a line of the cache, on every CPU that has 128-bit SIMD. */
const VECTOR = 16;
const LINE = 64;
/** The number of vectors of contiguous systems side by side; see `vectorsOption`. */
const TOGETHER = 2;
/** The number of systems of a strip. */
const STRIP = 64;

interface ThomasPlan {
  readonly kernel: Kernel;
  readonly vectors?: typeof TOGETHER;
  /** The number of words of workspace per row. */
  readonly work: number;
  readonly groups: number;
}

/**
 * Prepares Thomas' algorithm on a CPU in a cache-friendly order, by tiles of contiguous systems or strips of
 * interleaved ones. It returns undefined if `thomas` is to solve the problem: on other devices, if all systems share
 * one matrix, for other placements, and for batches of too few strips to occupy every core.
 */
export function thomasOnCpu(device: Device, problem: TridiagonalBatch): Promise<Method> | undefined {
  if (device.backend !== "cpu" || problem.shared) return undefined;
  const layout = layoutOf(problem);
  if (layout === "contiguous") return prepared(device, problem, tiles(device, problem));
  const hasStrips = layout === "interleaved" && problem.batch >= 8 * device.parallelism;
  return hasStrips ? prepared(device, problem, strips(device, problem)) : undefined;
}

async function prepared(device: Device, problem: TridiagonalBatch, plan: ThomasPlan): Promise<Method> {
  const { rows, batch, precision } = problem;
  const { kernel, groups, work: words, ...vectors } = plan;
  const compiled = await device.compile(kernel, { precision, ...vectors });
  const work = device.createBuffer(hostRealType(precision), Math.max(1, words * rows * batch));
  return {
    solve: (system) => device.launch(compiled, { rows, batch, work, ...system }, { groups }),
    [Symbol.dispose]: () => work[Symbol.dispose](),
  };
}

function tiles(device: Device, problem: TridiagonalBatch): ThomasPlan {
  const { rows, batch, precision } = problem;
  const lanes = VECTOR / bytesPerReal(precision);
  const together = lanes * TOGETHER;
  const capacity = privateCapacity(rows, 2, device, problem);
  const kernel = thomasTilesKernel({ together, line: LINE / bytesPerReal(precision), tile: lanes, capacity });
  return { kernel, vectors: TOGETHER, work: capacity > 0 ? 0 : 2, groups: Math.ceil(batch / together) };
}

function strips(device: Device, problem: TridiagonalBatch): ThomasPlan {
  const { rows, batch, precision } = problem;
  const capacity = privateCapacity(rows, 1, device, problem);
  const kernel = thomasStripsKernel({ strip: STRIP, line: LINE / bytesPerReal(precision), capacity });
  return { kernel, work: capacity > 0 ? 0 : 1, groups: Math.ceil(batch / STRIP) };
}

/**
 * Prefetches the line of the cache that holds a word: WebAssembly has no prefetch, but executes a load that may trap
 * even if its result is unused. Several such loads are in flight together, where elimination would wait for each row in
 * turn.
 */
const touch = fn({
  name: "touch",
  params: [read(real), i32],
  body([array, at]) {
    const word = array[at];
    return word;
  },
});

interface TilesVariant {
  /** The number of systems of a workgroup, which run side by side. */
  readonly together: number;
  /** The number of words of a line of the cache. */
  readonly line: number;
  /** The number of rows of a tile: as many as a vector has lanes. */
  readonly tile: number;
  /** The capacity, as that of `thomasKernel`. */
  readonly capacity: number;
}

/**
 * Longer systems are streams that a CPU follows by itself; shorter ones end before it does, and are asked for as a
 * whole.
 */
const SHORT = 128;

/**
 * The kernel of `thomasKernel` for contiguous systems on a CPU: rows are read and written a tile at a time, so that the
 * emitter loads a vector of each system and transposes tiles of lanes × lanes words (kernel/emit/wasm/blocks.ts),
 * instead of loading word by word.
 *
 * Cost a row as `thomasKernel`. The same operations in the same order give the same bits.
 */
const thomasTilesKernel = memoize(({ together, line, tile, capacity }: TilesVariant): Kernel =>
  kernel({
    name: `thomas-tiles-${together}-${line}-${tile}-${capacity}`,
    groupSize: together,
    params: { rows: i32, batch: i32, ...systemParams, work: write(real) },
    env: { touch, firstZeroPivot, together, line, short: SHORT, tile, ...privateArrayEnvironment(capacity), ...CODES },
    *body(
      { rows, batch, lower, diagonal, upper, rhs, work, status },
      gpu,
      { touch, firstZeroPivot, together, line, short, tile, kept, room, ok, notFinite },
    ) {
      const first = gpu.groupId() * together;
      const s = first + gpu.localId();
      const c = gpu.privateReal(room);
      const d = gpu.privateReal(room);
      const as = gpu.privateReal(tile);
      const bs = gpu.privateReal(tile);
      const cs = gpu.privateReal(tile);
      const ds = gpu.privateReal(tile);
      if (rows <= short) {
        const end = Math.min(first + together, batch) * rows;
        for (let at = first * rows; at < end; at += line) {
          touch(lower, at);
          touch(diagonal, at);
          touch(upper, at);
          touch(rhs, at);
          yield; // so this is the workgroup's, not each item's
        }
      }
      yield;
      if (s >= batch) return;
      const from = s * rows;
      const half = rows * batch;
      // Rows before the first whole tile; row 0, whose lower entry is nobody's, is always one of them.
      const head = rows - (((rows - 1) / tile) | 0) * tile;
      let cLast = 0.0;
      let dLast = 0.0;
      for (let i = 0; i < head; i++) {
        const at = from + i;
        const a = i > 0 ? lower[at] : 0.0;
        const inverse = 1 / (diagonal[at] - a * cLast);
        dLast = (rhs[at] - a * dLast) * inverse;
        cLast = upper[at] * inverse;
        if (kept) {
          c[i] = cLast;
          d[i] = dLast;
        } else {
          work[i * batch + s] = cLast;
          work[half + i * batch + s] = dLast;
        }
      }
      for (let i = head; i < rows; i += tile) {
        const at = from + i;
        for (let k = 0; k < tile; k++) as[k] = lower[at + k];
        for (let k = 0; k < tile; k++) bs[k] = diagonal[at + k];
        for (let k = 0; k < tile; k++) cs[k] = upper[at + k];
        for (let k = 0; k < tile; k++) ds[k] = rhs[at + k];
        for (let k = 0; k < tile; k++) {
          const inverse = 1 / (bs[k] - as[k] * cLast);
          dLast = (ds[k] - as[k] * dLast) * inverse;
          cLast = cs[k] * inverse;
          if (kept) {
            c[i + k] = cLast;
            d[i + k] = dLast;
          } else {
            work[(i + k) * batch + s] = cLast;
            work[half + (i + k) * batch + s] = dLast;
          }
        }
      }
      // What the last row says of the unknown after it is nobody's either.
      if (kept) c[rows - 1] = 0.0;
      else work[(rows - 1) * batch + s] = 0.0;
      let x = 0.0;
      // A CPU's arithmetic is IEEE 754's in f32, too: see `nonFiniteFlag`.
      let check = 0.0;
      for (let i = rows - tile; i >= head; i -= tile) {
        const at = from + i;
        for (let k = tile - 1; k >= 0; k--) {
          if (kept) x = d[i + k] - c[i + k] * x;
          else x = work[half + (i + k) * batch + s] - work[(i + k) * batch + s] * x;
          check += x - x;
          ds[k] = x;
        }
        for (let k = 0; k < tile; k++) rhs[at + k] = ds[k];
      }
      for (let i = head - 1; i >= 0; i--) {
        if (kept) x = d[i] - c[i] * x;
        else x = work[half + i * batch + s] - work[i * batch + s] * x;
        check += x - x;
        rhs[from + i] = x;
      }
      let code = ok;
      if (check !== 0) {
        code = firstZeroPivot(lower, diagonal, upper, from, 1, 0, rows);
        if (code === ok) code = notFinite;
      }
      status[s] = code === ok ? 0 : code === notFinite ? -1 : code + 1;
    },
  }),
);

interface StripsVariant {
  /** The number of systems of a strip: a workgroup, which one thread runs. */
  readonly strip: number;
  /** The number of words of a line of the cache. */
  readonly line: number;
  /** The largest number of rows that a private array holds; 0 where c′ goes to a workspace in memory. */
  readonly capacity: number;
}

/** The number of rows that a strip is asked for at once. */
const AHEAD = 8;

/**
 * The kernel of `thomasKernel` for interleaved systems on a CPU. Rows are `batch` words apart, usually on different
 * pages, so 64 neighbours go through the rows together, and one page look-up serves eight lines of the cache instead of
 * one. Before a few rows are eliminated, a word of each of their lines is read and discarded: all those lines are then
 * in flight at once.
 *
 * Cost a row as `thomasKernel`, but d′ overwrites the right-hand side. The same operations in the same order give the
 * same bits.
 */
const thomasStripsKernel = memoize(({ strip, line, capacity }: StripsVariant): Kernel =>
  kernel({
    name: `thomas-strips-${strip}-${line}-${capacity}`,
    groupSize: strip,
    params: { rows: i32, batch: i32, ...systemParams, work: write(real) },
    env: { touch, firstZeroPivot, strip, line, ahead: AHEAD, ...privateArrayEnvironment(capacity), ...CODES },
    *body(
      { rows, batch, lower, diagonal, upper, rhs, work, status },
      gpu,
      { touch, firstZeroPivot, strip, line, ahead, kept, room, ok, notFinite },
    ) {
      const first = gpu.groupId() * strip;
      const s = first + gpu.localId();
      const c = gpu.privateReal(room);
      let cLast = 0.0;
      let dLast = 0.0;
      // Row 0 by itself: its lower entry is nobody's.
      if (s < batch) {
        const inverse = 1 / diagonal[s];
        dLast = rhs[s] * inverse;
        cLast = upper[s] * inverse;
        if (kept) c[0] = cLast;
        else work[s] = cLast;
        rhs[s] = dLast;
      }
      for (let start = 1; start < rows; start += ahead) {
        const end = Math.min(start + ahead, rows);
        for (let i = start; i < end; i++) {
          for (let k = 0; k < strip; k += line) {
            const at = i * batch + Math.min(first + k, batch - 1);
            touch(lower, at);
            touch(diagonal, at);
            touch(upper, at);
            touch(rhs, at);
          }
          yield; // so this is the strip's, not each item's
        }
        if (s < batch) {
          for (let i = start; i < end; i++) {
            const at = i * batch + s;
            const a = lower[at];
            const inverse = 1 / (diagonal[at] - a * cLast);
            dLast = (rhs[at] - a * dLast) * inverse;
            cLast = upper[at] * inverse;
            if (kept) c[i] = cLast;
            else work[at] = cLast;
            rhs[at] = dLast;
          }
        }
        yield;
      }
      // What the last row says of the unknown after it is nobody's either.
      if (s < batch) {
        if (kept) c[rows - 1] = 0.0;
        else work[(rows - 1) * batch + s] = 0.0;
      }
      let x = 0.0;
      // A CPU's arithmetic is IEEE 754's in f32, too: see `nonFiniteFlag`.
      let check = 0.0;
      for (let end = rows; end > 0; end -= ahead) {
        const start = Math.max(end - ahead, 0);
        if (s < batch) {
          for (let i = end - 1; i >= start; i--) {
            const at = i * batch + s;
            x = rhs[at] - (kept ? c[i] : work[at]) * x;
            check += x - x;
            rhs[at] = x;
          }
        }
        yield;
      }
      if (s < batch) {
        let code = ok;
        if (check !== 0) {
          code = firstZeroPivot(lower, diagonal, upper, s, batch, 0, rows);
          if (code === ok) code = notFinite;
        }
        status[s] = code === ok ? 0 : code === notFinite ? -1 : code + 1;
      }
    },
  }),
);
