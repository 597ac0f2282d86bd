/** The functions that a user writes of a problem, as kernel functions of the state; see `functions.ts`. */
import { fn, functionFromSource, i32, real, write } from "../../../kernel/index.ts";
import {
  type AxisPair,
  type BoundaryCode,
  type Coefficients,
  type DatedCode,
  DatedState,
  type EquationCode,
  EquationState,
  MaskedState,
  type RegionCode,
  type StateNumber,
} from "../operator/state.ts";
import {
  axesOf,
  type Batch,
  batchOf,
  checkNames,
  convectionOf,
  type CompiledCondition,
  compileConditions,
  type ParameterValues,
  quantityOf,
} from "../problem/settings.ts";
import {
  type CompiledFunction,
  type CompiledCoefficients,
  compileCoefficients,
  compileNumber,
  type FunctionScope,
  functionScopeOf,
} from "../problem/functions.ts";
import { adapterOf } from "../problem/lowered.ts";
import { SpecError } from "../../../base/errors.ts";
import { checkObject, checkKeys, checkOneOf } from "../../../base/argument-checks.ts";
import type { AnyProblem, Boundary, EquationParts } from "../problem/equation.ts";
import { type Timeline, timelineOf } from "../time/timeline.ts";

/** The compiled coefficients of a problem, by the solver's names (`coefficientKeys`). */
type GivenCoefficients = CompiledCoefficients<string>;

/** The arguments of a state as adapters take it apart. */
const STATE = "{ t, x, parameters: { values: parameters, pitch, instance } }";

/** Converts a compiled function of the user to a kernel function of the state that returns a number. */
function stateNumber({ call, args, path }: CompiledFunction): StateNumber {
  const source = `(${STATE}, gpu, { f }) => f(${args})`;
  return adapterOf(call, source, () =>
    functionFromSource({ name: path, params: EquationState.fields, env: { f: call }, source }),
  );
}

/**
 * The solver's names of the coefficients, in kernel order: of ∂²/∂xₖ² for each axis, of ∂/∂xₖ for each axis, of V, of
 * the source, and of the mixed derivatives in the equation.
 */
const coefficientKeys = (axes: number, pairs: readonly AxisPair[]): readonly string[] => [
  ...Array.from({ length: axes }, (_, k) => `a${k}`),
  ...Array.from({ length: axes }, (_, k) => `b${k}`),
  "c",
  "d",
  ...pairs.map(([j, k]) => `m${j}_${k}`),
];

/** The pairs of axes whose mixed derivative is in the equation. */
const pairsOf = ({ reads }: GivenCoefficients, axes: number): readonly AxisPair[] =>
  Array.from({ length: axes }, (_, j) => j).flatMap((j) =>
    Array.from({ length: axes - 1 - j }, (_, i): AxisPair => [j, j + 1 + i]).filter(
      ([, k]) => reads[`m${j}_${k}`] !== "0.0",
    ),
  );

/** Returns the kernel function that writes all coefficients at a state, in the order of `coefficientKeys`. */
function stateCoefficients(
  { call, args, reads }: GivenCoefficients,
  axes: number,
  pairs: readonly AxisPair[],
): Coefficients {
  const stores = coefficientKeys(axes, pairs).map((key, k) => `out[${k}] = ${reads[key]};`);
  const source = `({ state: ${STATE}, out }, gpu, { f }) => { const k = f(${args}); ${stores.join(" ")} }`;
  return adapterOf(call, source, () =>
    functionFromSource({
      name: "equation",
      params: { state: EquationState, out: write(real) },
      env: { f: call },
      source,
    }),
  );
}

/**
 * The user's names of the coefficients by the solver's names; for a mixed derivative both of its names, separated by a
 * bar.
 */
function coefficientLabels(axes: readonly string[]): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  axes.forEach((name, i) => {
    labels[`a${i}`] = name + name;
    labels[`b${i}`] = name;
    for (let j = i + 1; j < axes.length; j++) labels[`m${i}_${j}`] = `${name}${axes[j]}|${axes[j]}${name}`;
  });
  return { ...labels, c: "V", d: "source" };
}

type KnockOutGiven = CompiledCondition & { readonly kind: "knock-out" };
const numberOf = (given: CompiledFunction | undefined) => (given === undefined ? undefined : stateNumber(given));

/**
 * Tells whether a state is beyond the edges of a knock-out, and whether these are numbers. A region reaches a little
 * beyond its edge: a node on it may have been rounded to its other side.
 */
const beyondEdges = ({ axis, below, above, where }: KnockOutGiven) =>
  fn({
    name: "beyondEdges",
    params: EquationState.fields,
    env: { axis, below: numberOf(below), above: numberOf(above), where: numberOf(where) },
    body({ t, x, parameters }, gpu, env) {
      const state = { t, x, parameters };
      const at = x[env.axis];
      const slack = (gpu.precision === "f32" ? 1e-6 : 1e-12) * Math.abs(at);
      let inside = false;
      let ok = true;
      if (env.below !== undefined) {
        const edge = env.below(state);
        inside = at - slack <= edge;
        ok = !Number.isNaN(edge);
      }
      if (env.above !== undefined) {
        const edge = env.above(state);
        inside = inside || at + slack >= edge;
        ok = ok && !Number.isNaN(edge);
      }
      if (env.where !== undefined) {
        const edge = env.where(state);
        inside = inside || edge >= 0;
        ok = ok && !Number.isNaN(edge);
      }
      return { inside, ok };
    },
  });

/** The knock-outs at all times as kernel code; undefined where there are none. */
function regionOf(conditions: readonly CompiledCondition[]): RegionCode | undefined {
  const regions = conditions
    .flatMap((condition) => (condition.kind === "knock-out" && condition.dates === undefined ? [condition] : []))
    .map((condition, k) => ({ bit: 1 << k, beyond: beyondEdges(condition), value: stateNumber(condition.value) }));
  if (regions.length === 0) return undefined;
  return {
    inside: fn({
      name: "isKnockedOut",
      params: MaskedState.fields,
      env: { regions },
      body({ state, mask }, _gpu, { regions }) {
        let inside = false;
        for (const { bit, beyond } of regions) if ((mask & bit) !== 0) inside = inside || beyond(state).inside;
        return inside;
      },
    }),
    hasEdges: fn({
      name: "hasEdges",
      params: MaskedState.fields,
      env: { regions },
      body({ state, mask }, _gpu, { regions }) {
        let ok = true;
        for (const { bit, beyond } of regions) if ((mask & bit) !== 0) ok = ok && beyond(state).ok;
        return ok;
      },
    }),
    value: fn({
      name: "knockOutValue",
      params: MaskedState.fields,
      env: { regions },
      body({ state, mask }, _gpu, { regions }) {
        let paid = 0.0;
        for (const { bit, beyond, value } of regions)
          if ((mask & bit) !== 0) {
            if (beyond(state).inside) paid = value(state);
          }
        return paid;
      },
    }),
  };
}

/**
 * Returns the kernel function that applies the exercise or knock-out with a condition's number on its date; it returns
 * u itself for a jump.
 */
function pointwiseOf(conditions: readonly CompiledCondition[]): DatedCode["pointwise"] {
  const dated = conditions.map((condition, number) => ({ condition, number }));
  const knockOuts = dated.flatMap(({ condition, number }) =>
    condition.kind === "knock-out" && condition.dates !== undefined
      ? [{ number, beyond: beyondEdges(condition), value: stateNumber(condition.value) }]
      : [],
  );
  const exercises = dated.flatMap(({ condition, number }) =>
    condition.kind === "exercise" && condition.dates !== undefined
      ? [{ number, payoff: stateNumber(condition.payoff) }]
      : [],
  );
  if (knockOuts.length + exercises.length === 0) return undefined;
  return fn({
    name: "conditionOnDate",
    params: DatedState.fields,
    env: { knockOuts, exercises },
    body({ state, k, u }, _gpu, { knockOuts, exercises }) {
      let value = u;
      let ok = true;
      for (const { number, payoff } of exercises)
        if (k === number) {
          const paid = payoff(state);
          ok = Number.isFinite(paid);
          value = Math.max(u, paid);
        }
      for (const { number, beyond, value: valueOf } of knockOuts)
        if (k === number) {
          const edges = beyond(state);
          ok = edges.ok;
          if (edges.inside) {
            value = valueOf(state);
            ok = ok && Number.isFinite(value);
          }
        }
      return { value, ok };
    },
  });
}

/**
 * Returns the kernel functions for the target and the axis of each jump, by the number of the condition; undefined
 * where there are no jumps.
 */
function jumpsOf(conditions: readonly CompiledCondition[]): Pick<DatedCode, "jump" | "jumpAxis"> {
  const jumps = conditions.flatMap((condition, number) =>
    condition.kind === "jump" ? [{ number, axis: condition.axis, to: stateNumber(condition.to) }] : [],
  );
  if (jumps.length === 0) return { jump: undefined, jumpAxis: undefined };
  return {
    jump: fn({
      name: "jumpTarget",
      params: DatedState.fields,
      env: { jumps },
      body({ state, k }, _gpu, { jumps }) {
        let value = 0.0;
        for (const { number, to } of jumps) if (k === number) value = to(state);
        return value;
      },
    }),
    jumpAxis: fn({
      name: "jumpAxis",
      params: [i32],
      env: { jumps },
      body([k], _gpu, { jumps }) {
        let along = -1;
        for (const { number, axis } of jumps) if (k === number) along = axis;
        return along;
      },
    }),
  };
}

/** A boundary condition of the user: its kind, and the prescribed value or slope as a compiled function. */
interface GivenBoundary {
  readonly kind: Boundary<string>["kind"];
  readonly number: CompiledFunction | undefined;
}

interface GivenEnds {
  readonly low: GivenBoundary;
  readonly high: GivenBoundary;
}

/**
 * Returns the boundary conditions of an axis, the default where the user gave none. @throws SpecError | KernelError
 * with the path in the problem
 */
function boundariesOf({ boundaries }: Pick<AnyProblem, "boundaries">, axis: string, state: FunctionScope): GivenEnds {
  const axes = state.names.slice(1, 1 + state.axes);
  const stray = Object.keys(boundaries ?? {}).find((name) => !axes.includes(name));
  if (stray !== undefined)
    throw new SpecError(`boundaries.${stray}: there is no such axis; expected ${axes.join(" or ")}`);
  const ends = boundaries?.[axis] ?? {};
  checkObject(`boundaries.${axis}`, ends, "an object with low and high");
  checkKeys(`boundaries.${axis}`, ends, ["low", "high"]);
  const { low = { kind: "linear" }, high = { kind: "linear" } } = ends;
  const path = `boundaries.${axis}`;
  return { low: givenBoundary(`${path}.low`, low, state), high: givenBoundary(`${path}.high`, high, state) };
}

function givenBoundary(path: string, boundary: Boundary<string, never>, state: FunctionScope): GivenBoundary {
  checkObject(path, boundary, "an object with its kind");
  switch (boundary.kind) {
    case "dirichlet":
      checkKeys(path, boundary, ["kind", "value"]);
      return { kind: boundary.kind, number: compileNumber(`${path}.value`, boundary.value, state) };
    case "neumann":
      checkKeys(path, boundary, ["kind", "slope"]);
      return { kind: boundary.kind, number: compileNumber(`${path}.slope`, boundary.slope, state) };
    default:
      checkKeys(path, boundary, ["kind"]);
      checkOneOf(`${path}.kind`, boundary.kind, ["linear", "zero-curvature", "dirichlet", "neumann"] as never[]);
      return { kind: boundary.kind, number: undefined };
  }
}

function boundaryCode({ kind, number }: GivenBoundary): BoundaryCode {
  return { kind, number: number === undefined ? undefined : stateNumber(number) };
}

/** A user's equation on one to ten axes, checked and compiled. The solvers on full and on sparse grids extend it. */
export interface CompiledEquation {
  readonly names: readonly string[];
  readonly batch: Batch;
  /** The numeric literals of all functions, which follow the user's own parameters in the table of an instance. */
  readonly literals: readonly number[];
  readonly equation: GivenCoefficients;
  readonly terminal: CompiledFunction;
  readonly ends: readonly GivenEnds[];
  readonly conditions: readonly CompiledCondition[];
  /** The condition that is the right to exercise; undefined without one. */
  readonly exercise: (CompiledCondition & { kind: "exercise" }) | undefined;
  readonly isAmerican: boolean;
  /** Returns the time to expiry of an entry in years. */
  readonly expiryOf: (entry: ParameterValues) => number;
  readonly timelineOf: (entry: ParameterValues) => Timeline;
  readonly code: EquationCode;
}

/** The limits of what a solver takes. */
interface Takes {
  readonly keys: readonly string[];
  readonly axes: number;
  /** The treatment of convection that a problem does not name. */
  readonly convection: (axes: number) => "fitted" | "central";
}

/** Checks and compiles an equation on any number of axes. @throws SpecError | KernelError, with the path */
export function compileEquation(problem: EquationParts, takes: Takes): CompiledEquation {
  const names = axesOf(problem, takes.keys, takes.axes);
  const axes = names.length;
  const batch = batchOf(problem.parameters ?? {});
  checkNames(names, batch.names);
  const state = functionScopeOf(names, batch.names, problem.functions);
  const equation: GivenCoefficients = compileCoefficients(problem.equation, coefficientLabels(names), state);
  const terminal = compileNumber("terminal", problem.terminal, state);
  const conditions = compileConditions(problem.conditions ?? [], state, batch.names);
  const exercise = conditions.find((condition) => condition.kind === "exercise");
  const expiryOf = quantityOf("expiry", problem.expiry, batch.names);
  const ends = names.map((name) => boundariesOf(problem, name, state));
  const pairs = pairsOf(equation, axes);
  return {
    names,
    batch,
    literals: state.literals,
    equation,
    terminal,
    ends,
    conditions,
    exercise,
    isAmerican: exercise !== undefined && exercise.dates === undefined,
    expiryOf,
    timelineOf: (entry) => timelineOf(conditions, expiryOf(entry), entry, batch.names),
    code: {
      parameters: batch.names.length + state.literals.length,
      coefficients: stateCoefficients(equation, axes, pairs),
      pairs,
      hasSource: equation.reads.d !== "0.0" || neumannSlopesOf(ends).length > 0,
      fitted: convectionOf(problem, takes.convection(axes)) === "fitted",
      terminal: stateNumber(terminal),
      axes: names.map((name, k) => ({
        name,
        log: problem.axes[name].coordinate === "log",
        first: boundaryCode(ends[k].low),
        last: boundaryCode(ends[k].high),
      })),
      region: regionOf(conditions),
      pointwise: pointwiseOf(conditions),
      ...jumpsOf(conditions),
      payoff: exercise === undefined ? undefined : stateNumber(exercise.payoff),
    },
  };
}

/** Returns the prescribed slopes of all Neumann ends. */
export const neumannSlopesOf = (ends: readonly GivenEnds[]): (CompiledFunction | undefined)[] =>
  ends.flatMap(({ low, high }) => [low, high]).flatMap(({ kind, number }) => (kind === "neumann" ? [number] : []));

/** Returns the barriers of all knock-outs that are monitored continuously, as functions of the state. */
export const continuousBarriersOf = (conditions: readonly CompiledCondition[]): (CompiledFunction | undefined)[] =>
  conditions.flatMap((condition) =>
    condition.kind === "knock-out" && condition.dates === undefined
      ? [condition.below, condition.above, condition.where]
      : [],
  );

/** Tells whether any of these functions depends on time. */
export const anyDependsOnTime = (functions: readonly (CompiledFunction | undefined)[]): boolean =>
  functions.some((given) => given?.dependsOnTime === true);
