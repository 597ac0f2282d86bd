import { type Device, firstThatFits } from "../../../device/index.ts";
import { i32, type Kernel, kernel, fn, read, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import {
  bytesPerReal,
  type Method,
  type TridiagonalBatch,
  systemParams,
  tooManyRowsError,
  type Layout,
  layoutOf,
  systemBase,
} from "./method.ts";
import { CODES, CODE_OK } from "./status.ts";

/**
 * Returns the kernel function of parallel cyclic reduction, in place in workgroup memory, with `perItem` rows per work
 * item: every row eliminates both neighbours at distance 1, 2, 4, …, until each row is decoupled and x = d/b, in d. The
 * rows are those at step − 1, 2·step − 1, … of the arrays; all of them for step = 1. An item reads all its inputs
 * before the barrier, and writes after it. The function returns the code of the first zero pivot.
 *
 * Cost: 12 flops a row and round, log₂ n rounds of two barriers. Source: R. W. Hockney & C. R. Jesshope, Parallel
 * Computers (1981); in place as in D. Egloff, GPUs in Financial Computing (2010).
 */
function reduceParallel(groupSize: number, perItem: number) {
  return fn({
    name: "reduceParallel",
    params: [write(real), write(real), write(real), write(real), i32, i32],
    env: { groupSize, perItem, ok: CODE_OK },
    *body([a, b, c, d, rows, step], gpu, { groupSize, perItem, ok }) {
      const item = gpu.localId();
      const newA = gpu.privateReal(perItem);
      const newB = gpu.privateReal(perItem);
      const newC = gpu.privateReal(perItem);
      const newD = gpu.privateReal(perItem);
      const count = (rows / step) | 0;
      let code = ok;
      for (let distance = 1; distance < count; distance = distance * 2) {
        const s = distance * step;
        for (let p = 0; p < perItem; p++) {
          const k = item + p * groupSize;
          if (k < count) {
            const i = (k + 1) * step - 1;
            let alpha = 0.0;
            let gamma = 0.0;
            newA[p] = 0.0;
            newB[p] = b[i];
            newC[p] = 0.0;
            newD[p] = d[i];
            if (k >= distance) {
              const pivot = b[i - s];
              if (pivot === 0) code = Math.min(code, i - s);
              alpha = -a[i] / pivot;
              newA[p] = alpha * a[i - s];
              newB[p] += alpha * c[i - s];
              newD[p] += alpha * d[i - s];
            }
            if (k + distance < count) {
              const pivot = b[i + s];
              if (pivot === 0) code = Math.min(code, i + s);
              gamma = -c[i] / pivot;
              newC[p] = gamma * c[i + s];
              newB[p] += gamma * a[i + s];
              newD[p] += gamma * d[i + s];
            }
          }
        }
        yield;
        for (let p = 0; p < perItem; p++) {
          const k = item + p * groupSize;
          if (k < count) {
            const i = (k + 1) * step - 1;
            a[i] = newA[p];
            b[i] = newB[p];
            c[i] = newC[p];
            d[i] = newD[p];
          }
        }
        yield;
      }
      for (let p = 0; p < perItem; p++) {
        const k = item + p * groupSize;
        if (k < count) {
          const i = (k + 1) * step - 1;
          if (b[i] === 0) code = Math.min(code, i);
          d[i] /= b[i];
        }
      }
      yield;
      return code;
    },
  });
}

/**
 * Returns the function of the forward half of cyclic reduction in workgroup memory: rows s − 1, 3s − 1, 5s − 1 … are
 * eliminated from those between, for s = 1, 2, 4 …, in place, until at most `max` rows remain, at s − 1, 2s − 1, 3s − 1
 * …. The function returns that s and the code of the first zero pivot.
 *
 *   α = −aᵢ/bᵢ₋ₛ, γ = −cᵢ/bᵢ₊ₛ:   a′ = α·aᵢ₋ₛ,   b′ = bᵢ + α·cᵢ₋ₛ + γ·aᵢ₊ₛ,   c′ = γ·cᵢ₊ₛ,   d′ = dᵢ + α·dᵢ₋ₛ + γ·dᵢ₊ₛ
 *
 * Cost: rows in total, each 12 flops; a barrier a round. Source: R. W. Hockney (1965).
 */
function reduceCyclic(groupSize: number, max: number) {
  return fn({
    name: "reduceCyclic",
    params: [write(real), write(real), write(real), write(real), i32],
    env: { groupSize, max, ok: CODE_OK },
    *body([a, b, c, d, rows], gpu, { groupSize, max, ok }) {
      const item = gpu.localId();
      let code = ok;
      let s = 1;
      while (((rows / s) | 0) > max) {
        for (let i = 2 * s - 1 + 2 * s * item; i < rows; i += 2 * s * groupSize) {
          const below = b[i - s];
          if (below === 0) code = Math.min(code, i - s);
          const alpha = -a[i] / below;
          let next = 1.0;
          let nextA = 0.0;
          let nextC = 0.0;
          let nextD = 0.0;
          if (i + s < rows) {
            next = b[i + s];
            nextA = a[i + s];
            nextC = c[i + s];
            nextD = d[i + s];
            if (next === 0) code = Math.min(code, i + s);
          }
          const gamma = -c[i] / next;
          b[i] += alpha * c[i - s] + gamma * nextA;
          d[i] += alpha * d[i - s] + gamma * nextD;
          a[i] = alpha * a[i - s];
          c[i] = gamma * nextC;
        }
        s = s * 2;
        yield;
      }
      return { s, code };
    },
  });
}

/**
 * Returns the function of the backward half of cyclic reduction: with the unknowns at s − 1, 2s − 1 … known (in d), it
 * solves those between, for s/2, s/4, … 1. It starts at the stride `start`, whose rows s − 1, 3s − 1 … are solved
 * first. Cost: 5 flops per row; one barrier per round.
 */
function substituteCyclic(groupSize: number) {
  return fn({
    name: "substituteCyclic",
    params: [read(real), read(real), read(real), write(real), i32, i32],
    env: { groupSize, ok: CODE_OK },
    *body([a, b, c, d, rows, start], gpu, { groupSize, ok }) {
      const item = gpu.localId();
      let code = ok;
      for (let s = start; s > 0; s = s >> 1) {
        for (let i = s - 1 + 2 * s * item; i < rows; i += 2 * s * groupSize) {
          const before = i >= s ? d[Math.max(i - s, 0)] : 0.0;
          const after = i + s < rows ? d[Math.min(i + s, rows - 1)] : 0.0;
          const pivot = b[i];
          if (pivot === 0) code = Math.min(code, i);
          d[i] = (d[i] - a[i] * before - c[i] * after) / pivot;
        }
        yield;
      }
      return code;
    },
  });
}

/** The algorithms in workgroup memory. */
type WorkgroupAlgorithm = "cr" | "pcr" | "cr-pcr";

interface WorkgroupVariant {
  readonly algorithm: WorkgroupAlgorithm;
  readonly layout: Layout;
  readonly shared: boolean;
  readonly groupSize: number;
  /** The number of rows a work item; workgroup memory holds `groupSize` times as many. */
  readonly perItem: number;
}

/**
 * The kernel of cyclic reduction, parallel cyclic reduction, or the former until one row an item is left and then the
 * latter (Zhang, Cohen & Owens 2010): one system per workgroup, in workgroup memory from the first word read to the
 * last word written.
 *
 * Cost per row: 4 words read and 1 written; for the flops see `reduceCyclic` and `reduceParallel`. Contiguous systems
 * are read and written in whole lines.
 */
const workgroupKernel = memoize(({ algorithm, layout, shared, groupSize, perItem }: WorkgroupVariant): Kernel =>
  kernel({
    name: `${algorithm}-${layout}${shared ? "-shared" : ""}-${groupSize * perItem}`,
    groupSize,
    params: { rows: i32, stride: i32, batch: i32, ...systemParams },
    env: {
      base: systemBase[layout],
      reduceCyclic: reduceCyclic(groupSize, algorithm === "cr" ? 1 : groupSize),
      reduceParallel: reduceParallel(groupSize, algorithm === "pcr" ? perItem : 1),
      substituteCyclic: substituteCyclic(groupSize),
      cyclic: algorithm !== "pcr",
      parallel: algorithm !== "cr",
      shared,
      groupSize,
      capacity: groupSize * perItem,
      ...CODES,
    },
    *body({ rows, stride, lower, diagonal, upper, rhs, status }, gpu, env) {
      const s = gpu.groupId();
      const item = gpu.localId();
      const a = gpu.sharedReal(env.capacity);
      const b = gpu.sharedReal(env.capacity);
      const c = gpu.sharedReal(env.capacity);
      const d = gpu.sharedReal(env.capacity);
      const worst = gpu.sharedI32(1);
      const from = env.base(s, rows, stride);
      for (let i = item; i < rows; i += env.groupSize) {
        const at = env.shared ? i : from + i * stride;
        const below = lower[at];
        const above = upper[at];
        a[i] = i > 0 ? below : 0.0;
        b[i] = diagonal[at];
        c[i] = i < rows - 1 ? above : 0.0;
        d[i] = rhs[from + i * stride];
      }
      if (item === 0) gpu.atomicStore(worst, 0, env.ok);
      yield;
      let code = env.ok;
      let step = 1;
      if (env.cyclic) {
        const reduced = yield* env.reduceCyclic(a, b, c, d, rows);
        step = reduced.s;
        code = reduced.code;
      }
      if (env.parallel) {
        const found = yield* env.reduceParallel(a, b, c, d, rows, step);
        code = Math.min(code, found);
        step = step >> 1;
      }
      if (env.cyclic) {
        const found = yield* env.substituteCyclic(a, b, c, d, rows, step);
        code = Math.min(code, found);
      }
      for (let i = item; i < rows; i += env.groupSize) {
        rhs[from + i * stride] = d[i];
        if (!Number.isFinite(d[i])) code = Math.min(code, env.notFinite);
      }
      if (code < env.ok) gpu.atomicMin(worst, 0, code);
      yield;
      if (item === 0) {
        const seen = gpu.atomicLoad(worst, 0);
        status[s] = seen === env.ok ? 0 : seen === env.notFinite ? -1 : seen + 1;
      }
    },
  }),
);

/**
 * Returns the number of rows that a workgroup has room for, four words each; few sizes are used, so that few kernels
 * are compiled.
 */
function workgroupShape(
  device: Device,
  { rows, precision }: Pick<TridiagonalBatch, "rows" | "precision">,
): { readonly groupSize: number; readonly perItem: number } | undefined {
  const widest = Math.min(device.limits.maxGroupSize, 256);
  const shapes = [
    ...[32, 64, 128, 256].map((groupSize) => ({ groupSize, perItem: 1 })),
    ...[2, 3, 4, 6, 7, 8].map((perItem) => ({ groupSize: widest, perItem })),
  ];
  const enough = shapes.filter(({ groupSize, perItem }) => groupSize * perItem >= rows);
  return firstThatFits(device, enough, ({ groupSize, perItem }) => ({
    items: groupSize,
    workgroupBytes: 4 * groupSize * perItem * bytesPerReal(precision) + 64,
  }));
}

/**
 * Prepares an algorithm in workgroup memory (cr, pcr or cr-pcr) for a problem. @throws SpecError (more rows than a
 * workgroup has room for)
 */
export async function workgroupMethod(
  device: Device,
  problem: TridiagonalBatch,
  algorithm: WorkgroupAlgorithm,
): Promise<Method> {
  const { rows, batch, stride, precision, shared } = problem;
  const shape = workgroupShape(device, problem);
  if (shape === undefined) throw tooManyRowsError(device, problem, algorithm, rows);
  const variant = { algorithm, layout: layoutOf(problem), shared, ...shape };
  const compiled = await device.compile(workgroupKernel(variant), { precision });
  return {
    solve: (system) => device.launch(compiled, { rows, stride, batch, ...system }, { groups: batch }),
    [Symbol.dispose]() {},
  };
}
