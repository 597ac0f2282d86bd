/** Converts volatilities from the form of the book to the form that is priced. */
import { BookError } from "../base/errors.ts";
import {
  decreasingAt,
  flatVolatility,
  type GaussianFactors,
  localSurface,
  type LocalSurface,
  termStructure,
  type Volatility,
} from "../market/index.ts";
import { inside, type PathOf, checkFormula } from "./paths.ts";
import type { VolatilitySpec } from "./schema/index.ts";
import { inputsWithin, stepInputs, volatilityInputs, rememberInputs } from "./market-inputs.ts";
import { type AsOf, type TimeSpec, timeText, yearsFrom } from "./time.ts";

/** The error message for volatilities that the format allows and that no method can price. */
export const NOT_PRICED =
  'implied quotes are checked and not priced; give { "termStructure" } for volatilities by expiry, ' +
  '{ "surface" } for a smile, or the quotes of market.underlyings a "fit", such as "svi"';

/**
 * Converts a volatility from the book's form. Returns "quotes" for valid quotes that still have to be fitted, or that
 * cannot be priced. @throws BookError a date or total variance that is out of order, or a formula with an error
 */
export function resolveVolatility(spec: VolatilitySpec, asOf: AsOf, pathOf: PathOf): Volatility | "quotes" {
  switch (spec.kind) {
    case "flat":
      return flatVolatility(spec.volatility);
    case "termStructure":
      return resolveTermStructure(spec.nodes, asOf, inside(pathOf, "termStructure"));
    case "cev":
      return { kind: "cev", sigma: spec.sigma, beta: spec.beta };
    case "displaced":
      return { kind: "displaced", sigma: spec.sigma, shift: spec.shift };
    case "heston":
    case "sabr":
      return spec;
    case "gaussianFactors":
      checkFactors(spec, inside(pathOf, "gaussianFactors"));
      return spec;
    case "surface":
      return surfaceOf(spec.surface, asOf, inside(pathOf, "surface"));
    case "stochasticLocal":
      return { ...spec, surface: resolveSurface(spec.surface, asOf, inside(pathOf, "stochasticLocal", "surface")) };
    case "local":
      checkFormula(spec.expression, ["S", "t"], pathOf("local"));
      return { kind: "local", expression: spec.expression };
    case "fitted":
      return "quotes";
    case "quotes":
      checkQuotes(spec.quotes, asOf, inside(pathOf, "quotes"));
      return "quotes";
    default:
      return spec satisfies never;
  }
}

function checkFactors({ alpha, sigma }: GaussianFactors, pathOf: PathOf): void {
  if (alpha.length > 2) throw new BookError(pathOf("alpha"), `expected one factor or two, got ${alpha.length}`);
  if (sigma.length !== alpha.length)
    throw new BookError(pathOf("sigma"), `expected ${alpha.length}, as many as in alpha, got ${sigma.length}`);
}

function resolveTermStructure(
  nodes: readonly { date: TimeSpec; volatility: number }[],
  asOf: AsOf,
  pathOf: PathOf,
): Volatility {
  const times = increasingYears(
    nodes.map(({ date }) => date),
    asOf,
    (i) => pathOf(i, "date"),
  );
  const falling = decreasingAt(nodes.map(({ volatility }, i) => volatility * volatility * times[i]));
  if (falling > 0) {
    throw new BookError(
      pathOf(falling, "volatility"),
      "expected total variance (volatility²·time) that does not fall, " +
        `got ${nodes[falling].volatility} after ${nodes[falling - 1].volatility}`,
    );
  }
  const volatility = termStructure(nodes.map((node, i) => ({ time: times[i], volatility: node.volatility })));
  if (volatility.kind === "deterministic") {
    const places = nodes.map(({ date }) => timeText(asOf, date));
    rememberInputs(volatilityInputs, volatility, () =>
      inputsWithin(stepInputs(volatility.sigma, places), (sigma) => ({ ...volatility, sigma })),
    );
  }
  return volatility;
}

function checkQuotes(
  { expiries, strikes, implied }: Extract<VolatilitySpec, { kind: "quotes" }>["quotes"],
  asOf: AsOf,
  pathOf: PathOf,
): void {
  increasingYears(expiries, asOf, (i) => pathOf("expiries", i));
  checkIncreasing(strikes, "strikes", pathOf);
  checkGrid(
    implied,
    { rows: expiries.length, row: "expiry", columns: strikes.length, column: "strike" },
    inside(pathOf, "implied"),
  );
}

type SurfaceSpec = Extract<VolatilitySpec, { kind: "surface" }>["surface"];

/** A local volatility on a grid, whose inputs are its nodes. */
function surfaceOf(spec: SurfaceSpec, asOf: AsOf, pathOf: PathOf): Volatility {
  const surface = resolveSurface(spec, asOf, pathOf);
  const volatility = { kind: "surface", surface } as const;
  const { times, spots, volatility: rows } = surface;
  rememberInputs(volatilityInputs, volatility, () =>
    times.flatMap((_, i) =>
      spots.map((spot, j) => ({
        at: { expiry: timeText(asOf, spec.times[i]), strike: spot },
        from: i === 0 ? 0 : times[i - 1],
        limits: { up: Number.POSITIVE_INFINITY, down: rows[i][j] },
        moved: (by: number) => ({
          ...volatility,
          surface: localSurface(times, spots, rows.with(i, rows[i].with(j, rows[i][j] + by))),
        }),
      })),
    ),
  );
  return volatility;
}

function resolveSurface({ times, spots, volatility }: SurfaceSpec, asOf: AsOf, pathOf: PathOf): LocalSurface {
  const years = times.map((time) => yearsFrom(asOf, time));
  if (years[0] < 0) throw new BookError(pathOf("times", 0), "expected a time that is not before asOf");
  const unordered = years.findIndex((time, i) => i > 0 && !(time > years[i - 1]));
  if (unordered > 0) throw new BookError(pathOf("times", unordered), "expected times that increase");
  checkIncreasing(spots, "spots", pathOf);
  checkGrid(
    volatility,
    { rows: years.length, row: "time", columns: spots.length, column: "spot" },
    inside(pathOf, "volatility"),
  );
  return localSurface(years, spots, volatility);
}

function checkIncreasing(values: readonly number[], what: "strikes" | "spots", pathOf: PathOf): void {
  const unordered = values.findIndex((value, i) => i > 0 && value <= values[i - 1]);
  if (unordered > 0)
    throw new BookError(
      pathOf(what, unordered),
      `expected increasing ${what}, got ${values[unordered]} after ${values[unordered - 1]}`,
    );
}

interface GridSize {
  readonly rows: number;
  readonly row: string;
  readonly columns: number;
  readonly column: string;
}

function checkGrid(
  grid: readonly (readonly number[])[],
  { rows, row, columns, column }: GridSize,
  pathOf: PathOf,
): void {
  const article = row === "expiry" ? "an" : "a";
  if (grid.length !== rows)
    throw new BookError(pathOf(), `expected ${rows} rows, one ${article} ${row}, got ${grid.length}`);
  const ragged = grid.findIndex((values) => values.length !== columns);
  if (ragged >= 0)
    throw new BookError(
      pathOf(ragged),
      `expected ${columns} volatilities, one a ${column}, got ${grid[ragged].length}`,
    );
}

/**
 * Converts dates to years. They must be after `asOf` and increase. `path` returns the position of a date for error
 * messages. @throws BookError at the first date that is not later than the one before
 */
export function increasingYears(dates: readonly TimeSpec[], asOf: AsOf, path: (index: number) => string): number[] {
  const years = dates.map((date) => yearsFrom(asOf, date));
  years.forEach((time, i) => {
    if (!(time > 0)) throw new BookError(path(i), "expected a date after asOf");
    if (i > 0 && !(time > years[i - 1])) throw new BookError(path(i), "expected dates that increase");
  });
  return years;
}
