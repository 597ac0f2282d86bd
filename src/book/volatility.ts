/** From a volatility as written to one that can be priced with. */
import { BookError } from "../errors.ts";
import { decreasingAt, flatVolatility, termStructure, type Volatility } from "../market/index.ts";
import { checkFormula } from "./formulas.ts";
import { inside, type Place } from "./place.ts";
import type { VolatilitySpec } from "./schema/index.ts";
import { type AsOf, type TimeSpec, yearsFrom } from "./time.ts";

/** What stands in messages about features that the format has and the pricer does not, yet. */
export const NOT_YET = "not supported in this version";

/**
 * The volatility that a book or a trade gave; `"quotes"` when it is valid but cannot be priced yet.
 * @throws BookError at the node whose date or total variance is not in order, or at a formula that cannot be read
 */
export function resolveVolatility(spec: VolatilitySpec, asOf: AsOf, place: Place): Volatility | "quotes" {
  switch (spec.kind) {
    case "flat":
      return flatVolatility(spec.volatility);
    case "termStructure":
      return resolveTermStructure(spec.nodes, asOf, inside(place, "termStructure"));
    case "cev":
      return { kind: "cev", sigma: spec.sigma, beta: spec.beta };
    case "local":
      checkFormula(spec.expression, ["S", "t"], place("local"));
      return { kind: "local", expression: spec.expression };
    case "quotes":
      checkQuotes(spec.quotes, asOf, inside(place, "quotes"));
      return "quotes";
    default:
      return spec satisfies never;
  }
}

function resolveTermStructure(
  nodes: readonly { date: TimeSpec; volatility: number }[],
  asOf: AsOf,
  place: Place,
): Volatility {
  const times = increasingYears(
    nodes.map(({ date }) => date),
    asOf,
    (i) => place(i, "date"),
  );
  const falling = decreasingAt(nodes.map(({ volatility }, i) => volatility * volatility * times[i]));
  if (falling > 0) {
    throw new BookError(
      place(falling, "volatility"),
      `expected total variance (volatility²·time) that does not fall, got ${nodes[falling].volatility} after ${nodes[falling - 1].volatility}`,
    );
  }
  return termStructure(nodes.map(({ volatility }, i) => ({ time: times[i], volatility })));
}

function checkQuotes(
  { expiries, strikes, implied }: Extract<VolatilitySpec, { kind: "quotes" }>["quotes"],
  asOf: AsOf,
  place: Place,
): void {
  increasingYears(expiries, asOf, (i) => place("expiries", i));
  const unordered = strikes.findIndex((strike, i) => i > 0 && strike <= strikes[i - 1]);
  if (unordered > 0)
    throw new BookError(
      place("strikes", unordered),
      `expected increasing strikes, got ${strikes[unordered]} after ${strikes[unordered - 1]}`,
    );
  if (implied.length !== expiries.length)
    throw new BookError(place("implied"), `expected ${expiries.length} rows, one an expiry, got ${implied.length}`);
  const ragged = implied.findIndex((row) => row.length !== strikes.length);
  if (ragged >= 0)
    throw new BookError(
      place("implied", ragged),
      `expected ${strikes.length} volatilities, one a strike, got ${implied[ragged].length}`,
    );
}

/** Years of dates that have to increase from after asOf. @throws BookError at the first that does not */
export function increasingYears(dates: readonly TimeSpec[], asOf: AsOf, place: (index: number) => string): number[] {
  const years = dates.map((date) => yearsFrom(asOf, date));
  years.forEach((time, i) => {
    if (!(time > 0)) throw new BookError(place(i), "expected a date after asOf");
    if (i > 0 && !(time > years[i - 1])) throw new BookError(place(i), "expected dates that increase");
  });
  return years;
}
