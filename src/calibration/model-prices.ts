/** The prices of quotes under many sets of a user's parameters, by one solution or one simulation. */
import type { Device } from "../device/index.ts";
import { type FeynkacError, SpecError } from "../base/errors.ts";
import { type AnyProblem, type PointSolution, solve, solveAxes } from "../pde/fdm/index.ts";
import type { Precision } from "../kernel/index.ts";
import { type Column, monteCarlo, type MonteCarloSettings, type Parameters } from "../montecarlo/index.ts";

/** A quoted price for the calibration of a user's model. @experimental */
export interface ModelQuote<A extends string = string, P extends string = string> {
  /** The values of this quote's own parameters, by the names in the problem, such as its strike and its expiry. */
  readonly parameters?: { readonly [K in P]?: number };
  /**
   * The point at which the solution of an equation is the price: a number if there is one axis, otherwise a number for
   * each axis by name.
   */
  readonly at?: number | Readonly<Record<A, number>>;
  /** The dates of the path in years, as many as the problem has; by default those of the problem. */
  readonly dates?: readonly number[];
  /** The quoted price, in the currency of the problem. */
  readonly price: number;
  /**
   * The weight of the squared error of the price, 1 by default. With 1/vega² errors are weighted as those of implied
   * volatilities.
   */
  readonly weight?: number;
}

/** A path model and the product whose prices are quoted, with settings of `monteCarlo`. @experimental */
export type PathProblem = Pick<
  MonteCarloSettings,
  "model" | "product" | "dates" | "substeps" | "paths" | "sampling" | "scramblings" | "antithetic" | "control"
> & { readonly precision?: Precision };

/** The prices of all quotes for one set of parameters; NaN if a price is missing. */
export interface ModelPrices {
  readonly values: Float64Array;
  /** The standard errors of a simulation. */
  readonly standardErrors?: Float64Array;
  /** The error estimates of the values; undefined if the problem has none. */
  readonly errorEstimates: ArrayLike<number | undefined>;
  /** The reason why a price is missing. */
  readonly fault: FeynkacError | undefined;
}

/** A problem of the user with its quotes, in the form that `calibrate` works with. */
export interface QuotedProblem {
  /**
   * The parameters that may be fitted, with their initial values; undefined for a parameter that is not a single
   * number.
   */
  readonly parameters: ReadonlyMap<string, number | undefined>;
  /** Returns the prices of all quotes for each set of values of the fitted parameters, [set][parameter]. */
  readonly pricesAt: (sets: readonly Float64Array[], on: PricingSettings) => Promise<readonly ModelPrices[]>;
}

/** The device and the settings with which a calibration prices its quotes. */
export interface PricingSettings {
  readonly device: Device;
  /** The names of the fitted parameters. */
  readonly fitted: readonly string[];
  readonly precision: Precision;
  readonly seed: number | bigint;
  readonly signal: AbortSignal | undefined;
}

/** The parameters of a problem by name, without those that are columns. */
function numbersOf(...groups: readonly Parameters[]): ReadonlyMap<string, number | undefined> {
  const all = groups.flatMap((parameters) => Object.entries(parameters));
  return new Map(all.map(([name, value]) => [name, typeof value === "number" ? value : undefined]));
}

/**
 * Parameters with a column for each one that is fitted or that a quote has: for each set the numbers of all `quotes`.
 */
function columnsOf<V>(
  parameters: Readonly<Record<string, V>>,
  quotes: readonly ModelQuote[],
  sets: readonly Float64Array[],
  fitted: readonly string[],
): Record<string, V | number[]> {
  const column = ([name, value]: [string, V]): [string, V | number[]] => {
    const j = fitted.indexOf(name);
    if (j >= 0) return [name, sets.flatMap((set) => quotes.map(() => set[j]))];
    if (quotes.every(({ parameters: own }) => own?.[name] === undefined)) return [name, value];
    return [name, sets.flatMap(() => quotes.map(({ parameters: own }) => own?.[name] ?? Number(value)))];
  };
  return Object.fromEntries(Object.entries(parameters).map(column));
}

/** A solution of an equation, on any number of axes. */
interface Solved {
  readonly error: SpecError | undefined;
  readonly at: (point: ModelQuote["at"]) => Pick<PointSolution, "value" | "errorEstimate">;
}

async function solved(problem: AnyProblem, several: boolean, { device, signal }: PricingSettings): Promise<Solved[]> {
  if (several) {
    const { entries } = await solveAxes(problem, { device, signal });
    return entries.map((entry) => ({
      error: entry.error,
      at: (point) => entry.at(point as Readonly<Record<string, number>>),
    }));
  }
  const { entries } = await solve(problem, { device, signal });
  return entries.map((entry) => ({ error: entry.error, at: (point) => entry.at(point as number) }));
}

/**
 * Returns the problem of an equation, whose quotes are priced by finite differences. Quotes with the same parameters
 * are read from one solution.
 */
export function quotedEquation(problem: AnyProblem, quotes: readonly ModelQuote[]): QuotedProblem {
  const several = Object.keys(problem.axes).length > 1;
  const { parameters = {} } = problem;
  quotes.forEach(({ at, dates }, i) => {
    if (dates !== undefined)
      throw new SpecError(`quotes[${i}].dates: an equation has none; name its expiry among the parameters`);
    if (several ? typeof at !== "object" : typeof at !== "number")
      throw new SpecError(`quotes[${i}].at: expected ${several ? "a number for each axis" : "a number on the axis"}`);
  });
  const keys = quotes.map(({ parameters: own }) =>
    Object.keys(parameters)
      .map((name) => own?.[name])
      .join(),
  );
  const different = [...new Set(keys)];
  const entryOf = keys.map((key) => different.indexOf(key));
  const own = different.map((key) => quotes[keys.indexOf(key)]);
  return {
    parameters: numbersOf(parameters),
    pricesAt: async (sets, on) => {
      const batch = columnsOf(parameters, own, sets, on.fitted);
      const entries = await solved({ ...problem, parameters: batch, precision: on.precision }, several, on);
      return sets.map((_, s) => {
        const of = entryOf.map((entry) => entries[s * own.length + entry]);
        const read = of.map(({ error, at }, i) => (error === undefined ? at(quotes[i].at) : undefined));
        return {
          values: Float64Array.from(read, (point) => point?.value ?? Number.NaN),
          errorEstimates: read.map((point) => point?.errorEstimate),
          fault: of.find(({ error }) => error !== undefined)?.error,
        };
      });
    },
  };
}

/**
 * Returns the problem of a path model, whose quotes are priced by Monte Carlo. Each quote has random numbers of its
 * own, which are the same for all parameter values. Prices are therefore smooth in the parameters, and the scatter of
 * the residuals includes the errors of the simulation.
 */
export function quotedPaths(problem: PathProblem, quotes: readonly ModelQuote[]): QuotedProblem {
  const { model, product, dates, ...settings } = problem;
  quotes.forEach((quote, i) => {
    if (quote.at !== undefined) throw new SpecError(`quotes[${i}].at: paths start at the parameters of their model`);
    if (quote.dates !== undefined && quote.dates.length !== dates.length)
      throw new SpecError(`quotes[${i}].dates: got ${quote.dates.length}, expected ${dates.length} as the problem has`);
  });
  const hasDates = quotes.some((quote) => quote.dates !== undefined);
  return {
    parameters: numbersOf(model.parameters, product.parameters),
    pricesAt: async (sets, { device, fitted, precision, seed, signal }) => {
      const dateOf = (date: Column, k: number): Column =>
        hasDates ? sets.flatMap(() => quotes.map((quote) => quote.dates?.[k] ?? Number(date))) : date;
      const { value, standardError, errorEstimate, error } = await monteCarlo({
        device,
        ...settings,
        model: { ...model, parameters: columnsOf(model.parameters, quotes, sets, fitted) },
        product: { ...product, parameters: columnsOf(product.parameters, quotes, sets, fitted) },
        dates: dates.map(dateOf),
        streams: sets.flatMap(() => quotes.map((_, i) => i)),
        precision,
        seed,
        ...(signal === undefined ? {} : { signal }),
      });
      return sets.map((_, s) => {
        const [from, to] = [s * quotes.length, (s + 1) * quotes.length];
        return {
          values: value.slice(from, to),
          standardErrors: standardError.slice(from, to),
          errorEstimates: errorEstimate.slice(from, to),
          fault: error.slice(from, to).find((one) => one !== undefined),
        };
      });
    },
  };
}
