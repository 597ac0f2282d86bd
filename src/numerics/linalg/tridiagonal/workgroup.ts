import { type Device, firstThatFits } from "../../../device/index.ts";
import { i32, type Kernel, kernel } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { reduceCyclic, substituteCyclic } from "./cr.ts";
import { bytesOf, type Method, type Problem, systemParams, tooLong } from "./method.ts";
import { reduceParallel } from "./pcr.ts";
import { type Layout, layoutOf, systemBase } from "./place.ts";
import { codes } from "./status.ts";

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
 * latter (Zhang, Cohen & Owens 2010): one system a workgroup, in workgroup memory from the first word read to the last
 * word written.
 *
 * Cost a row: 4 words read and 1 written; `cr.ts` and `pcr.ts` have the flops. Contiguous systems are read and written
 * in whole lines.
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
      ...codes,
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
  { rows, precision }: Pick<Problem, "rows" | "precision">,
): { readonly groupSize: number; readonly perItem: number } | undefined {
  const widest = Math.min(device.limits.maxGroupSize, 256);
  const shapes = [
    ...[32, 64, 128, 256].map((groupSize) => ({ groupSize, perItem: 1 })),
    ...[2, 3, 4, 6, 7, 8].map((perItem) => ({ groupSize: widest, perItem })),
  ];
  const enough = shapes.filter(({ groupSize, perItem }) => groupSize * perItem >= rows);
  return firstThatFits(device, enough, ({ groupSize, perItem }) => ({
    items: groupSize,
    workgroupBytes: 4 * groupSize * perItem * bytesOf(precision) + 64,
  }));
}

/**
 * Prepares an algorithm in workgroup memory for a problem. @throws SpecError (more rows than a workgroup has room for)
 */
export async function workgroup(device: Device, problem: Problem, algorithm: WorkgroupAlgorithm): Promise<Method> {
  const { rows, batch, stride, precision, shared } = problem;
  const shape = workgroupShape(device, problem);
  if (shape === undefined) throw tooLong(device, problem, algorithm, rows);
  const variant = { algorithm, layout: layoutOf(problem), shared, ...shape };
  const compiled = await device.compile(workgroupKernel(variant), { precision });
  return {
    solve: (system) => device.launch(compiled, { rows, stride, batch, ...system }, { groups: batch }),
    [Symbol.dispose]() {},
  };
}
