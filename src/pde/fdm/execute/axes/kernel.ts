import {
  fn,
  type FunctionOf,
  kernel,
  type Kernel,
  type KernelBody,
  memoizeByCode,
  type ValueOf,
} from "../../../../kernel/index.ts";
import type { AxesVariant } from "../../operator/axes-variant.ts";
import { applyCondition, setObstacle, settle, update } from "./update.ts";
import { expire, readSolution, report } from "./expire.ts";
import { assemble, factorAxes } from "./factor.ts";
import { rollbackKernel, type Row } from "../rollback.ts";
import {
  allocate,
  atRow,
  atStart,
  axesParams,
  type AxesPlace,
  Fault,
  inPhase,
  type Launch,
  placeOf,
  runAt,
} from "./place.ts";
import { sweep } from "./sweep.ts";
import { LOOP_BUDGET } from "../../problem/lowered.ts";

/**
 * A phase of the time loop, which works on every node or line independently. Results of other work items may be read
 * only after a barrier or in the next launch.
 */
type Phase = FunctionOf<
  (of: {
    readonly launch: ValueOf<typeof Launch>;
    readonly place: ValueOf<typeof AxesPlace>;
    readonly step: ValueOf<typeof Row>;
    readonly found: ValueOf<typeof Fault>;
  }) => KernelBody<ValueOf<typeof Fault>>
>;

/**
 * The phases of the time loop, in order: at its begin, to assemble and factor, of a step, of a condition on its date,
 * and to read the result.
 */
interface Phases {
  readonly begin: readonly Phase[];
  readonly factor: readonly Phase[];
  /** The phases of a time step. Those of a second sweep do nothing in steps without one. */
  readonly advance: readonly Phase[];
  readonly event: readonly Phase[];
  readonly read: readonly Phase[];
}

/**
 * Returns the phases of the time loop of a variant. A time step has one or two sweeps, each over the last axis first,
 * then the update of u.
 */
function phasesOf(variant: AxesVariant): Phases {
  const sweeps = (corrects: boolean): readonly Phase[] =>
    variant.axes.map((_, axis) => sweep(variant, axis, corrects)).toReversed();
  return {
    begin: [expire(variant)],
    factor: [assemble(variant), factorAxes(variant)],
    advance: [
      ...(variant.obstacle === undefined ? [] : [setObstacle(variant, variant.obstacle)]),
      ...sweeps(false),
      ...(variant.correction === undefined ? [] : sweeps(true)),
      // By runs the last sweep does it.
      ...(variant.runs === undefined ? [update(variant)] : []),
    ],
    event: [applyCondition(variant), settle(variant)],
    read: [readSolution(variant)],
  };
}

/** Returns the function that performs phases one after another in one kernel, with a barrier before each. */
const inOrder = (name: string, phases: readonly Phase[]) =>
  fn({
    name,
    params: inPhase,
    env: { phases },
    *body({ launch, place, step, found }, _gpu, { phases }) {
      let now: ValueOf<typeof Fault> = found;
      for (const phase of phases) {
        yield;
        now = yield* phase({ launch, place, step, found: now });
      }
      return now;
    },
  });

/**
 * Returns the kernel that runs the whole backward time loop of a batch of equations on two or three axes by alternating
 * directions, with one workgroup for each instance.
 *
 * The linear systems along an axis are solved with one line of nodes for each work item; on a CPU neighbouring lines
 * are the lanes of a vector. The last axis comes first, together with the explicit part. The node arrays are in device
 * memory, `slotsOf` of them for each instance.
 *
 * Layout: node (i₀, i₁, i₂) of an array is at i₀ + stride·i₁ + plane·i₂; nodes that only pad a line have rows of the
 * identity matrix.
 *   table       for each axis of an instance `AXIS_ARRAYS` arrays; instances on the same meshes share them
 *   parameters  value i of instance l at [i·instances + l]: the user's, the literals of the user's functions, the dates
 *   words       two integers for each program row: flags (timeline.ts), the segment or date; the same for all instances
 *   reals       `ROW_REALS` for each program row
 *   work        `PAD` reals, then for each instance its arrays and `PAD` reals; kept when the time loop is divided
 *   places      `PLACES` integers for each instance
 *   out         V(0, x) at each node to be read; then, with exercise at all times, 1 where the payoff is at least that
 *   status      `AXES_STATUS_WORDS` integers for each item, zero at the start
 *   summary     `SUMMARY_WORDS` integers for each instance, zero at the start
 */
export function axesKernel(variant: AxesVariant): Kernel {
  const phases = phasesOf(variant);
  const part = (name: string, list: readonly Phase[]) =>
    fn({
      name,
      params: atRow,
      env: { run: inOrder(name, list), skipEvents: name === "advance" },
      *body({ launch, place, cursor, step }, _gpu, { run, skipEvents }) {
        let found: ValueOf<typeof Fault> = cursor;
        if (!skipEvents || !step.event) found = yield* run({ launch, place, step, found });
        return found;
      },
    });
  return rollbackKernel(
    {
      name: `axes-${variant.axes.map(({ name }) => name).join("-")}`,
      loopBudget: LOOP_BUDGET,
      groupSize: variant.groupSize,
      ...residency(variant),
      params: axesParams,
    },
    {
      placeOf: placeOf(variant, false),
      allocate,
      begin: begin(phases),
      runAt: runAt(variant),
      factor: part("factor", phases.factor),
      advance: part("advance", phases.advance),
      applyEvents: part("applyEvents", phases.event),
      read: read(variant, phases),
    },
  );
}

/**
 * Returns the kernel of a variant; variants that lower to the same code share one, whatever the literals of their
 * functions.
 */
export const sharedAxesKernel = memoizeByCode(axesKernel);

/** Workgroups that a GPU's multiprocessor is to hold at once, which bounds the registers of an item. */
const residency = ({ runs, groupSize }: AxesVariant): Pick<Kernel, "residentGroups"> => {
  const groups = (items: number): number => Math.max(1, Math.floor(items / groupSize));
  if (runs === undefined) return {};
  return { residentGroups: { f64: groups(RESIDENT_ITEMS.f64), f32: groups(RESIDENT_ITEMS.f32) } };
};

/** Items of a multiprocessor that are at work at once: in f64 a run takes twice the registers. */
const RESIDENT_ITEMS = { f64: 512, f32: 768 };

/** The values at expiry; a later launch of the same time loop finds them as it has left them. */
const begin = (phases: Phases) =>
  fn({
    name: "begin",
    params: atStart,
    env: { noStep, first: inOrder("begin", phases.begin) },
    *body({ launch, place }, _gpu, { noStep, first }) {
      let found: ValueOf<typeof Fault> = { fault: 0, node: 0, row: 0, growth: 0, exponent: 0 };
      if (launch.first === 0) found = yield* first({ launch, place, step: noStep(), found });
      return found;
    },
  });

/** The solution after the last row, and what each item has found. */
const read = (variant: AxesVariant, phases: Phases) =>
  fn({
    name: "read",
    params: { ...atStart, cursor: Fault },
    env: { noStep, last: inOrder("read", phases.read), report: report(variant) },
    *body({ launch, place, cursor }, _gpu, { noStep, last, report }) {
      let found: ValueOf<typeof Fault> = cursor;
      if (launch.end === launch.rows) found = yield* last({ launch, place, step: noStep(), found });
      report({ launch, place, found });
    },
  });

/** The step that phases outside of rows are given. */
const noStep = fn({
  name: "noStep",
  params: [],
  body() {
    return {
      run: 0,
      refactor: false,
      event: false,
      stepEnd: false,
      keep: false,
      corrected: false,
      obstacleChanges: false,
      condition: 0,
      date: 0.0,
      mask: 0,
      stage: { t: 0.0, tEnd: 0.0, h: 0.0, fromU: 0.0, fromV: 0.0, extrapolation: 0.0 },
    };
  },
});

/**
 * The kernels of each phase of the time loop, which are launched one after another with `parts` workgroups for each
 * instance.
 */
export type PassKernels = Readonly<Record<keyof Phases, readonly Kernel[]>>;

/**
 * Returns one kernel for each phase of the time loop on several axes, for grids that would occupy one workgroup for too
 * long. All workgroups of a device share the lines of an instance, and the boundary between two launches is the
 * barrier.
 */
export function passKernels(variant: AxesVariant): PassKernels {
  const phases = phasesOf(variant);
  const kernels = (name: keyof Phases): readonly Kernel[] =>
    phases[name].map((phase, k) =>
      kernel({
        name: `axes-${name}${k}`,
        loopBudget: LOOP_BUDGET,
        groupSize: variant.groupSize,
        ...residency(variant),
        params: axesParams,
        env: {
          placeOf: placeOf(variant, true),
          runAt: runAt(variant),
          noStep,
          inRow: name !== "begin" && name !== "read",
          phase,
          report: report(variant),
        },
        *body(launch, gpu, { placeOf, runAt, noStep, inRow, phase, report }) {
          const place = placeOf({ launch, globalId: gpu.globalId() });
          if (!place.isActive) return;
          const memory = { base: place.base };
          const none = { fault: 0, node: 0, row: 0, growth: 0, exponent: 0 };
          let step: ValueOf<typeof Row> = noStep();
          if (inRow) step = runAt({ launch, place, memory, cursor: none, run: launch.run });
          const found = yield* phase({ launch, place, step, found: none });
          // What makes it a kernel of whole workgroups, whose items are neighbours.
          yield;
          report({ launch, place, found });
        },
      }),
    );
  const names = Object.keys(phases) as (keyof Phases)[];
  return Object.fromEntries(names.map((name) => [name, kernels(name)])) as PassKernels;
}
