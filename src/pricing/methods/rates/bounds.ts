/** Bounds of trades on rates that hold in every model with the market's discount factors. */
import type { Bond, RatesExercise, RatesProduct, RatesTrade, RedemptionRight } from "../../../book/index.ts";
import { ONE_SECOND } from "../../../market/index.ts";
import type { SessionOf } from "../../backend.ts";
import type { Bounds } from "../../plan/kind.ts";
import type { RatesMethod, RatesRow } from "./method.ts";
import { settledAt } from "./claims.ts";
import { partsOf, presentValueOf, type RateOption } from "./parts.ts";
import type { RatesMarket } from "./rates-market.ts";

/** Returns the bounds of a trade's value in its market. They assume no arbitrage, and nothing of the model. */
export function boundsOf({ trade, market }: RatesRow): Bounds {
  const { product } = trade;
  switch (product.kind) {
    case "bond":
      return bondBounds(product, market);
    case "capFloor": {
      const { certain, options } = partsOf(trade, market);
      const all = options.map((option) => optionBounds(option, market));
      const sum = (of: "low" | "high"): number =>
        all.reduce((total, one) => total + one[of], presentValueOf(certain, market));
      return { low: sum("low"), high: sum("high"), lowIs: "its intrinsic value", highIs: "what it may pay at most" };
    }
    default:
      return earlyBounds(product, trade, market);
  }
}

/** A European option is worth its intrinsic value, and no more than what its payoff receives. */
function optionBounds({ sign, strike, flows, quote }: RateOption, market: RatesMarket): Pick<Bounds, "low" | "high"> {
  // The second flow of a normal quote is the scale of its volatility.
  const received = quote?.kind === "normal" ? flows.slice(0, 1) : flows;
  const forward = received.reduce((sum, { amount }) => sum + presentValueOf(amount, market), 0);
  const fixed = presentValueOf(strike, market);
  const low = Math.max(sign * (forward - fixed), 0);
  const isPositive = quote !== undefined || flows.every(({ amount }) => amount.every(([, paid]) => paid >= 0));
  if (!isPositive || fixed < 0 || quote?.kind === "normal") return { low, high: Number.POSITIVE_INFINITY };
  return { low, high: Math.max(sign > 0 ? forward : fixed, low) };
}

/** Returns the exercise times that bounds consider: all dates, or both ends of a period. */
export const datesOf = (exercise: RatesExercise): readonly number[] =>
  exercise.kind === "dates" ? exercise.times : [...new Set([exercise.from, exercise.to])];

type Early = Extract<RatesProduct, { readonly kind: "bondOption" | "swaption" }>;

/** Returns an option or swaption that is exercised on one date only. */
export const europeanOf = (product: Early, time: number): Early => ({
  ...product,
  exercise: { kind: "dates", times: [time] },
});

/** At least what each date alone is worth; at most what is received from the first on, or the strikes of all dates. */
function earlyBounds(product: Early, trade: RatesTrade, market: RatesMarket): Bounds {
  const dates = datesOf(product.exercise);
  const singles = dates.map((time) => {
    const [option] = partsOf({ ...trade, product: europeanOf(product, time) }, market).options;
    return { option, ...optionBounds(option, market) };
  });
  const low = Math.max(...singles.map((one) => one.low));
  const [{ option }] = singles;
  const highs = singles.map((one) => one.high);
  // A strike that is paid when it suits the holder may be worth more than on any date, where rates are negative.
  const isOpen = product.exercise.kind === "american" && product.kind === "bondOption" && option.sign < 0;
  const high = isOpen
    ? Number.POSITIVE_INFINITY
    : option.sign > 0
      ? highs[0]
      : highs.reduce((sum, one) => sum + one, 0);
  return {
    low,
    high: Math.max(low, high),
    lowIs: "what one of its dates pays",
    highIs: "what exercise receives at most",
  };
}

/** The price of a bond that is redeemed by a right at a time; undefined where that is no earlier than its maturity. */
interface Redeemed {
  readonly time: number;
  readonly value: number;
  /** Its coupons alone, and its price alone. */
  readonly coupons: number;
  readonly price: number;
}

function redeemed(rights: readonly RedemptionRight[], bond: Bond, market: RatesMarket): readonly Redeemed[] {
  return rights.flatMap((right) =>
    [...new Set([right.from, right.to])].flatMap((time): readonly Redeemed[] => {
      const settled = settledAt(right, time, bond);
      if (settled === undefined) return [];
      const { settlement, price } = settled;
      const until = bond.flows.filter(([paid]) => paid <= settlement + ONE_SECOND);
      const [coupons, own] = [presentValueOf(until, market), price * market.discount(settlement)];
      return [{ time, value: coupons + own, coupons, price: own }];
    }),
  );
}

/**
 * A bond is worth no more than with any plan of its issuer to call it on a date, and no less than with any plan of its
 * holder. Where both have rights, a plan counts if the other has none before.
 */
function bondBounds({ bond, calls, puts }: Extract<RatesProduct, { kind: "bond" }>, market: RatesMarket): Bounds {
  const straight = presentValueOf(bond.flows, market);
  const [called, put] = [calls, puts].map((rights) => redeemed(rights, bond, market));
  const [firstCall, firstPut] = [called, put].map((all) => Math.min(...all.map(({ time }) => time)));
  const isPositive = [...bond.flows.map(([, amount]) => amount), ...calls.map(({ price }) => price)].every(
    (x) => x >= 0,
  );
  const highs = called.filter(({ time }) => time < firstPut - ONE_SECOND).map(({ value }) => value);
  // A put adds no more than its price.
  const isDated = puts.every(({ from, to }) => from === to);
  if (put.length === 0) highs.push(straight);
  else if (isPositive && isDated) highs.push(put.reduce((sum, { price }) => sum + Math.max(price, 0), straight));
  const lows = put.filter(({ time }) => time <= firstCall + ONE_SECOND).map(({ value }) => value);
  if (called.length === 0) lows.push(straight);
  else if (isPositive) lows.push(Math.min(...called.map(({ coupons }) => coupons)));
  const low = Math.max(Number.NEGATIVE_INFINITY, ...lows);
  return {
    low,
    high: Math.max(low, Math.min(Number.POSITIVE_INFINITY, ...highs)),
    lowIs: called.length === 0 ? "the bond with its puts on one date or on none" : "its coupons before it is called",
    highIs:
      put.length === 0 ? "the bond with its calls on one date or on none" : "the bond with the prices of its puts",
  };
}

/** The most dates of a trade that are looked at: more of them narrow the bounds little. */
const MOST_DATES = 4;

/** An option on one date of a trade, and the index of that trade. */
interface Single {
  readonly row: RatesRow;
  readonly trade: number;
}

/**
 * Returns the bounds of trades on rates (`boundsOf`), narrowed where the model has closed forms for European options. A
 * Bermudan option is worth at least the European option on any one of its dates. A callable bond is worth at most the
 * bond without calls less the European call on one of its dates, and a puttable bond at least the bond without puts
 * plus the European put on one of its dates.
 */
export async function narrowedBounds(
  rows: readonly RatesRow[],
  methods: readonly RatesMethod[],
  sessionOf: SessionOf,
  signal: AbortSignal | undefined,
): Promise<readonly Bounds[]> {
  const bounds = rows.map((row): Bounds => boundsOf(row));
  const byMethod = new Map<RatesMethod, Single[]>();
  rows.forEach((row, trade) => {
    for (const product of singlesOf(row.trade.product)) {
      const single = { ...row, trade: { ...row.trade, product }, greeks: "none" } as const;
      const method = methods.find((one) => one.refuses(single.trade) === undefined);
      if (method === undefined) continue;
      const own = byMethod.get(method) ?? [];
      own.push({ row: single, trade });
      byMethod.set(method, own);
    }
  });
  for (const [method, singles] of byMethod) {
    const outcomes = await sessionOf(method).price(
      singles.map(({ row }) => row),
      signal,
    );
    singles.forEach(({ trade }, i) => {
      const outcome = outcomes[i];
      if (outcome instanceof Error || !Number.isFinite(outcome.value)) return;
      const { value, errorEstimate } = outcome;
      bounds[trade] = narrowed(bounds[trade], rows[trade], value - errorEstimate);
    });
  }
  return bounds;
}

/** The bounds of a trade one of whose dates alone is worth at least `least`. */
function narrowed(bounds: Bounds, { trade: { product }, market }: RatesRow, least: number): Bounds {
  if (product.kind !== "bond") {
    const low = Math.max(bounds.low, least);
    return { ...bounds, low, high: Math.max(low, bounds.high), lowIs: "the European option on one of its dates" };
  }
  const straight = product.bond.flows.reduce((sum, [time, amount]) => sum + amount * market.discount(time), 0);
  if (product.puts.length === 0) {
    const high = Math.min(bounds.high, straight - least);
    return { ...bounds, high: Math.max(high, bounds.low), highIs: "the bond with one of its calls" };
  }
  const low = Math.max(bounds.low, straight + least);
  return { ...bounds, low, high: Math.max(low, bounds.high), lowIs: "the bond with one of its puts" };
}

/** The options on single dates of a trade with early rights: none where they are no bounds. */
function singlesOf(product: RatesProduct): readonly RatesProduct[] {
  switch (product.kind) {
    case "bondOption":
    case "swaption":
      if (product.exercise.kind === "dates" && product.exercise.times.length === 1) return [];
      return some(datesOf(product.exercise)).map((time) => europeanOf(product, time));
    case "bond": {
      const { bond, calls, puts } = product;
      if ((calls.length > 0 && puts.length > 0) || [...calls, ...puts].some(({ notice }) => notice > 0)) return [];
      const last = bond.flows[bond.flows.length - 1][0];
      const right = calls.length > 0 ? "call" : "put";
      const dated = [...calls, ...puts].flatMap(({ from, to, price }) =>
        [...new Set([from, to])].filter((time) => time < last).map((time) => ({ time, strike: price })),
      );
      return some(dated).map(({ time, strike }) => {
        return {
          kind: "bondOption",
          right,
          strike,
          strikeIs: "clean",
          bond,
          exercise: { kind: "dates", times: [time] },
        };
      });
    }
    default:
      return [];
  }
}

/** A few of a list, the first and the last among them. */
function some<T>(list: readonly T[]): readonly T[] {
  if (list.length <= MOST_DATES) return list;
  return Array.from({ length: MOST_DATES }, (_, i) => list[Math.round((i * (list.length - 1)) / (MOST_DATES - 1))]);
}
