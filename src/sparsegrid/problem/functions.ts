/** The functions that a user writes, as kernel functions of a state on any number of axes. */
import {
  COORDINATES,
  adapterOf,
  axesPointwise,
  axesRegion,
  Column,
  type Given,
  type GivenCondition,
  type GivenEnds,
} from "../../fdm/index.ts";
import {
  bool,
  type FunctionOf,
  functionFromSource,
  type FunctionSpec,
  i32,
  read,
  real,
  record,
  type ValueOf,
  write,
} from "../../kernel/index.ts";

/** The time, a value of each axis, the parameters. */
export const GridState = record({ t: real, x: read(real), parameters: Column });
type State = ValueOf<typeof GridState>;
export type GridNumber = FunctionOf<(state: State) => number>;

/** The state with the knock-outs in force, a bit of `mask` each. */
const MaskedState = record({ state: GridState, mask: i32 });
/** Condition k on a date, where V is u. */
const DatedState = record({ state: GridState, k: i32, u: real });

/** Writes all coefficients into `out`, in the order of `coefficientNames`. */
export type GridCoefficients = FunctionOf<
  (of: { state: State; out: ValueOf<typeof Output>["out"] }) => undefined | void
>;
const Output = record({ out: write(real) });
/** Returns V or its slope at an end of an axis. */
export type GridEnds = FunctionOf<(of: { state: State; axis: number; high: boolean }) => number>;

/** The order of the coefficients: ∂²/∂xₖ² and ∂/∂xₖ of each axis, of V, the source, and one for each mixed pair. */
export interface CoefficientOrder {
  readonly keys: readonly string[];
  readonly pairs: readonly (readonly [number, number])[];
}

/** "x" or, on one axis, "S" are the coordinates that arguments of a user's function are called. */
function coordinatesText(axes: number): string {
  const each = COORDINATES.slice(0, axes).map((name, k) => `const ${name} = x[${k}];`);
  return [...each, ...(axes === 1 ? ["const S = x0;"] : [])].join(" ");
}

const STATE = "{ t, x, parameters: { values: parameters, pitch, instance } }";

/** A kernel function of the state → number. */
export const gridNumber =
  (axes: number) =>
  ({ call, args, path }: Given): GridNumber => {
    const source = `(${STATE}, gpu, { f }) => { ${coordinatesText(axes)} return f(${args}); }`;
    return adapterOf(
      call,
      source,
      () => functionFromSource({ name: path, params: GridState.fields, env: { f: call }, source }) as GridNumber,
    );
  };

/** A kernel function of the state that writes all coefficients. */
export function gridCoefficients(
  { call, args, reads }: Given<unknown> & { readonly reads: Readonly<Record<string, string>> },
  axes: number,
  { keys }: CoefficientOrder,
): GridCoefficients {
  const stores = keys.map((key, k) => `out[${k}] = ${reads[key]};`).join(" ");
  const source = `({ state: ${STATE}, out }, gpu, { f }) => { ${coordinatesText(axes)} const k = f(${args}); ${stores} }`;
  return adapterOf(
    call,
    source,
    () =>
      functionFromSource({
        name: "equation",
        params: { state: GridState, out: write(real) },
        env: { f: call },
        source,
      }) as unknown as GridCoefficients,
  );
}

/** The values at the ends of all axes; 0 where nothing is given. */
export function gridEnds(ends: readonly GivenEnds[]): GridEnds {
  const env: Record<string, FunctionSpec> = {};
  const cases = ends.flatMap(({ low, high }, k) =>
    [low, high].flatMap(({ number }, end) => {
      if (number === undefined) return [];
      env[`end${k}_${end}`] = gridNumber(ends.length)(number);
      return [`if (axis === ${k} && ${end === 1 ? "high" : "!high"}) value = env.end${k}_${end}(state);`];
    }),
  );
  return functionFromSource({
    name: "ends",
    params: { state: GridState, axis: i32, high: bool },
    env,
    source: `({ state, axis, high }, gpu, env) => { let value = 0.0; ${cases.join(" ")} return value; }`,
  }) as unknown as GridEnds;
}

type Inside = FunctionOf<(of: ValueOf<typeof MaskedState>) => boolean>;
type InsideValue = FunctionOf<(of: ValueOf<typeof MaskedState>) => number>;
type Dated = FunctionOf<(of: ValueOf<typeof DatedState>) => { value: number; ok: boolean }>;

/** The conditions of exercise and knock-outs: at all times, and on dates. */
export function gridConditions(
  conditions: readonly GivenCondition[],
  axes: number,
): {
  readonly region: { readonly inside: Inside; readonly value: InsideValue } | undefined;
  readonly pointwise: Dated | undefined;
} {
  const form = {
    number: gridNumber(axes),
    take: `const { x } = state; ${coordinatesText(axes)}`,
    masked: MaskedState.fields,
    dated: DatedState.fields,
  };
  return {
    region: axesRegion(conditions, form) as unknown as ReturnType<typeof gridConditions>["region"],
    pointwise: axesPointwise(conditions, form) as unknown as Dated | undefined,
  };
}
