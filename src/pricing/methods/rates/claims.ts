/** Trades on rates as claims with rights on dates. */
import { SpecError } from "../../../base/errors.ts";
import type { Bond, RateQuote, RatesExercise, RatesProduct, RatesTrade, RedemptionRight } from "../../../book/index.ts";
import { ONE_SECOND } from "../../../market/index.ts";
import type { ExerciseDate, ShortRateTrade } from "../../../quadrature/rates/index.ts";
import { accruedAt } from "./bond-figures.ts";
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
export function datedTrade({ product }: RatesTrade, perYear: number, elapsed = 0): DatedTrade {
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
      return datedSwaption(product, perYear, elapsed);
    case "capFloor":
      return datedCap(product);
    default:
      return product satisfies never;
  }
}

/** A caplet is the right to sell 1 + τK, paid at the end of its period, for 1 at its start, a floorlet to buy it. */
function datedCap(product: Extract<RatesProduct, { readonly kind: "capFloor" }>): DatedTrade {
  const { right, strike, notional, periods } = product;
  const { certain } = partsOf(product);
  const open = periods.filter(({ start }) => start >= 0);
  const flows = open.map(({ start, end }) => [end, notional * (1 + strike * (end - start))] as const);
  const dates = open.map(({ start }): ExerciseDate => ({ time: start, settlement: start, floor: notional }));
  const kind = right === "cap" ? "payers" : "receivers";
  return { claim: { kind, flows: [...certain, ...flows], dates }, hasWindows: false };
}

type Swaption = Extract<RatesProduct, { readonly kind: "swaption" }>;

/** A receiver swaption buys the fixed leg with its notional for the notional, paid at the start of the swap. */
function datedSwaption(
  { right, strike, notional, periods, exercise }: Swaption,
  perYear: number,
  elapsed: number,
): DatedTrade {
  const [{ start }] = periods;
  const last = periods.length - 1;
  const coupons = periods.map(({ start: from, end }, i): readonly [number, number] => {
    return [end, notional * (strike * (end - from) + (i === last ? 1 : 0))];
  });
  const flows = start > 0 ? [[start, -notional] as const, ...coupons] : coupons;
  const dates = timesOf(windowsOf(exercise), flows, perYear, elapsed).map((time): ExerciseDate => {
    return { time, settlement: time, floor: time < start ? 0 : notional };
  });
  return { claim: { kind: right, flows, dates }, hasWindows: exercise.kind === "american" };
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

/** A sum of discounted payments, Σ coefficient·P(0, time), as pairs of time in years and coefficient. */
export type PaymentSum = readonly (readonly [time: number, coefficient: number])[];

/** Returns the present value of a sum of payments. */
export const presentValueOf = (amount: PaymentSum, market: RatesMarket): number =>
  amount.reduce((sum, [time, coefficient]) => sum + coefficient * market.discount(time), 0);

/** The right to receive (sign 1) or to pay (sign −1) flows in exchange for a fixed amount. */
export interface RateOption {
  readonly sign: 1 | -1;
  readonly expiry: number;
  /** The time at which the fixed amount is paid, at expiry or later. */
  readonly start: number;
  /** The present value of the fixed amount. */
  readonly strike: PaymentSum;
  /** The flows with their payment times and present values. */
  readonly flows: readonly { readonly time: number; readonly amount: PaymentSum }[];
  /**
   * The quoted volatility by which the option is priced, if there is one. The flows are then the forward, and for a
   * normal volatility also the annuity.
   */
  readonly quote: RateQuote | undefined;
}

/** A trade as a sum of certain payments and European options. */
export interface ReplicatingParts {
  readonly certain: PaymentSum;
  readonly options: readonly RateOption[];
}

/** Returns the payments and European options of which a trade consists. Each of its rights must have a single date. */
export function partsOf(product: RatesProduct): ReplicatingParts {
  switch (product.kind) {
    case "bond":
      return { certain: product.bond.flows, options: [] };
    case "bondOption":
      return { certain: [], options: [bondOption(product)] };
    case "capFloor":
      return capFloor(product);
    case "swaption":
      return { certain: [], options: [swaption(product)] };
    default:
      return product satisfies never;
  }
}

/** Returns the only exercise date of a bond option or swaption. */
export function expiryOf({ exercise }: Extract<RatesProduct, { kind: "bondOption" | "swaption" }>): number {
  return exercise.kind === "american" ? exercise.to : exercise.times[0];
}

function bondOption(product: Extract<RatesProduct, { kind: "bondOption" }>): RateOption {
  const expiry = expiryOf(product);
  const { bond, right, strike, strikeIs } = product;
  const paid = strikeIs === "clean" ? strike + accruedAt(bond, expiry) : strike;
  const flows = bond.flows.filter(([time]) => time > expiry + ONE_SECOND);
  return {
    sign: right === "call" ? 1 : -1,
    expiry,
    start: expiry,
    strike: [[expiry, paid]],
    flows: flows.map(([time, amount]) => ({ time, amount: [[time, amount]] })),
    quote: undefined,
  };
}

/** A caplet is a put on 1 + τK paid at the end of its period against 1 at its start, and a floorlet such a call. */
function capFloor(product: Extract<RatesProduct, { kind: "capFloor" }>): ReplicatingParts {
  const { right, strike, notional, periods, fixing, quote } = product;
  const certain: [number, number][] = [];
  const options: RateOption[] = [];
  for (const { start, end } of periods) {
    const accrual = end - start;
    if (start < 0) {
      const spread = right === "cap" ? (fixing ?? 0) - strike : strike - (fixing ?? 0);
      certain.push([end, notional * accrual * Math.max(spread, 0)]);
      continue;
    }
    const annuity: PaymentSum = [[end, notional * accrual]];
    const floating: PaymentSum = [
      [start, notional],
      [end, -notional],
    ];
    if (quote !== undefined)
      options.push(quoted({ sign: right === "cap" ? 1 : -1, expiry: start, floating, annuity, strike, quote }));
    else
      options.push({
        sign: right === "cap" ? -1 : 1,
        expiry: start,
        start,
        strike: [[start, notional]],
        flows: [{ time: end, amount: [[end, notional * (1 + strike * accrual)]] }],
        quote,
      });
  }
  return { certain, options };
}

function swaption(product: Extract<RatesProduct, { kind: "swaption" }>): RateOption {
  const { right, strike, notional, quote } = product;
  const expiry = expiryOf(product);
  const periods = product.periods.filter(({ start }) => start > expiry - ONE_SECOND);
  const [{ start }] = periods;
  const { end } = periods[periods.length - 1];
  if (quote !== undefined) {
    const annuity = periods.map((period): [number, number] => [period.end, notional * (period.end - period.start)]);
    const floating: PaymentSum = [
      [start, notional],
      [end, -notional],
    ];
    return quoted({ sign: right === "payer" ? 1 : -1, expiry, floating, annuity, strike, quote });
  }
  return {
    sign: right === "payer" ? -1 : 1,
    expiry,
    start,
    strike: [[start, notional]],
    flows: periods.map((period) => ({
      time: period.end,
      amount: [[period.end, notional * (strike * (period.end - period.start) + (period.end === end ? 1 : 0))]],
    })),
    quote,
  };
}

interface Quoted {
  readonly sign: 1 | -1;
  readonly expiry: number;
  readonly floating: PaymentSum;
  readonly annuity: PaymentSum;
  readonly strike: number;
  readonly quote: RateQuote;
}

/** The right to exchange floating for fixed interest, F·A + shift·A against (K + shift)·A. */
function quoted({ sign, expiry, floating, annuity, strike, quote }: Quoted): RateOption {
  const times = (factor: number): PaymentSum => annuity.map(([time, amount]) => [time, factor * amount]);
  const shift = quote.kind === "normal" ? 0 : quote.shift;
  const forward = { time: expiry, amount: [...floating, ...times(shift)] };
  const flows = quote.kind === "normal" ? [forward, { time: expiry, amount: annuity }] : [forward];
  return { sign, expiry, start: expiry, strike: times(strike + shift), flows, quote };
}
