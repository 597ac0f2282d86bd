import {
  fn,
  type FunctionOf,
  type FunctionResult,
  i32,
  type Numbers,
  read,
  real,
  record,
  type ValueOf,
} from "../../../kernel/index.ts";
import type { Boundary } from "../problem/equation.ts";

/**
 * One column of a table in a buffer that has a column for each instance of a launch: value i is at [i·pitch +
 * instance].
 */
export const Column = record({ values: read(real), pitch: i32, instance: i32 });

/** Returns value i of an instance's column. */
export const valueAt = fn({
  name: "valueAt",
  params: [Column, i32],
  body([{ values, pitch, instance }, i]) {
    return values[i * pitch + instance];
  },
});

/**
 * The state at which functions of the user are evaluated: the time, the value of each axis, and the parameters of an
 * instance.
 */
export const EquationState = record({ t: real, x: read(real), parameters: Column });
type State = ValueOf<typeof EquationState>;

/** Returns the state at time t and value `at` of the only axis. */
export const stateOnAxis = fn({
  name: "stateOnAxis",
  params: { t: real, at: real, parameters: Column },
  body({ t, at, parameters }, gpu) {
    const x = gpu.privateReal(1);
    x[0] = at;
    return { t, x, parameters };
  },
});

/** A kernel function that computes a number from the state of an instance. */
export type StateNumber = FunctionOf<(state: State) => number>;

/** A kernel function that writes the coefficients of an equation into `out`, in the order of `coefficientKeys`. */
export type Coefficients = FunctionOf<(of: { state: State; out: Numbers<"real"> }) => undefined | void>;

/** The state together with the set of knock-outs that are in force: bit k of `mask` is set for knock-out k. */
export const MaskedState = record({ state: EquationState, mask: i32 });
type Masked<R extends number | boolean> = FunctionOf<(of: ValueOf<typeof MaskedState>) => R>;

/** The state on the date of condition k, together with the solution u before the condition is applied. */
export const DatedState = record({ state: EquationState, k: i32, u: real });
type Dated<R extends FunctionResult> = FunctionOf<(of: ValueOf<typeof DatedState>) => R>;

/** The boundary condition at one end of an axis, as kernel code. */
export interface BoundaryCode {
  readonly kind: Boundary<string>["kind"];
  /** The prescribed value (Dirichlet) or slope (Neumann); undefined for the other kinds. */
  readonly number: StateNumber | undefined;
}

/** The continuously monitored knock-outs, as kernel code. */
export interface RegionCode {
  /** Tells whether the state is knocked out. */
  readonly inside: Masked<boolean>;
  /** The value of the last knock-out, in the problem's order, in whose region the state lies. */
  readonly value: Masked<number>;
  /** Tells whether no barrier of the knock-outs in force is NaN. */
  readonly hasEdges: Masked<boolean>;
}

/** The conditions on dates, as kernel code that takes the number k of a condition. */
export interface DatedCode {
  /**
   * The function for an exercise or a knock-out. It returns u after it (`value`), and whether all inputs were finite
   * (`ok`).
   */
  readonly pointwise: Dated<{ value: number; ok: boolean }> | undefined;
  /** The value of its axis to which condition k, a jump, takes the state. */
  readonly jump: Dated<number> | undefined;
  /** The axis number of condition k if it is a jump, otherwise −1. */
  readonly jumpAxis: FunctionOf<(k: number) => number> | undefined;
}

/** A pair of axis numbers in increasing order. */
export type AxisPair = readonly [number, number];

/** The functions and choices of a problem on any number of axes that the code of its kernels depends on. */
export interface EquationCode extends DatedCode {
  /**
   * The number of parameters in the table of an instance, before its dates: the user's own, then the literals of all
   * functions.
   */
  readonly parameters: number;
  readonly coefficients: Coefficients;
  /** The axis numbers of each mixed derivative in the equation. */
  readonly pairs: readonly AxisPair[];
  /** True where the equation's source or a Neumann slope adds to the right-hand side. */
  readonly hasSource: boolean;
  /** True where diffusion is raised at nodes at which drift dominates it. */
  readonly fitted: boolean;
  readonly terminal: StateNumber;
  readonly axes: readonly AxisEnds[];
  /** The continuously monitored knock-outs; undefined if there are none. */
  readonly region: RegionCode | undefined;
  /** The payoff of exercise, at all times or on dates. */
  readonly payoff: StateNumber | undefined;
}

/**
 * An axis as the kernels see it: its name, whether its coordinate is the logarithm, and the boundary conditions at its
 * ends.
 */
export interface AxisEnds {
  readonly name: string;
  readonly log: boolean;
  readonly first: BoundaryCode;
  readonly last: BoundaryCode;
}

/** The boundary conditions at the ends of each axis, and the knock-outs. */
interface Pins {
  readonly axes: readonly { readonly first: BoundaryCode; readonly last: BoundaryCode }[];
  readonly region: RegionCode | undefined;
}

/**
 * A node, with a bit of `mask` for each knock-out in force. `side` of each axis is −1 at its first node, 1 at its last
 * one, 0 between.
 */
const atNode = { state: EquationState, side: read(i32), mask: i32 };

/**
 * Returns the function that tells whether the value of a node is prescribed at time t, by a Dirichlet condition or a
 * knock-out in force.
 */
export function isPinned({ axes, region }: Pins) {
  const ends = axes.map(({ first, last }, k) => ({
    k,
    first: first.kind === "dirichlet",
    last: last.kind === "dirichlet",
  }));
  return fn({
    name: "isPinned",
    params: atNode,
    env: { ends, inside: region?.inside },
    body({ state, side, mask }, _gpu, { ends, inside }) {
      let pinned = false;
      for (const { k, first, last } of ends) pinned = pinned || (first && side[k] < 0) || (last && side[k] > 0);
      if (inside !== undefined) pinned = pinned || inside({ state, mask });
      return pinned;
    },
  });
}

/**
 * Returns the function that computes the prescribed value of a pinned node. At a corner the condition of the first axis
 * applies. It is separate from `isPinned` so that a kernel contains the user's code once, which halves the compilation
 * time.
 */
export function prescribedValue({ axes, region }: Pins) {
  const valueOf = ({ kind, number }: BoundaryCode) => (kind === "dirichlet" ? number : undefined);
  const ends = axes.map(({ first, last }, k) => ({ k, first: valueOf(first), last: valueOf(last) })).toReversed();
  return fn({
    name: "pinnedValue",
    params: atNode,
    env: { ends, regionValue: region?.value },
    body({ state, side, mask }, _gpu, { ends, regionValue }) {
      let value = 0.0;
      if (regionValue !== undefined) value = regionValue({ state, mask });
      for (const { k, first, last } of ends) {
        if (first !== undefined && side[k] < 0) value = first(state);
        if (last !== undefined && side[k] > 0) value = last(state);
      }
      return value;
    },
  });
}

/**
 * Returns the position of node i on the only axis in the form that `isPinned` takes: −1 for the first node, 1 for the
 * `last` one, 0 between.
 */
export const sideOnAxis = fn({
  name: "sideOnAxis",
  params: [i32, i32],
  body([i, last], gpu) {
    const side = gpu.privateI32(1);
    side[0] = i === 0 ? -1 : i === last ? 1 : 0;
    return side;
  },
});

/**
 * Returns the function that tells whether node i of the only axis, at S, is pinned at time t, and computes its value if
 * so.
 */
export const pinnedOnAxis = (pins: Pins) =>
  fn({
    name: "pinnedOnAxis",
    params: { i: i32, nodes: i32, S: real, parameters: Column, mask: i32, t: real },
    env: { isPinned: isPinned(pins), prescribedValue: prescribedValue(pins), sideOnAxis, stateOnAxis },
    body({ i, nodes, S, parameters, mask, t }, _gpu, env) {
      const state = env.stateOnAxis({ t, at: S, parameters });
      const at = { state, side: env.sideOnAxis(i, nodes - 1), mask };
      const pinned = env.isPinned(at);
      let value = 0.0;
      if (pinned) value = env.prescribedValue(at);
      return { pinned, value };
    },
  });
