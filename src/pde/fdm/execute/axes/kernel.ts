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
import { applyCondition, setObstacle, storeCondition, update } from "./update.ts";
import { setTerminalValues, readSolution, writeStatus } from "./expire.ts";
import { assemble, factorAxes } from "./factor.ts";
import { rollbackKernel, type ProgramRow } from "../rollback.ts";
import {
  allocate,
  atRow,
  atStart,
  axesParams,
  type AxesContext,
  Findings,
  inPhase,
  type Launch,
  contextOf,
  rowAt,
} from "./context.ts";
import { sweep } from "./sweep.ts";
import { LOOP_BUDGET } from "../../problem/lowered.ts";

/**
 * A phase of the time loop, which works on every node or line independently. Results of other work items may be read
 * only after a barrier or in the next launch.
 */
type Phase = FunctionOf<
  (of: {
    readonly launch: ValueOf<typeof Launch>;
    readonly context: ValueOf<typeof AxesContext>;
    readonly programRow: ValueOf<typeof ProgramRow>;
    readonly found: ValueOf<typeof Findings>;
  }) => KernelBody<ValueOf<typeof Findings>>
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
    begin: [setTerminalValues(variant)],
    factor: [assemble(variant), factorAxes(variant)],
    advance: [
      ...(variant.obstacle === undefined ? [] : [setObstacle(variant, variant.obstacle)]),
      ...sweeps(false),
      ...(variant.correction === undefined ? [] : sweeps(true)),
      // By segments the last sweep does it.
      ...(variant.segments === undefined ? [update(variant)] : []),
    ],
    event: [applyCondition(variant), storeCondition(variant)],
    read: [readSolution(variant)],
  };
}

/** Returns the function that performs phases one after another in one kernel, with a barrier before each. */
const inOrder = (name: string, phases: readonly Phase[]) =>
  fn({
    name,
    params: inPhase,
    env: { phases },
    *body({ launch, context, programRow, found }, _gpu, { phases }) {
      let now: ValueOf<typeof Findings> = found;
      for (const phase of phases) {
        yield;
        now = yield* phase({ launch, context, programRow, found: now });
      }
      return now;
    },
  });

/**
 * Returns the kernel that runs the whole backward time loop of a batch of equations on two or three axes by alternating
 * directions, with one workgroup for each instance.
 *
 * Each work item solves the linear systems of one line of nodes along an axis. On a CPU neighbouring lines are the
 * lanes of a vector. The last axis comes first, together with the explicit part. The node arrays are in device memory,
 * `slotsOf` of them for each instance.
 *
 * Layout: node (i₀, i₁, i₂) of an array is at i₀ + stride·i₁ + plane·i₂; nodes that only pad a line have rows of the
 * identity matrix.
 *   table       for each axis of an instance `AXIS_ARRAYS` arrays; instances on the same meshes share them
 *   parameters  value i of instance l at [i·instances + l]: the user's, the literals of the user's functions, the dates
 *   words       two integers for each program row: flags (timeline.ts), the segment or date; the same for all instances
 *   reals       `ROW_REALS` for each program row
 *   work        `PADDING` reals, then its arrays and `PADDING` reals for each instance; kept if the loop is divided
 *   offsets      `OFFSET_COUNT` integers for each instance
 *   out         V(0, x) at each node to be read; then, with exercise at all times, 1 where the payoff is at least that
 *   status      `AXES_STATUS_INTEGERS` integers for each item, zero at the start
 *   summary     `SUMMARY_INTEGERS` integers for each instance, zero at the start
 */
export function axesKernel(variant: AxesVariant): Kernel {
  const phases = phasesOf(variant);
  const part = (name: string, list: readonly Phase[]) =>
    fn({
      name,
      params: atRow,
      env: { run: inOrder(name, list), skipEvents: name === "advance" },
      *body({ launch, context, loopState, programRow }, _gpu, { run, skipEvents }) {
        let found: ValueOf<typeof Findings> = loopState;
        if (!skipEvents || !programRow.event) found = yield* run({ launch, context, programRow, found });
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
      contextOf: contextOf(variant, false),
      allocate,
      begin: begin(phases),
      rowAt: rowAt(variant),
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
const residency = ({ segments, groupSize }: AxesVariant): Pick<Kernel, "residentGroups"> => {
  const groups = (items: number): number => Math.max(1, Math.floor(items / groupSize));
  if (segments === undefined) return {};
  return { residentGroups: { f64: groups(RESIDENT_ITEMS.f64), f32: groups(RESIDENT_ITEMS.f32) } };
};

/** Items of a multiprocessor that are at work at once: in f64 a segment takes twice the registers. */
const RESIDENT_ITEMS = { f64: 512, f32: 768 };

/** The values at expiry; a later launch of the same time loop finds them as it has left them. */
const begin = (phases: Phases) =>
  fn({
    name: "begin",
    params: atStart,
    env: { noStep, first: inOrder("begin", phases.begin) },
    *body({ launch, context }, _gpu, { noStep, first }) {
      let found: ValueOf<typeof Findings> = { fault: 0, node: 0, row: 0, growth: 0, exponent: 0 };
      if (launch.first === 0) found = yield* first({ launch, context, programRow: noStep(), found });
      return found;
    },
  });

/** The solution after the last row, and what each item has found. */
const read = (variant: AxesVariant, phases: Phases) =>
  fn({
    name: "read",
    params: { ...atStart, loopState: Findings },
    env: { noStep, last: inOrder("read", phases.read), writeStatus: writeStatus(variant) },
    *body({ launch, context, loopState }, _gpu, { noStep, last, writeStatus }) {
      let found: ValueOf<typeof Findings> = loopState;
      if (launch.end === launch.rows) found = yield* last({ launch, context, programRow: noStep(), found });
      writeStatus({ launch, context, found });
    },
  });

/** The step that phases outside of rows are given. */
const noStep = fn({
  name: "noStep",
  params: [],
  body() {
    return {
      index: 0,
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
export type PhaseKernels = Readonly<Record<keyof Phases, readonly Kernel[]>>;

/**
 * Returns one kernel for each phase of the time loop on several axes, for grids that would occupy one workgroup for too
 * long. All workgroups of a device share the lines of an instance, and the end of a launch takes the place of a
 * barrier.
 */
export function phaseKernels(variant: AxesVariant): PhaseKernels {
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
          contextOf: contextOf(variant, true),
          rowAt: rowAt(variant),
          noStep,
          inRow: name !== "begin" && name !== "read",
          phase,
          writeStatus: writeStatus(variant),
        },
        *body(launch, gpu, { contextOf, rowAt, noStep, inRow, phase, writeStatus }) {
          const context = contextOf({ launch, globalId: gpu.globalId() });
          if (!context.isActive) return;
          const memory = { base: context.base };
          const none = { fault: 0, node: 0, row: 0, growth: 0, exponent: 0 };
          let programRow: ValueOf<typeof ProgramRow> = noStep();
          if (inRow) programRow = rowAt({ launch, context, memory, loopState: none, index: launch.row });
          const found = yield* phase({ launch, context, programRow, found: none });
          // What makes it a kernel of whole workgroups, whose items are neighbours.
          yield;
          writeStatus({ launch, context, found });
        },
      }),
    );
  const names = Object.keys(phases) as (keyof Phases)[];
  return Object.fromEntries(names.map((name) => [name, kernels(name)])) as PhaseKernels;
}
