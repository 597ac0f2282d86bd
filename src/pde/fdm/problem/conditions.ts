import { SpecError } from "../../../base/errors.ts";
import { isList, isObject, knownKeys, oneOf } from "../../../base/argument-checks.ts";
import { type Given, givenNumber, type State } from "./functions.ts";
import type { Condition, ExerciseMethod, Quantity } from "./equation.ts";
import { type ParameterValues, quantityOf } from "./settings.ts";

type DateOf = (entry: ParameterValues) => number;

/**
 * A condition of the user with its functions compiled. Its dates are functions of the parameters; `dates` is undefined
 * for a condition at all times.
 */
export type GivenCondition = { readonly path: string } & (
  | {
      readonly kind: "exercise";
      readonly dates: readonly DateOf[] | undefined;
      readonly payoff: Given;
      readonly method: ExerciseMethod;
      readonly side: "low" | "high" | undefined;
    }
  | { readonly kind: "jump"; readonly axis: number; readonly dates: readonly DateOf[]; readonly to: Given }
  | {
      readonly kind: "knock-out";
      readonly axis: number;
      readonly dates: readonly DateOf[] | undefined;
      readonly where: Given | undefined;
      readonly below: Given | undefined;
      readonly above: Given | undefined;
      readonly value: Given;
      readonly from: DateOf | undefined;
      readonly until: DateOf | undefined;
    }
);

/** Conditions are numbered in 6 bits of a word, those at all times in 8 bits of another. */
const MAX_CONDITIONS = 60;
const MAX_REGIONS = 8;

/**
 * Returns the compiled conditions of a problem. @throws SpecError | KernelError with the path, such as
 * `conditions[1].to`
 */
export function givenConditions(
  conditions: readonly Condition<string, never>[],
  state: State,
  names: readonly string[],
): GivenCondition[] {
  const all = conditions.map((condition, k) => givenCondition(`conditions[${k}]`, condition, state, names));
  const exercises = all.filter(({ kind }) => kind === "exercise");
  if (exercises.length > 1)
    throw new SpecError(
      `${exercises[1].path}: a second "exercise"; expected at most one, with the larger payoff by Math.max`,
    );
  if (all.length > MAX_CONDITIONS) throw new SpecError(`conditions: ${all.length}, expected at most ${MAX_CONDITIONS}`);
  if (all.filter(({ kind, dates }) => kind === "knock-out" && dates === undefined).length > MAX_REGIONS)
    throw new SpecError(`conditions: more than ${MAX_REGIONS} knock-outs at all times; join their regions in one`);
  return all;
}

function givenCondition(
  path: string,
  condition: Condition<string, never>,
  state: State,
  names: readonly string[],
): GivenCondition {
  isObject(path, condition, "an object with its kind");
  if (condition.at !== undefined) isList(`${path}.at`, condition.at, "dates");
  const quantity = (field: string, value: Quantity): DateOf => quantityOf(`${path}.${field}`, value, names);
  const number = (field: string, value: unknown): Given => givenNumber(`${path}.${field}`, value, state);
  const dates = condition.at?.map((date, k) => quantity(`at[${k}]`, date));
  if (dates?.length === 0) throw new SpecError(`${path}.at: no dates; leave the condition out`);
  switch (condition.kind) {
    case "exercise": {
      knownKeys(path, condition, ["kind", "payoff", "at", "method", "side"]);
      const { method = state.axes === 1 ? "penalty" : "operator-splitting", side } = condition;
      oneOf(`${path}.method`, method, ["penalty", "brennan-schwartz", "operator-splitting"]);
      if (state.axes > 1 && method !== "operator-splitting")
        throw new SpecError(`${path}.method: "${method}" is for one axis; of several, expected "operator-splitting"`);
      if (side !== undefined) oneOf(`${path}.side`, side, ["low", "high"]);
      return { path, kind: "exercise", dates, payoff: number("payoff", condition.payoff), method, side };
    }
    case "jump":
      knownKeys(path, condition, ["kind", "axis", "at", "to"]);
      if (dates === undefined) throw new SpecError(`${path}.at: missing; a jump needs dates`);
      return { path, kind: "jump", axis: axisOf(path, condition.axis, state), dates, to: number("to", condition.to) };
    case "knock-out": {
      knownKeys(path, condition, ["kind", "axis", "below", "above", "where", "value", "at", "from", "until"]);
      if (dates !== undefined && (condition.from !== undefined || condition.until !== undefined))
        throw new SpecError(`${path}: both dates and a window; leave at, or from and until, out`);
      const { below, above, where, value = 0, from, until } = condition;
      if (where !== undefined && state.axes === 1)
        throw new SpecError(`${path}.where: for several axes; of one, say below or above`);
      if (below === undefined && above === undefined && where === undefined)
        throw new SpecError(`${path}: neither below nor above; expected one of them, the region's edge`);
      return {
        path,
        kind: "knock-out",
        axis: axisOf(path, condition.axis, state),
        dates,
        where: where === undefined ? undefined : number("where", where),
        below: below === undefined ? undefined : number("below", below),
        above: above === undefined ? undefined : number("above", above),
        value: number("value", value),
        from: from === undefined ? undefined : quantity("from", from),
        until: until === undefined ? undefined : quantity("until", until),
      };
    }
    default:
      throw new SpecError(
        `${path}.kind: got ${JSON.stringify((condition satisfies never as { kind: unknown }).kind)}, expected exercise, jump or knock-out`,
      );
  }
}

/** The number of the axis that a condition names, the first one unless it does. @throws SpecError */
function axisOf(path: string, name: string | undefined, { names, axes }: State): number {
  if (name === undefined) return 0;
  const known = names.slice(1, 1 + axes);
  oneOf(`${path}.axis`, name, known);
  return known.indexOf(name);
}
