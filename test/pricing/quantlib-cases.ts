/** The cases of test/fixtures/quantlib, written by the generator there, as trades. */
import type { Trade } from "../../src/book/index.ts";
import { constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { readFixture } from "../support/fixtures.ts";
import { type ReferenceTrade, trade } from "./reference.ts";

export interface QuantLibCase {
  readonly type: "call" | "put";
  readonly exercise: "american" | "european";
  readonly spot: number;
  readonly strike: number;
  readonly rate: number;
  readonly yield: number;
  readonly vol: number;
  readonly maturity: number;
  readonly dividends?: readonly (readonly [time: number, cash: number])[];
  readonly price: number;
  /** How far a finer mesh moved QuantLib's own finite differences, or twice the work its fixed point. */
  readonly moved?: number;
}

export type QuantLibFixture = "american" | "american-negative" | "american-random" | "dividends";

export function quantLibCases(name: QuantLibFixture): readonly QuantLibCase[] {
  return (readFixture(`quantlib/${name}.json`) as { cases: readonly QuantLibCase[] }).cases;
}

export function tradeOf(c: QuantLibCase): Trade {
  const discrete = (c.dividends ?? []).map(([time, cash]) => ({ time, cash, proportional: 0 }));
  return trade({
    payoff: { kind: "vanilla", right: c.type, strike: c.strike },
    exercise: { kind: c.exercise },
    expiry: c.maturity,
    volatility: flatVolatility(c.vol),
    market: { spot: c.spot, rates: constant(c.rate), dividends: dividendSchedule(c.yield, discrete) },
  });
}

/** With what QuantLib's value is itself good to: 1e-9 of the fixed point, or what extrapolation moved. */
export function quantLibTrades(name: QuantLibFixture): ReferenceTrade[] {
  return quantLibCases(name).map((c, i) => ({
    trade: { ...tradeOf(c), id: `QuantLib ${name} ${i}` },
    expected: { price: c.price },
    tolerance: 1e-9 * c.spot + (c.moved ?? 0),
  }));
}
