import { type Device, hasResources } from "../../../device/index.ts";
import { fn, i32, type Kernel, kernel, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { bytesPerReal, type Method, type TridiagonalBatch, systemParams } from "./method.ts";
import { SystemArrays, eliminateRow, freeFirstRow } from "./segment.ts";
import { solveAcrossSegments } from "./lanes.ts";
import { CODES } from "./status.ts";

/** The division of a workgroup among streamed systems. */
interface StreamedHybridSettings {
  /** The number of systems of a tile, neighbours in memory: a line of the caches. */
  readonly systems: number;
  /** The number of items of one system, a power of two. */
  readonly lanes: number;
  readonly rows: number;
  /** The number of words of a fetch. */
  readonly words: number;
  /**
   * The number of rows of every run that workgroup memory holds; it divides `rows`, so that positions are constants.
   */
  readonly depth: number;
  /** The number of rows of every run in flight, fewer than `depth`. */
  readonly ahead: number;
  readonly shuffles: boolean;
}

interface StreamedHybridVariant extends StreamedHybridSettings {
  /** True if the runs are the whole system, and none is cut short. */
  readonly whole: boolean;
}

/**
 * The index of the words of a tile that this item fetches, in row 0 of their segment. What lies beyond the batch is the
 * last of it again.
 */
function fetchBase({ systems, lanes, rows, words }: StreamedHybridVariant) {
  return fn({
    name: "fetchBase",
    params: [i32, i32, i32, i32],
    env: { systems, words, perItem: rows, fetchers: (systems * lanes) / words },
    body([tile, tilesAcross, rows, stride], gpu, { systems, words, perItem, fetchers }) {
      const word = (gpu.localId() % fetchers) * words;
      const block = (tile / tilesAcross) | 0;
      const system = (tile - block * tilesAcross) * systems + (word % systems);
      return (block * rows + ((word / systems) | 0) * perItem) * stride + Math.min(system, stride - words);
    },
  });
}

/**
 * Fetches row `row` of every segment to entry `into` of the ring, `words` words per item: of one array in f32, of two
 * in f64. Beyond a system's last row that one again.
 */
function fetchRow({ systems, lanes, rows, words, whole }: StreamedHybridVariant) {
  const items = systems * lanes;
  return fn({
    name: "fetchRow",
    params: { ring: write(real), system: SystemArrays, rows: i32, stride: i32, into: i32, row: i32, base: i32 },
    env: { systems, items, words, whole, perItem: rows, fetchers: items / words },
    body({ ring, system: { lower, diagonal, upper, rhs }, rows, stride, into, row, base }, gpu, env) {
      const part = (gpu.localId() / env.fetchers) | 0;
      const word = (gpu.localId() % env.fetchers) * env.words;
      const start = ((word / env.systems) | 0) * env.perItem;
      const from = base + (env.whole ? row : Math.min(row, rows - 1 - start)) * stride;
      const to = into * 4 * env.items + word;
      for (let j = 0; j < 4; j++) {
        if (j % env.words === part) {
          if (j === 0) gpu.fetch(ring, to, lower, from, env.words);
          if (j === 1) gpu.fetch(ring, to + env.items, diagonal, from, env.words);
          if (j === 2) gpu.fetch(ring, to + 2 * env.items, upper, from, env.words);
          if (j === 3) gpu.fetch(ring, to + 3 * env.items, rhs, from, env.words);
        }
      }
    },
  });
}

/**
 * Returns the kernel of the register hybrid for interleaved systems, with rows fetched ahead. A workgroup goes from
 * tile to tile of `systems` neighbours. Rows arrive through a ring buffer in workgroup memory (`gpu.fetch`); the first
 * rows of the next tile are in flight while the last of this one are eliminated, joined (`solveAcrossSegments`) and
 * substituted. A segment is eliminated row by row as it arrives, so that registers hold only a, c and d.
 *
 * The k-th entry of the ring holds row k of each segment. An item fetches `words` words at a time, of one of the four
 * arrays; `words` must divide `stride`. Cost per row: 16 flops and 5 words; per segment: one exchange.
 */
export const streamedHybridKernel = memoize((variant: StreamedHybridVariant): Kernel => {
  const { systems, lanes, rows, depth, ahead, shuffles, whole } = variant;
  const items = lanes * systems;
  const sizes = { systems, lanes, items, depth, ahead, whole, perItem: rows, last: rows - 1 };
  return kernel({
    name: `streamed-hybrid-${systems}x${lanes}x${rows}${whole ? "" : "-part"}`,
    groupSize: items,
    params: { rows: i32, stride: i32, tiles: i32, tilesAcross: i32, ...systemParams },
    env: {
      ...sizes,
      fetchBase: fetchBase(variant),
      fetchRow: fetchRow(variant),
      eliminateRow: eliminateRow(rows),
      freeFirstRow,
      solveRuns: solveAcrossSegments(lanes, systems, false, shuffles),
      ...CODES,
    },
    *body({ rows, stride, tiles, tilesAcross, lower, diagonal, upper, rhs, status }, gpu, env) {
      const ring = gpu.sharedReal(env.depth * 4 * env.items);
      const scratch = gpu.sharedReal(7 * env.items);
      const worst = gpu.sharedI32(env.systems);
      const a = gpu.privateReal(env.perItem);
      const c = gpu.privateReal(env.perItem);
      const d = gpu.privateReal(env.perItem);
      const run = { a, c, d, origin: 0 };
      const system = { lower, diagonal, upper, rhs };
      const items = env.items;
      const item = gpu.localId();
      const lane = (item / env.systems) | 0;
      const own = item - lane * env.systems;
      const start = lane * env.perItem;
      let base = env.fetchBase(gpu.groupId(), tilesAcross, rows, stride);
      for (let row = 0; row < env.ahead; row++) {
        if (row > 0) yield gpu.awaitFetches(env.ahead);
        env.fetchRow({ ring, system, rows, stride, into: row, row, base });
      }
      for (let tile = gpu.groupId(); tile < tiles; tile += gpu.groupCount()) {
        let row0 = { pivot: 0.0, c: 0.0, d: 0.0 };
        let dBefore = 0.0;
        let broken = false;
        for (let k = 0; k < env.perItem; k++) {
          // After it every item has read the row before, in whose place another one is fetched.
          yield gpu.awaitFetches(env.ahead - 1);
          const free = (k + env.ahead) % env.depth;
          const next = tile + gpu.groupCount();
          if (k === env.perItem - env.ahead) base = env.fetchBase(next, tilesAcross, rows, stride);
          if (k < env.perItem - env.ahead)
            env.fetchRow({ ring, system, rows, stride, into: free, row: k + env.ahead, base });
          else if (next < tiles)
            env.fetchRow({ ring, system, rows, stride, into: free, row: k + env.ahead - env.perItem, base });
          const at = (k % env.depth) * 4 * items + item;
          const inside = env.whole || start + k < rows;
          const b = inside ? ring[at + items] : 1.0;
          const begins = k === 0 && lane === 0;
          const ends = env.whole ? k === env.last && lane === env.lanes - 1 : start + k >= rows - 1;
          a[k] = inside && !begins ? ring[at] : 0.0;
          c[k] = inside && !ends ? ring[at + 2 * items] : 0.0;
          d[k] = inside ? ring[at + 3 * items] : 0.0;
          if (k === 0) {
            row0 = { pivot: b, c: c[0], d: d[0] };
            dBefore = d[0];
          } else {
            const eliminated = env.eliminateRow({ run, k, b, dBefore, row0 });
            row0 = eliminated.row0;
            dBefore = eliminated.d;
            broken = broken || eliminated.broken;
          }
        }
        const first = env.freeFirstRow(row0.pivot, a[0], row0.c, row0.d);
        if (lane === 0) gpu.atomicStore(worst, own, env.ok);
        const values = {
          first: first.a,
          second: first.c,
          third: first.d,
          fourth: a[env.last],
          fifth: c[env.last],
          sixth: dBefore,
        };
        const solved = yield* env.solveRuns({ values, lane, own, scratch });
        const before = lane === 0 ? 0.0 : solved.xBefore;
        const x0 = first.d - first.a * before - first.c * solved.x;
        const block = (tile / tilesAcross) | 0;
        const column = (tile - block * tilesAcross) * env.systems + own;
        const slot = (block * rows + start) * stride + column;
        let finite = true;
        let x = solved.x;
        for (let after = 0; after < env.perItem; after++) {
          const k = env.last - after;
          if (k === 0) x = x0;
          else if (k < env.last) x = d[k] - a[k] * x0 - c[k] * x;
          finite = finite && Number.isFinite(x);
          if (column < stride && (env.whole || start + k < rows)) rhs[slot + k * stride] = x;
        }
        let code = broken || first.broken ? start : env.ok;
        if (solved.broken) code = Math.min(code, Math.min(start + env.last, rows - 1));
        if (!finite) code = Math.min(code, env.notFinite);
        if (code < env.ok) gpu.atomicMin(worst, own, code);
        yield;
        if (lane === 0 && column < stride) {
          const seen = gpu.atomicLoad(worst, own);
          status[block * stride + column] = seen === env.ok ? 0 : seen === env.notFinite ? -1 : seen + 1;
        }
      }
    },
  });
});

/**
 * Items of a system, rows of an item that are worth streaming (shorter systems are many to a multiprocessor), and rows
 * of the ring. On an H200, for 512 rows in f32, 8 × 64 with 32 rows in the ring are 3 % faster than 16 × 32 with 16; in
 * f64 16 × 32 fill the registers. A spill of 16 bytes cost 8 %.
 */
const SHARED_OUT = {
  f64: { lanes: 16, rows: [16, 32], depth: 16, ahead: 12 },
  f32: { lanes: 8, rows: [32, 64], depth: 32, ahead: 22 },
} as const;
/** The number of bytes of a line of the caches, and of the widest fetch. */
const LINE = 128;
const WIDEST = 16;

/**
 * Returns the settings of the register hybrid that fetches rows ahead into workgroup memory, for interleaved
 * tridiagonal systems; undefined if the problem or the device does not suit it.
 */
export function streamedHybridSettings(device: Device, problem: TridiagonalBatch): StreamedHybridSettings | undefined {
  const { rows, batch, stride, shared, precision } = problem;
  const { limits } = device;
  if (precision === "f32x2" || shared) return undefined;
  const { lanes, rows: sizes, depth, ahead } = SHARED_OUT[precision];
  const perItem = sizes.find((size) => size * lanes >= rows);
  const bytes = bytesPerReal(precision);
  const [systems, words] = [LINE / bytes, WIDEST / bytes];
  // Several tiles for every multiprocessor, or there is nothing to be fetched ahead.
  const enough = batch >= 2 * systems * (limits.multiprocessors ?? Infinity);
  if (perItem === undefined || 2 * rows <= sizes[0] * lanes || !enough) return undefined;
  if (stride % words !== 0 || stride < 4 * systems) return undefined;
  const workgroupBytes = (4 * depth + 7) * systems * lanes * bytes + 4 * systems;
  if (!hasResources(device, { items: systems * lanes, workgroupBytes })) return undefined;
  return { systems, lanes, rows: perItem, words, depth, ahead, shuffles: limits.subgroupSize === 32 };
}

/** Prepares the register hybrid with rows fetched ahead, for a problem and settings. */
export async function streamedHybrid(
  device: Device,
  problem: TridiagonalBatch,
  shape: StreamedHybridSettings,
): Promise<Method> {
  const { rows, batch, stride, precision } = problem;
  const whole = rows === shape.lanes * shape.rows;
  const compiled = await device.compile(streamedHybridKernel({ ...shape, whole }), { precision });
  const tilesAcross = Math.ceil(stride / shape.systems);
  const tiles = (batch / stride) * tilesAcross;
  const groups = Math.min(tiles, device.limits.multiprocessors ?? tiles);
  return {
    solve: (system) => device.launch(compiled, { rows, stride, tiles, tilesAcross, ...system }, { groups }),
    [Symbol.dispose]() {},
  };
}
