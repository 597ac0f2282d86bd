/** Converts convertible bonds from the form of the book to the form that is priced. */
import type { Call, Convertible, Conversion, Coupon, Put } from "../pde/convertible/index.ts";
import { BookError } from "../base/errors.ts";
import type { ConvertibleTrade } from "./convertible-types.ts";
import type { ResolvedMarket } from "./market.ts";
import { didYouMean, quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import { resolveBond, checkApart, TIME_TOLERANCE } from "./rates-trade.ts";
import type { ConvertibleTradeSpec } from "./schema/index.ts";
import { type AsOf, type TimeSpec, yearsText, Clock } from "./time.ts";
import { NOT_PRICED, resolveVolatility } from "./volatility.ts";

type Spec = ConvertibleTradeSpec["convertible"];

/**
 * Converts a convertible bond from the book's form to a trade. @throws BookError an unknown underlying, no volatility,
 * or dates that contradict each other or overlap
 */
export function resolveConvertible(
  spec: ConvertibleTradeSpec,
  pathOf: PathOf,
  asOf: AsOf,
  market: ResolvedMarket,
): ConvertibleTrade {
  const { id, quantity = 1, tags } = spec;
  const entry = market.entries.get(spec.underlying);
  if (entry === undefined) {
    const known = didYouMean(spec.underlying, market.entries.keys());
    throw new BookError(pathOf("underlying"), `unknown underlying ${quote(spec.underlying)}${known}`);
  }
  if (entry.underlying?.pair !== undefined)
    throw new BookError(pathOf("underlying"), `${quote(spec.underlying)} is a currency pair, not a share`);
  if (entry.underlying?.dividends.excess !== undefined)
    throw new BookError(
      pathOf("underlying"),
      `${quote(spec.underlying)} has a yield by time; convertibles take one number`,
    );
  if (entry.underlying === undefined) throw new BookError(pathOf("underlying"), entry.problem ?? "not usable");
  const own = spec.volatility && resolveVolatility(spec.volatility, asOf, inside(pathOf, "volatility"));
  if (own === "quotes") throw new BookError(pathOf("volatility"), `quotes: ${NOT_PRICED}`);
  const volatility = own ?? entry.underlying.volatility;
  if (volatility === undefined) throw new BookError(pathOf("underlying"), entry.volatilityProblem ?? "no volatility");
  const convertible = resolveTerms(spec.convertible, new Clock(asOf), inside(pathOf, "convertible"));
  return {
    kind: "convertible",
    id,
    underlying: entry.underlying,
    volatility,
    credit: market.credit.get(spec.underlying),
    convertible,
    expiry: convertible.maturity,
    quantity,
    ...(tags === undefined ? {} : { tags: { ...tags } }),
  };
}

function resolveTerms(spec: Spec, clock: Clock, pathOf: PathOf): Convertible {
  const { maturity: end, coupon, frequency, notional, ratio, calledCashComponent = "callPrice" } = spec;
  const bond = resolveBond(
    { maturity: end, coupon, frequency, notional, calls: undefined, puts: undefined },
    clock,
    pathOf,
  );
  const [maturity] = bond.flows[bond.flows.length - 1];
  const coupons = bond.coupons.map(({ start, end: time, amount }): Coupon => ({ time, amount, accruesFrom: start }));
  const calls = (spec.calls ?? []).flatMap(({ from, to, price, trigger = 0 }, i): Call[] =>
    periodOf({ from, to }, maturity, clock, inside(pathOf, "calls", i)).map((period) => ({
      ...period,
      price,
      trigger,
    })),
  );
  const puts = (spec.puts ?? []).flatMap(({ from, to, price }, i): Put[] =>
    periodOf({ from, to }, maturity, clock, inside(pathOf, "puts", i)).map((period) => ({ ...period, price })),
  );
  checkApart(calls, inside(pathOf, "calls"));
  checkApart(puts, inside(pathOf, "puts"));
  const conversions = ratio === 0 ? [] : conversionsOf(spec, ratio, maturity, clock, pathOf);
  const calledCash = calledCashComponent === "callPrice" ? 1 : 0;
  return { notional, maturity, coupons, conversions, calls, puts, calledCash };
}

function conversionsOf(
  { conversion = { kind: "american" } }: Spec,
  ratio: number,
  maturity: number,
  clock: Clock,
  pathOf: PathOf,
): Conversion[] {
  const atMaturity = { from: maturity, to: maturity, ratio };
  switch (conversion.kind) {
    case "american":
      return [{ from: 0, to: maturity, ratio }];
    case "european":
      return [atMaturity];
    case "none":
      return [];
    case "dates": {
      const dates = conversion.times.flatMap((time, i) =>
        periodOf({ from: time, to: time }, maturity, clock, () => pathOf("conversion", i)),
      );
      return [
        ...dates.filter(({ to }) => to < maturity - TIME_TOLERANCE).map((date) => ({ ...date, ratio })),
        atMaturity,
      ];
    }
    case "window":
      return periodOf(conversion, maturity, clock, inside(pathOf, "conversion")).map((period) => ({
        ...period,
        ratio,
      }));
    default:
      return conversion satisfies never;
  }
}

/**
 * Returns the part of a period that is not before `asOf`, as a list with one element, or an empty list. @throws
 * BookError if the period ends before its start or after maturity
 */
function periodOf(
  spec: { readonly from: TimeSpec; readonly to: TimeSpec },
  maturity: number,
  clock: Clock,
  pathOf: PathOf,
): { readonly from: number; readonly to: number }[] {
  const [from, to] = [clock.years(spec.from), clock.years(spec.to)];
  if (to < from) throw new BookError(pathOf("to"), "expected a time that is not before from");
  if (to > maturity + TIME_TOLERANCE) {
    const late = `expected a time up to maturity, ${yearsText(maturity)} from asOf; got one after ${yearsText(to)}`;
    throw new BookError(pathOf(spec.from === spec.to ? "date" : "to"), late);
  }
  return to < 0 ? [] : [{ from: Math.max(from, 0), to: Math.min(to, maturity) }];
}
