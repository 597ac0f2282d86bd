/** The functions that a user writes of a problem, as kernel functions of the state; see `functions.ts`. */
import { fn, functionFromSource, i32, real, write } from "../../../kernel/index.ts";
import {
  type AxisPair,
  type Coefficients,
  type DatedCode,
  DatedState,
  EquationState,
  MaskedState,
  type RegionCode,
  type StateNumber,
} from "../operator/state.ts";
import type { GivenCondition } from "../problem/conditions.ts";
import type { Given, GivenEquation } from "../problem/functions.ts";
import { adapterOf } from "../problem/lowered.ts";

/** The compiled coefficients of a problem, by the solver's names (`coefficientKeys`). */
export type GivenCoefficients = GivenEquation<string>;

/** The arguments of a state as adapters take it apart. */
const STATE = "{ t, x, parameters: { values: parameters, pitch, instance } }";

/** Converts a compiled function of the user to a kernel function of the state that returns a number. */
export function stateNumber({ call, args, path }: Given): StateNumber {
  const source = `(${STATE}, gpu, { f }) => f(${args})`;
  return adapterOf(call, source, () =>
    functionFromSource({ name: path, params: EquationState.fields, env: { f: call }, source }),
  );
}

/**
 * The solver's names of the coefficients, in kernel order: of ∂²/∂xₖ² for each axis, of ∂/∂xₖ for each axis, of V, of
 * the source, and of the mixed derivatives in the equation.
 */
export const coefficientKeys = (axes: number, pairs: readonly AxisPair[]): readonly string[] => [
  ...Array.from({ length: axes }, (_, k) => `a${k}`),
  ...Array.from({ length: axes }, (_, k) => `b${k}`),
  "c",
  "d",
  ...pairs.map(([j, k]) => `m${j}_${k}`),
];

/** The pairs of axes whose mixed derivative is in the equation. */
export const pairsOf = ({ reads }: GivenCoefficients, axes: number): readonly AxisPair[] =>
  Array.from({ length: axes }, (_, j) => j).flatMap((j) =>
    Array.from({ length: axes - 1 - j }, (_, i): AxisPair => [j, j + 1 + i]).filter(
      ([, k]) => reads[`m${j}_${k}`] !== "0.0",
    ),
  );

/** Returns the kernel function that writes all coefficients at a state, in the order of `coefficientKeys`. */
export function stateCoefficients(
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
export function coefficientLabels(axes: readonly string[]): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  axes.forEach((name, i) => {
    labels[`a${i}`] = name + name;
    labels[`b${i}`] = name;
    for (let j = i + 1; j < axes.length; j++) labels[`m${i}_${j}`] = `${name}${axes[j]}|${axes[j]}${name}`;
  });
  return { ...labels, c: "V", d: "source" };
}

type KnockOutGiven = GivenCondition & { readonly kind: "knock-out" };
const numberOf = (given: Given | undefined) => (given === undefined ? undefined : stateNumber(given));

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
export function regionOf(conditions: readonly GivenCondition[]): RegionCode | undefined {
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
export function pointwiseOf(conditions: readonly GivenCondition[]): DatedCode["pointwise"] {
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
export function jumpsOf(conditions: readonly GivenCondition[]): Pick<DatedCode, "jump" | "jumpAxis"> {
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
