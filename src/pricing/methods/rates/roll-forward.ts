import type { Bond, Period, RatesExercise, RatesProduct, RatesTrade, RedemptionRight } from "../../../book/index.ts";
import { INSTANT } from "../../../market/index.ts";
import type { RatesMarket } from "./rates-market.ts";

/**
 * Returns the trade `years` later if today's forward rates are realised: paid amounts are gone, nobody has exercised,
 * and the rate of a period that has started is its forward rate. @returns undefined once nothing is left of it
 */
export function rollTerms(trade: RatesTrade, years: number, today: RatesMarket): RatesTrade | undefined {
  if (years === 0) return trade;
  if (trade.expiry < years - INSTANT) return undefined;
  const product = rollProduct(trade.product, years, today);
  return product === undefined ? undefined : { ...trade, product, expiry: left(trade.expiry, years) };
}

function rollProduct(product: RatesProduct, years: number, today: RatesMarket): RatesProduct | undefined {
  switch (product.kind) {
    case "bond": {
      const bond = rollBond(product.bond, years);
      if (bond.flows.length === 0) return undefined;
      return { ...product, bond, calls: rollRights(product.calls, years), puts: rollRights(product.puts, years) };
    }
    case "bondOption": {
      const exercise = rollExercise(product.exercise, years);
      return exercise && { ...product, bond: rollBond(product.bond, years), exercise };
    }
    case "capFloor": {
      const periods = rollPeriods(product.periods, years);
      if (periods.length === 0) return undefined;
      const begun = product.periods.find(({ start, end }) => start < years - INSTANT && end > years + INSTANT);
      const fixing = begun === undefined ? undefined : begun.start < 0 ? product.fixing : forwardRateOf(begun, today);
      return { ...product, periods, fixing };
    }
    case "swaption": {
      const exercise = rollExercise(product.exercise, years);
      return exercise && { ...product, periods: rollPeriods(product.periods, years), exercise };
    }
    default:
      return product satisfies never;
  }
}

/** Returns the simple forward rate of a period. */
export function forwardRateOf({ start, end }: Period, market: RatesMarket): number {
  return Math.expm1(market.logDiscount(start) - market.logDiscount(end)) / (end - start);
}

const left = (time: number, years: number): number => (time - years < INSTANT ? 0 : time - years);

/** Coupons of the day itself are paid: exercise is ex coupon. */
function rollBond({ flows, coupons, notional }: Bond, years: number): Bond {
  return {
    flows: flows.filter(([time]) => time > years + INSTANT).map(([time, amount]) => [time - years, amount] as const),
    coupons: rollPeriods(coupons, years),
    notional,
  };
}

function rollPeriods<P extends Period>(periods: readonly P[], years: number): P[] {
  return periods
    .filter(({ end }) => end > years + INSTANT)
    .map((period) => ({ ...period, start: period.start - years, end: period.end - years }));
}

function rollRights(rights: readonly RedemptionRight[], years: number): RedemptionRight[] {
  return rights
    .filter(({ to }) => to > years - INSTANT)
    .map((right) => ({ ...right, from: Math.max(right.from - years, 0), to: left(right.to, years) }));
}

function rollExercise(exercise: RatesExercise, years: number): RatesExercise | undefined {
  if (exercise.kind === "american")
    return exercise.to < years - INSTANT
      ? undefined
      : { kind: "american", from: Math.max(exercise.from - years, 0), to: left(exercise.to, years) };
  const times = exercise.times.filter((time) => time > years - INSTANT).map((time) => left(time, years));
  return times.length === 0 ? undefined : { kind: "dates", times };
}
