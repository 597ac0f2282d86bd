import { type Device, firstThatFits, type WorkgroupResources } from "../../../device/index.ts";
import { i32, type Kernel, kernel, type Precision, read, real } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { solveAcrossLanes, solveAcrossSegments } from "./lanes.ts";
import { loadSegments, storeSegments, eliminateSegment, substituteSegment, transposeWords } from "./segment.ts";
import {
  bytesPerReal,
  type ChunkMethod,
  type Chunks,
  type TridiagonalBatch,
  systemParams,
  tooManyRowsError,
  type Layout,
  layoutOf,
  systemBase,
} from "./method.ts";
import { CODES } from "./status.ts";

/** The division of a workgroup's items among systems, and how they read and exchange rows. */
interface RegisterHybridSettings {
  /** The number of items of one system, a power of two. */
  readonly lanes: number;
  /** The number of rows of one item. */
  readonly rows: number;
  /** The number of systems of a workgroup, which are neighbours in memory. */
  readonly systems: number;
  /** True where lanes exchange values by shuffles: 32 lanes that form a subgroup. */
  readonly shuffles: boolean;
  /** True if contiguous segments are read in place, each from a multiple of four words on. */
  readonly aligned: boolean;
  /** True where b and d are kept in workgroup memory, so that the registers suffice for two workgroups. */
  readonly parked: boolean;
  /** The hint of resident workgroups; see `KernelDefinition`. */
  readonly residentGroups?: number;
}

interface RegisterHybridVariant extends RegisterHybridSettings {
  readonly layout: Layout;
  readonly shared: boolean;
  readonly chunked: boolean;
}

/**
 * Returns the kernel of the register hybrid, which combines Thomas' elimination and parallel cyclic reduction: `lanes`
 * work items solve a system together, and each holds a segment, its consecutive rows, in registers. Every item
 * eliminates its segment down to its first and last unknown (`segment.ts`). The last unknowns of all segments form a
 * tridiagonal system with one row per lane, which is solved by parallel cyclic reduction (`lanes.ts`). Every item then
 * substitutes back.
 *
 * Contiguous systems are read and written in whole cache lines, one system per workgroup: directly, if groups of four
 * words begin at multiples of 16 bytes, otherwise transposed in workgroup memory. Other systems are read directly,
 * `systems` neighbours per workgroup.
 *
 * Cost per row: 16 flops, 4 words read and 1 written; per lane: 70 flops and 33 shuffles. The method is stable for the
 * matrices for which Thomas' algorithm is. Source: E. László, M. Giles & J. Appleyard, Manycore algorithms for batch
 * scalar and block tridiagonal solvers (ACM TOMS 42:4, 2016).
 */
export const registerHybridKernel = memoize((variant: RegisterHybridVariant): Kernel => {
  const { lanes, rows: perItem, systems, shuffles, aligned, parked, residentGroups, layout, shared, chunked } = variant;
  const items = lanes * systems;
  const staged = layout === "contiguous" && systems === 1 && !aligned;
  const pitch = parked ? items : 1;
  const access = { items, rows: perItem, staged, aligned, pitch };
  const single = perItem === 1;
  // A subgroup that is a system and a workgroup exchanges without memory; all others through it.
  const direct = shuffles && systems === 1;
  const exchange = direct ? 1 : 7 * items;
  const flags = { single, direct, shuffles, chunked, shared, aligned, parked };
  const sizes = { pitch, items, lanes, systems, perItem, last: perItem - 1 };
  return kernel({
    name: `register-hybrid-${layout}${shared ? "-shared" : ""}${chunked ? "-chunks" : ""}-${systems}x${lanes}x${perItem}${shuffles ? "-shuffles" : ""}${aligned ? "-aligned" : ""}${parked ? "-parked" : ""}`,
    groupSize: items,
    ...(residentGroups === undefined ? {} : { residentGroups }),
    params: { rows: i32, stride: i32, batch: i32, chunk: i32, ...systemParams, ends: read(real) },
    env: {
      base: systemBase[layout],
      loadRuns: loadSegments({ ...access, lanes, shared }),
      storeRuns: storeSegments(access),
      eliminateRun: eliminateSegment(perItem, pitch),
      substituteRun: substituteSegment(perItem, pitch),
      solveLanes: solveAcrossLanes(lanes, items, shuffles),
      solveRuns: solveAcrossSegments(lanes, systems, single, shuffles),
      ...flags,
      ...sizes,
      scratchWords: Math.max(exchange, staged ? transposeWords(items, perItem) : 1),
      ...CODES,
    },
    *body({ rows, stride, batch, chunk, lower, diagonal, upper, ends, rhs, status }, gpu, env) {
      const scratch = gpu.sharedReal(env.scratchWords);
      const worst = gpu.sharedI32(env.systems);
      const a = gpu.privateReal(env.perItem);
      const b = env.parked ? gpu.sharedReal(env.perItem * env.items) : gpu.privateReal(env.perItem);
      const c = gpu.privateReal(env.perItem);
      const d = env.parked ? gpu.sharedReal(env.perItem * env.items) : gpu.privateReal(env.perItem);
      const item = gpu.localId();
      const lane = (item / env.systems) | 0;
      const own = item - lane * env.systems;
      const all = env.chunked ? batch * (((rows + chunk - 1) / chunk) | 0) : batch;
      const wanted = gpu.groupId() * env.systems + own;
      const t = Math.min(wanted, all - 1);
      let system = t;
      let first = 0;
      let count = rows;
      let part = 0;
      if (env.chunked) {
        part = (t / batch) | 0;
        system = t - part * batch;
        first = part * chunk;
        count = Math.min(chunk, rows - first);
      }
      const origin = env.parked ? item : 0;
      const slot = env.base(system, rows, stride) + first * stride;
      const from = env.aligned ? slot & -4 : slot;
      const matrix = env.shared ? first : from;
      const run = { a, c, d, origin };
      const arrays = { lower, diagonal, upper, rhs };
      yield* env.loadRuns({ run, b, system: arrays, place: { matrix, from, stride, count, lane }, tile: scratch });
      const start = lane * env.perItem;
      if (env.chunked) {
        // What the chunks beside this one begin and end with, as the reduced system says.
        const matrixStride = env.shared ? 1 : stride;
        let before = 0.0;
        let after = 0.0;
        if (first > 0) before = lower[matrix] * ends[(2 * part - 1) * batch + system];
        if (first + count < rows)
          after = upper[matrix + (count - 1) * matrixStride] * ends[(2 * part + 2) * batch + system];
        for (let k = 0; k < env.perItem; k++) {
          const at = k * env.pitch + origin;
          if (start + k === 0) d[at] -= before;
          if (start + k === count - 1) d[at] -= after;
        }
      }

      let code = env.ok;
      let firstA = 0.0;
      let firstC = 0.0;
      let firstD = 0.0;
      let x = 0.0;
      let xBefore = 0.0;
      const row = first + Math.min(start + env.last, count - 1);
      if (env.single) {
        if (env.direct) {
          const solved = yield* env.solveLanes(a[0], b[origin], c[0], d[origin], lane, item, row, scratch);
          x = solved.x;
          code = solved.code;
        }
      } else {
        const reduced = env.eliminateRun({ run, b, first: first + start });
        code = reduced.code;
        firstA = reduced.a;
        firstC = reduced.c;
        firstD = reduced.d;
        if (env.direct) {
          // The last row of a run, freed of the first rows of its own run and the next.
          const nextA: number = yield gpu.shuffleDown(firstA, 1);
          const nextC: number = yield gpu.shuffleDown(firstC, 1);
          const nextD: number = yield gpu.shuffleDown(firstD, 1);
          const up = lane === env.lanes - 1 ? 0.0 : c[env.last];
          const down = a[env.last];
          const solved = yield* env.solveLanes(
            -down * firstA,
            1 - down * firstC - up * nextA,
            -up * nextC,
            d[env.last * env.pitch + origin] - down * firstD - up * nextD,
            lane,
            item,
            row,
            scratch,
          );
          x = solved.x;
          code = Math.min(code, solved.code);
          xBefore = yield gpu.shuffleUp(x, 1);
        }
      }
      if (!env.direct) {
        const values = {
          first: env.single ? a[0] : firstA,
          second: env.single ? b[origin] : firstC,
          third: env.single ? c[0] : firstD,
          fourth: env.single ? d[origin] : a[env.last],
          fifth: c[env.last],
          sixth: d[env.last * env.pitch + origin],
        };
        const solved = yield* env.solveRuns({ values, lane, own, scratch });
        x = solved.x;
        xBefore = solved.xBefore;
        if (solved.broken) code = Math.min(code, row);
      }
      if (env.single) d[origin] = x;
      else {
        const before = lane === 0 ? 0.0 : xBefore;
        env.substituteRun({ run, x0: firstD - firstA * before - firstC * x, xLast: x });
      }
      let finite = true;
      for (let k = 0; k < env.perItem; k++) finite = finite && Number.isFinite(d[k * env.pitch + origin]);
      if (!finite) code = Math.min(code, env.notFinite);

      if (env.direct) {
        const seen = yield gpu.subgroupMin(code);
        if (lane === 0) status[t] = seen === env.ok ? 0 : seen === env.notFinite ? -1 : seen + 1;
      } else {
        if (lane === 0) gpu.atomicStore(worst, own, env.ok);
        yield;
        if (code < env.ok) gpu.atomicMin(worst, own, code);
        yield;
        if (lane === 0 && wanted < all) {
          const seen = gpu.atomicLoad(worst, own);
          status[t] = seen === env.ok ? 0 : seen === env.notFinite ? -1 : seen + 1;
        }
      }
      yield* env.storeRuns(d, rhs, from, stride, wanted < all ? count : 0, lane, scratch, origin);
    },
  });
});

/**
 * Lanes and rows of an item for contiguous systems; the first that hold one are taken. Measured on an H200 with 512
 * rows, see design/tridiagonal.md.
 */
const CONTIGUOUS = {
  aligned: [
    [32, 1],
    [32, 2],
    [32, 4],
    [64, 4],
    [128, 4],
    [128, 8],
    [128, 16],
  ],
  staged: [
    [32, 1],
    [32, 2],
    [32, 4],
    [32, 8],
    [64, 8],
    [128, 8],
    [128, 16],
  ],
} as const;

/** Rows of an item, of 32, for systems that are not contiguous. */
const STRIDED = [1, 2, 4, 8, 16] as const;

interface Wanted {
  readonly rows: number;
  /** The number of systems. */
  readonly systems: number;
  readonly contiguous: boolean;
  readonly precision: Precision;
  /** True where every system, and every chunk, begins at a multiple of four words. */
  readonly aligned: boolean;
}

/**
 * Returns the settings of the register hybrid for the systems of a problem, or for each of its chunks; undefined if
 * they are too long.
 */
export function registerHybridSettings(
  device: Device,
  problem: TridiagonalBatch,
  chunks?: Chunks,
): RegisterHybridSettings | undefined {
  const { precision, batch, stride } = problem;
  const rows = chunks?.rows ?? problem.rows;
  const systems = batch * (chunks?.count ?? 1);
  const aligned = problem.rows % 4 === 0 && rows % 4 === 0;
  const wanted = { rows, systems, contiguous: stride === 1, precision, aligned };
  const shapes = wanted.contiguous ? contiguousShapes(device, wanted) : stridedShapes(device, wanted);
  return firstThatFits(device, shapes, (shape) => resourcesOf(shape, wanted));
}

function contiguousShapes({ backend, limits }: Device, { rows, aligned }: Wanted): RegisterHybridSettings[] {
  const asTheyLie = aligned && backend === "cuda";
  const found = CONTIGUOUS[asTheyLie ? "aligned" : "staged"].find(([lanes, perItem]) => lanes * perItem >= rows);
  if (found === undefined) return [];
  const [lanes, perItem] = found;
  const shuffles = lanes === 32 && limits.subgroupSize === 32;
  return [{ lanes, rows: perItem, systems: 1, shuffles, aligned: asTheyLie, parked: false }];
}

/**
 * So many systems side by side that their words of a row are a line of the caches, or half of one, as many as there is
 * room for: on an H200 a kernel that only reads and writes so reaches 2.1, 2.6 and 3.8 TB/s with pieces of 32, 64 and
 * 128 bytes. On CUDA b and d are parked, where workgroup memory has room. A batch that is too small to give every
 * multiprocessor a workgroup is cut finer.
 */
function stridedShapes({ backend, limits }: Device, { rows, systems, precision }: Wanted): RegisterHybridSettings[] {
  const perItem = STRIDED.find((size) => size * 32 >= rows);
  if (perItem === undefined) return [];
  const shape = { lanes: 32, rows: perItem, shuffles: limits.subgroupSize === 32, aligned: false };
  const parked = { ...shape, systems: 16, parked: true, ...(precision === "f32" ? { residentGroups: 2 } : {}) };
  const sizes = [16, 8, 4];
  const fills = (size: number): boolean => size === 4 || systems >= size * (limits.multiprocessors ?? 0);
  const others = sizes.filter(fills).map((size) => ({ ...shape, systems: size, parked: false }));
  return backend === "cuda" && fills(16) ? [parked, ...others.slice(precision === "f32" ? 0 : 1)] : others;
}

function resourcesOf(
  { lanes, rows, systems, aligned, parked }: RegisterHybridSettings,
  wanted: Wanted,
): WorkgroupResources {
  const items = lanes * systems;
  const staged = wanted.contiguous && !aligned ? transposeWords(items, rows) : 0;
  const words = Math.max(7 * items, staged) + (parked ? 2 * rows * items : 0);
  return { items, workgroupBytes: words * bytesPerReal(wanted.precision) + 4 * systems };
}

/**
 * Prepares the register hybrid for a problem, or for each of its `chunks`. @throws SpecError (more rows than a
 * workgroup has room for)
 */
export async function registerHybrid(device: Device, problem: TridiagonalBatch, chunks?: Chunks): Promise<ChunkMethod> {
  const { rows, batch, stride, precision, shared } = problem;
  const { rows: chunk, count } = chunks ?? { rows, count: 1 };
  const shape = registerHybridSettings(device, problem, chunks);
  if (shape === undefined) throw tooManyRowsError(device, problem, "register-hybrid", chunk);
  const variant = { layout: layoutOf(problem), shared, chunked: chunks !== undefined, ...shape };
  const compiled = await device.compile(registerHybridKernel(variant), { precision });
  const groups = Math.ceil((batch * count) / shape.systems);
  return {
    solve: (system, ends = system.upper) =>
      device.launch(compiled, { rows, stride, batch, chunk, ends, ...system }, { groups }),
    [Symbol.dispose]() {},
  };
}
