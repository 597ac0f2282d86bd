/** Trades on rates as claims with rights on dates. */
import { SpecError } from "../../../base/errors.ts";
import type { Bond, RatesExercise, RatesProduct, RatesTrade, RedemptionRight } from "../../../book/index.ts";
import { ONE_SECOND } from "../../../market/index.ts";
import type { ExerciseDate, ShortRateTrade } from "../../../quadrature/rates/index.ts";
import { accruedAt } from "./bond-figures.ts";
import { basisOf, floatingSum, partsOf, quotesOf } from "./parts.ts";
import type { RatesMarket } from "./rates-market.ts";

/** A trade with exercise dates in the place of exercise periods. */
export interface DatedTrade {
  readonly claim: ShortRateTrade;
  /** True where dates approximate rights at any time within a period. */
  readonly hasWindows: boolean;
}

/** Shorter windows, in years, have as many dates as one of this length. */
const SHORTEST_WINDOW = 0.5;

/**
 * Returns a trade as a claim with rights on dates. If the trade is seen `elapsed` years later, rights at any time get
 * as many dates as today, because the value is compared with today's. A right at any time within a period is
 * approximated by `perYear` dates a year and the payment times in the period.
 */
export function datedTrade(trade: RatesTrade, market: RatesMarket, perYear: number, elapsed = 0): DatedTrade {
  const { product } = trade;
  switch (product.kind) {
    case "bond": {
      const { flows } = product.bond;
      const rights = [...product.calls, ...product.puts];
      const dates = timesOf(rights, flows, perYear, elapsed).flatMap((time): readonly ExerciseDate[] => {
        const put = best(product.puts, time, product.bond, Math.max);
        const call = best(product.calls, time, product.bond, Math.min);
        const settlement = (put ?? call)?.settlement;
        if (settlement === undefined) return [];
        return [{ time, settlement, floor: put?.price, cap: call?.price, capSettlement: call?.settlement }];
      });
      return { claim: { kind: "bond", flows, dates }, hasWindows: rights.some(isWindow) };
    }
    case "bondOption": {
      const { bond, right, strike, strikeIs, exercise } = product;
      const times = timesOf(windowsOf(exercise), bond.flows, perYear, elapsed);
      const dates = times.map((time): ExerciseDate => {
        const floor = strikeIs === "clean" ? strike + accruedAt(bond, time) : strike;
        return { time, settlement: time, floor };
      });
      const kind = right === "call" ? "receiver" : "payer";
      return { claim: { kind, flows: bond.flows, dates }, hasWindows: exercise.kind === "american" };
    }
    case "swaption":
      return datedSwaption(product, trade, market, perYear, elapsed);
    case "capFloor":
      return datedCap(product, trade, market);
    default:
      return product satisfies never;
  }
}

/** A caplet is the right to sell 1 + τK, paid at the end of its period, for 1 at its start, a floorlet to buy it. */
function datedCap(
  product: Extract<RatesProduct, { readonly kind: "capFloor" }>,
  trade: RatesTrade,
  market: RatesMarket,
): DatedTrade {
  const { right, strike, notional, periods } = product;
  const { certain } = partsOf(trade, market);
  const open = periods.filter(({ rate }) => rate === undefined);
  const flows = open.map(({ paid, accrual }) => [paid, notional * (1 + strike * accrual)] as const);
  const dates = open.map((period): ExerciseDate => {
    const time = Math.max(period.start, 0);
    return { time, settlement: time, floor: notional * basisOf(period, trade, market) };
  });
  const kind = right === "cap" ? "payers" : "receivers";
  return {
    claim: { kind, flows: [...certain.map(([t, paid]) => [t, paid] as const), ...flows], dates },
    hasWindows: false,
  };
}

type Swaption = Extract<RatesProduct, { readonly kind: "swaption" }>;

/** A receiver swaption buys the fixed leg with its notional for the notional, paid at the start of the swap. */
function datedSwaption(
  { right, strike, notional, periods, floating, exercise }: Swaption,
  trade: RatesTrade,
  market: RatesMarket,
  perYear: number,
  elapsed: number,
): DatedTrade {
  const open = floating.filter(({ start }) => start > -ONE_SECOND);
  const amounts = new Map<number, number>();
  const pay = (time: number, amount: number): void => void amounts.set(time, (amounts.get(time) ?? 0) + amount);
  for (const { paid, accrual } of periods) pay(paid, notional * strike * accrual);
  for (const [time, amount] of floatingSum(open, notional, trade, market)) pay(time, -amount);
  const flows = [...amounts].filter(([time, amount]) => time > 0 && amount !== 0).toSorted(([a], [b]) => a - b);
  const dates = timesOf(windowsOf(exercise), flows, perYear, elapsed).map((time): ExerciseDate => {
    if (time < floating[0].start) return { time, settlement: time, floor: 0 };
    // What is paid at the next start belongs to the period before, but for the notional that begins to grow there.
    const next = open.find(({ start }) => start > time - ONE_SECOND)!;
    const isAtStart = next.start < time + ONE_SECOND;
    const begun = notional * basisOf(next, trade, market);
    return isAtStart
      ? { time, settlement: time, floor: begun }
      : { time, settlement: next.start, floor: begun + (amounts.get(next.start) ?? 0) };
  });
  return { claim: { kind: right, flows, dates }, hasWindows: exercise.kind === "american" };
}

/** Returns what of a product a claim with rights on dates cannot have, as text that completes "it has …". */
export function notDated(product: RatesProduct): string | undefined {
  if (quotesOf(product).length > 0) return "a quoted volatility";
  if (
    product.kind === "capFloor" &&
    product.periods.some(({ rate, fixed, start }) => rate === undefined && fixed < start)
  )
    return "rates that are published before their periods begin";
  const legs = product.kind === "swaption" ? [...product.periods, ...product.floating] : [];
  const paid = product.kind === "capFloor" ? product.periods : legs;
  return paid.some(({ paid: at, end }) => at !== end)
    ? "payments after the ends of their periods (a payment lag)"
    : undefined;
}

const isWindow = ({ from, to }: RedemptionRight): boolean => to > from;

type Window = Pick<RedemptionRight, "from" | "to"> & { readonly notice?: number };

function windowsOf(exercise: RatesExercise): Window[] {
  return exercise.kind === "american" ? [exercise] : exercise.times.map((time) => ({ from: time, to: time }));
}

/** The times of all rights, increasing; a time within a second of a payment is that of the payment. */
function timesOf(
  rights: readonly Window[],
  flows: ShortRateTrade["flows"],
  perYear: number,
  elapsed: number,
): number[] {
  const all = rights.flatMap(({ from, to, notice = 0 }) => {
    if (to <= from) return [from];
    // Where the price is settled with a coupon, who is paid it changes, and so does the accrued interest.
    const inside = flows.flatMap(([time]) => (notice > 0 ? [time - notice, time] : [time]));
    const within = inside.filter((time) => time > from + ONE_SECOND && time < to - ONE_SECOND);
    const edges = [from, ...within.toSorted((a, b) => a - b), to];
    const past = from === 0 ? elapsed : 0;
    const rate = perYear * Math.max(1, SHORTEST_WINDOW / (to - from + past));
    return edges.slice(1).flatMap((end, i) => {
      const length = end - edges[i] + (i === 0 ? past : 0);
      // A whole number of dates stays one whatever rounding does to times.
      const count = Math.max(1, Math.ceil(length * rate - 1e-6));
      return Array.from({ length: count + 1 }, (_, k) => edges[i] + ((end - edges[i]) * k) / count);
    });
  });
  const snapped = all.map((time) => atFlow(time, flows));
  const sorted = snapped.toSorted((a, b) => a - b);
  return sorted.filter((time, i) => i === 0 || time - sorted[i - 1] >= ONE_SECOND);
}

/** The time of a payment within a second of a time, or that time. */
const atFlow = (time: number, flows: ShortRateTrade["flows"]): number =>
  flows.find(([paid]) => Math.abs(paid - time) < ONE_SECOND)?.[0] ?? time;

const isAt =
  (time: number) =>
  ({ from, to }: RedemptionRight): boolean =>
    from - ONE_SECOND < time && time < to + ONE_SECOND;

/** Tells whether a bond has rights that must be exercised with a period of notice. */
export function hasNotice(product: RatesProduct): boolean {
  return product.kind === "bond" && [...product.calls, ...product.puts].some(({ notice }) => notice > 0);
}

/** A price that is exchanged for a bond, accrued interest included, and when. */
interface Settled {
  readonly settlement: number;
  readonly price: number;
}

/**
 * Returns the price of the calls, or of the puts, at a time that is best for who has them; undefined where there is
 * none, or only some that are settled with the bond's last payment or later. @throws SpecError calls, or puts, that are
 * exercised at one time with different periods of notice
 */
function best(
  rights: readonly RedemptionRight[],
  time: number,
  bond: Bond,
  of: (a: number, b: number) => number,
): Settled | undefined {
  const own = rights.filter(isAt(time));
  if (own.length === 0) return undefined;
  const [{ notice }] = own;
  if (own.some((other) => other.notice !== notice))
    throw new SpecError(
      "calls, puts: rights of the same side that are exercised at one time with different periods of notice; " +
        "give each window of calls, or of puts, the same notice, or end one before the next begins",
    );
  return settledAt({ notice, price: own.map(({ price }) => price).reduce(of) }, time, bond);
}

/**
 * Returns the price and the settlement time of a right that is exercised at a given time; undefined where the
 * settlement is not before the bond's last payment.
 */
export function settledAt(
  { notice, price }: Pick<RedemptionRight, "notice" | "price">,
  time: number,
  bond: Bond,
): Settled | undefined {
  const { flows } = bond;
  const settlement = atFlow(time + notice, flows);
  if (settlement > flows[flows.length - 1][0] - ONE_SECOND) return undefined;
  return { settlement, price: price + accruedAt(bond, settlement) };
}
