/** Legs of cross-currency swaps whose notional is reset to that of the other leg at the start of each period. */
import { BookError } from "../base/errors.ts";
import { type Day, isoOf } from "../market/conventions/index.ts";
import { legOf, type LegSpec, type PaidFlow, timeOf } from "../market/linear/index.ts";
import type { FxStep } from "./fx.ts";
import type { LinearMarket } from "./linear-market.ts";
import type { LinearLeg } from "./linear-types.ts";
import type { PathOf } from "./paths.ts";

/** A leg with its currency. */
interface Leg {
  readonly spec: LegSpec;
  readonly currency: string;
}

/** The business days from the publication of an exchange rate to the start of the period for which it holds. */
const PUBLISHED = 2;

/**
 * Returns a leg whose notional follows the exchange rate. What is still to be reset is a leg in the currency of the
 * other one, as its amounts are those of that notional times forward rates; periods with a published rate are `known`.
 *
 * @throws BookError for an exchange rate that is missing, or a notional that is no number
 */
export function resettingLeg(
  { spec, currency }: Leg,
  other: Leg,
  sign: 1 | -1,
  to: string,
  pathOf: PathOf,
  market: LinearMarket,
): { readonly leg: LinearLeg; readonly known: readonly LinearLeg[]; readonly years: undefined } {
  const { reference } = market;
  if (currency === other.currency)
    throw new BookError(pathOf("resets"), `both legs are in ${currency}, so that no exchange rate resets a notional`);
  if (typeof spec.notional !== "number" || other.spec.notional !== spec.notional)
    throw new BookError(pathOf("resets"), "expected a number as the notional of the other leg");
  const steps = market.fx.steps(other.currency, currency, pathOf("resets"));
  if (steps.length > 1)
    throw new BookError(pathOf("resets"), `add the exchange rate "${other.currency}${currency}" to market.fx`);
  const [step] = market.conversion(other.currency, currency, pathOf("resets"));
  const reset: LegSpec["reset"] = (start) => {
    const rate = publishedRate(steps[0], start, pathOf, market);
    if (rate !== undefined) return { scale: rate, factors: [] };
    const time = timeOf(start, reference);
    const growth = (curve: number, power: 1 | -1) => ({ curve, time, power });
    return { scale: 1, factors: [growth(other.spec.discount, 1), growth(spec.discount, -1)] };
  };
  const { flows, byRate } = legOf({ ...spec, reset }, reference);
  const isOpen = ({ factors }: PaidFlow): boolean => factors.length > 1;
  const conversion = market.conversion(currency, to, pathOf("currency"));
  const published = {
    currency,
    sign,
    flows: flows.filter((flow) => !isOpen(flow)),
    byRate: byRate.filter((flow) => !isOpen(flow)),
    conversion,
  };
  const leg: LinearLeg = {
    currency: other.currency,
    sign,
    flows: flows.filter(isOpen),
    byRate: byRate.filter(isOpen),
    conversion: market.conversion(other.currency, to, pathOf("currency")),
    resets: { currency, step, conversion },
  };
  return { leg, known: published.flows.length === 0 ? [] : [published], years: undefined };
}

/** Units of the leg's currency for one of the other, if they are known for a start. @throws BookError if missing */
function publishedRate({ pair, power }: FxStep, start: Day, pathOf: PathOf, market: LinearMarket): number | undefined {
  const { reference } = market;
  const day = pair.calendar.addBusinessDays(start, -PUBLISHED);
  if (day > reference) return undefined;
  const rate = market.exchangeRates(pair.name).get(day);
  if (rate !== undefined) return rate ** power;
  if (day === reference) return undefined;
  throw new BookError(
    pathOf("resets"),
    `the rate of ${pair.name} of ${isoOf(day)} is missing, by which the period from ${isoOf(start)} is reset; ` +
      "add it to market.fixings",
  );
}
