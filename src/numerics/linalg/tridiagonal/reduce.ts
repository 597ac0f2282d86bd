import { type Device, firstThatFits } from "../../../device/index.ts";
import { fn, type Kernel, kernel, type Precision, real } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { loadSegments, eliminateSegment, transposeWords } from "./segment.ts";
import { bytesPerReal, reductionParams, systemBase, type Layout } from "./method.ts";
import { CODE_OK } from "./status.ts";

interface ReductionVariant {
  readonly layout: Layout;
  readonly shared: boolean;
}

/**
 * Returns the kernel that reduces each chunk c of a system to its first and last unknown, one chunk per work item. They
 * become rows 2c and 2c + 1 of an interleaved tridiagonal system with twice as many rows as there are chunks. See
 * `eliminateSegment` for the elimination.
 *
 * Cost per row: 12 flops and 4 words read. Source: H. H. Wang, A parallel method for tridiagonal equations (ACM TOMS
 * 7:2, 1981).
 */
export const reduceChunksKernel = memoize(({ layout, shared }: ReductionVariant): Kernel =>
  kernel({
    name: `reduce-chunks-${layout}${shared ? "-shared" : ""}`,
    params: reductionParams,
    env: { base: systemBase[layout], shared, ok: CODE_OK },
    body(
      { rows, stride, batch, chunk, lower, diagonal, upper, rhs, outLower, outUpper, outRhs, status },
      gpu,
      { base, shared, ok },
    ) {
      const t = gpu.globalId();
      const part = (t / batch) | 0;
      const system = t - part * batch;
      const first = part * chunk;
      const count = Math.min(chunk, rows - first);
      const from = base(system, rows, stride) + first * stride;
      const matrix = shared ? first : from;
      const matrixStride = shared ? 1 : stride;
      let code = ok;
      let pivot0 = diagonal[matrix];
      let c0 = count > 1 ? upper[matrix] : 0.0;
      let d0 = rhs[from];
      // The row before the one at hand: x + a·x₀ + c·(next x) = d. A chunk of one row has a second that says x = 0.
      let a = 0.0;
      let c = 0.0;
      let d = 0.0;
      for (let k = 1; k < count; k++) {
        const at = matrix + k * matrixStride;
        if (k > 1) {
          pivot0 -= c0 * a;
          d0 -= c0 * d;
          c0 = -c0 * c;
        }
        const below = lower[at];
        const before = k > 1 ? below : 0.0;
        const pivot = diagonal[at] - before * c;
        if (pivot === 0 && code === ok) code = first + k;
        const inverse = 1 / pivot;
        d = (rhs[from + k * stride] - before * d) * inverse;
        a = (k > 1 ? -before * a : below) * inverse;
        c = upper[at] * inverse;
      }
      if (first + count === rows) c = 0.0;
      if (pivot0 === 0) code = Math.min(code, first);
      const inverse = 1 / pivot0;
      const out = 2 * part * batch + system;
      outLower[out] = (first > 0 ? lower[matrix] : 0.0) * inverse;
      outUpper[out] = c0 * inverse;
      outRhs[out] = d0 * inverse;
      outLower[out + batch] = a;
      outUpper[out + batch] = c;
      outRhs[out + batch] = d;
      status[t] = code === ok ? 0 : code + 1;
    },
  }),
);

const LANES = 32;
const ACCESS = { items: LANES, lanes: LANES, staged: true, aligned: false, pitch: 1 } as const;

/**
 * Returns the number of rows of each lane if a subgroup reduces a chunk of `chunk` rows; undefined if the device has no
 * suitable subgroups, or too little memory.
 */
export const rowsPerLane = (device: Device, chunk: number, precision: Precision): number | undefined =>
  firstThatFits(
    device,
    [2, 4, 8, 16].filter((rows) => rows * LANES === chunk),
    (rows) => ({ subgroup: LANES, workgroupBytes: transposeWords(LANES, rows) * bytesPerReal(precision) }),
  );

/**
 * Joins the segments of a subgroup two by two, five times. Of two neighbouring segments, each with rows
 *
 *   x₀ + fA·(last before) + fC·x₁ = fD,   x₁ + lA·x₀ + lC·(first after) = lD
 *
 * for its first unknown x₀ and its last x₁, the two inner unknowns are eliminated; lane 0 ends with the rows of all.
 * Cost per lane and round: 30 flops and 6 shuffles.
 */
const joinSegments = fn({
  name: "joinRuns",
  params: [real, real, real, real, real, real],
  *body([startFA, startFC, startFD, startLA, startLC, startLD], gpu) {
    let fA = startFA;
    let fC = startFC;
    let fD = startFD;
    let lA = startLA;
    let lC = startLC;
    let lD = startLD;
    let broken = false;
    for (let level = 0; level < 5; level++) {
      const otherFA: number = yield gpu.shuffleDown(fA, 1 << level);
      const otherFC: number = yield gpu.shuffleDown(fC, 1 << level);
      const otherFD: number = yield gpu.shuffleDown(fD, 1 << level);
      const otherLA: number = yield gpu.shuffleDown(lA, 1 << level);
      const otherLC: number = yield gpu.shuffleDown(lC, 1 << level);
      const otherLD: number = yield gpu.shuffleDown(lD, 1 << level);
      const mine = (gpu.localId() & ((2 << level) - 1)) === 0;
      // The other's first unknown is d + p·x₀ − q·(other's last).
      const pivot = 1 - otherFA * lC;
      const inverse = 1 / pivot;
      const d = (otherFD - otherFA * lD) * inverse;
      const p = otherFA * lA * inverse;
      const q = otherFC * inverse;
      const firstPivot = 1 - fC * (lA + lC * p);
      const lastPivot = 1 - otherLA * q;
      if (mine && (pivot === 0 || firstPivot === 0 || lastPivot === 0)) broken = true;
      const first = 1 / firstPivot;
      const last = 1 / lastPivot;
      fD = (fD - fC * (lD - lC * d)) * first;
      fA *= first;
      fC = fC * lC * q * first;
      lA = otherLA * p * last;
      lC = otherLC * last;
      lD = (otherLD - otherLA * d) * last;
    }
    return { fA, fC, fD, lA, lC, lD, broken };
  },
});

/**
 * Returns the kernel that, like `reduceChunksKernel`, reduces chunks to two rows, but with a subgroup for each
 * contiguous chunk of 32·perItem rows, so that memory is read in whole cache lines. Each lane eliminates a segment, and
 * shuffles join the segments. Cost per row: 12 flops and 4 words read.
 */
export const reduceSegmentsKernel = memoize(
  ({ perItem, shared }: { readonly perItem: number; readonly shared: boolean }): Kernel =>
    kernel({
      name: `reduce-runs-${LANES * perItem}${shared ? "-shared" : ""}`,
      groupSize: LANES,
      params: reductionParams,
      env: {
        base: systemBase.contiguous,
        loadRuns: loadSegments({ ...ACCESS, rows: perItem, shared }),
        eliminateRun: eliminateSegment(perItem),
        joinSegments,
        tile: transposeWords(LANES, perItem),
        perItem,
        last: perItem - 1,
        shared,
        ok: CODE_OK,
      },
      *body({ rows, stride, batch, chunk, lower, diagonal, upper, rhs, outLower, outUpper, outRhs, status }, gpu, env) {
        const tile = gpu.sharedReal(env.tile);
        const a = gpu.privateReal(env.perItem);
        const b = gpu.privateReal(env.perItem);
        const c = gpu.privateReal(env.perItem);
        const d = gpu.privateReal(env.perItem);
        const lane = gpu.localId();
        const t = gpu.groupId();
        const part = (t / batch) | 0;
        const system = t - part * batch;
        const first = part * chunk;
        const count = Math.min(chunk, rows - first);
        const from = env.base(system, rows, stride) + first;
        const matrix = env.shared ? first : from;
        const own = { a, c, d, origin: 0 };
        const place = { matrix, from, stride, count, lane };
        yield* env.loadRuns({ run: own, b, system: { lower, diagonal, upper, rhs }, place, tile });
        // The couplings to the chunks beside this one, which a system by itself does not have.
        const down = lower[matrix];
        const up = upper[matrix + count - 1];
        if (lane === 0 && first > 0) a[0] = down;
        if (lane === 31 && count === chunk && first + count < rows) c[env.last] = up;
        const run = env.eliminateRun({ run: own, b, first: first + lane * env.perItem });
        const joined = yield* env.joinSegments(run.a, run.c, run.d, a[env.last], c[env.last], d[env.last]);
        const code = yield gpu.subgroupMin(run.code);
        if (lane === 0) {
          const out = 2 * part * batch + system;
          outLower[out] = joined.fA;
          outUpper[out] = joined.fC;
          outRhs[out] = joined.fD;
          outLower[out + batch] = joined.lA;
          outUpper[out + batch] = joined.lC;
          outRhs[out + batch] = joined.lD;
          // Where two runs met, rather than within one: the first row of the chunk stands for it.
          status[t] = code < env.ok ? code + 1 : joined.broken ? first + 1 : 0;
        }
      },
    }),
);
