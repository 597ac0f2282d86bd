/**
 * Knock-ins with early exercise as trades: test/fixtures/quantlib/knock-in.json and
 * test/fixtures/knock-in/knock-in.json, written by the generators there.
 */
import type { BarrierType, Trade } from "../../src/book/index.ts";
import { constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { readFixture } from "../support/fixtures.ts";
import { trade } from "./reference.ts";
import { barrier } from "./reference-barriers.ts";

export interface KnockInTrade {
  readonly trade: Trade;
  readonly price: number;
  /** What the source itself is good to. */
  readonly moved: number;
  /** Of a mirrored price. */
  readonly greeks?: Readonly<Record<"delta" | "gamma" | "theta" | "vega" | "rho", number>>;
}

interface Market {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly vol: number;
  readonly maturity: number;
}

function tradeIn({ spot, rate, yield: q, vol, maturity }: Market, discrete: readonly (readonly number[])[] = []) {
  const dividends = discrete.map(([part, cash]) => ({ time: part * maturity, cash, proportional: 0 }));
  return (parts: Partial<Trade>): Trade =>
    trade({
      expiry: maturity,
      volatility: flatVolatility(vol),
      market: { spot, rates: constant(rate), dividends: dividendSchedule(q, dividends) },
      ...parts,
    });
}

interface OneLevel extends Market {
  readonly type: "call" | "put";
  readonly side: "up" | "down";
  readonly strike: number;
  readonly level: number;
  readonly rebate: number;
  readonly price: number;
  readonly moved: number;
  readonly mirrored?: number;
}

/** American options with one knock-in, by a first passage to QuantLib's American prices. */
export function firstPassageTrades(): KnockInTrade[] {
  const { cases } = readFixture("quantlib/knock-in.json") as { cases: readonly OneLevel[] };
  return cases.map((c, i) => {
    const type = `${c.side}-and-in` as const;
    const price = c.mirrored ?? c.price;
    const greeks = c.mirrored === undefined ? {} : { greeks: c as unknown as Required<KnockInTrade>["greeks"] };
    const one = tradeIn(c)({
      id: `first passage ${i}`,
      payoff: { kind: "vanilla", right: c.type, strike: c.strike },
      exercise: { kind: "american" },
      barriers: [barrier({ type, level: c.level, to: c.maturity, rebate: c.rebate })],
    });
    return { trade: one, price, moved: c.mirrored === undefined ? c.moved : 1e-9, ...greeks };
  });
}

interface Several extends Market {
  readonly name: string;
  readonly right: "call" | "put";
  readonly cash?: number;
  readonly strike: number;
  readonly exercise?: readonly number[];
  readonly levels: readonly {
    readonly type: BarrierType;
    readonly level: number;
    readonly from: number;
    readonly to: number;
    readonly dates?: readonly number[];
    readonly rebate: number;
  }[];
  readonly rebate: number;
  readonly dividends?: readonly (readonly [number, number])[];
  readonly price: number;
  readonly moved: number;
}

/** Windows, dates, several levels, knock-outs beside, dividends, Bermudan exercise, by an explicit scheme. */
export function explicitTrades(): KnockInTrade[] {
  const { cases } = readFixture("knock-in/knock-in.json") as { cases: readonly Several[] };
  return cases.map((c) => {
    const years = (parts: readonly number[]): number[] => parts.map((part) => part * c.maturity);
    const { right, strike, cash } = c;
    const one = tradeIn(
      c,
      c.dividends,
    )({
      id: c.name,
      payoff: cash === undefined ? { kind: "vanilla", right, strike } : { kind: "digital", right, strike, cash },
      exercise: c.exercise === undefined ? { kind: "american" } : { kind: "bermudan", times: years(c.exercise) },
      barriers: c.levels.map(({ type, level, from, to, dates, rebate }) =>
        barrier({
          type,
          level,
          from: from * c.maturity,
          to: to * c.maturity,
          rebate: type.endsWith("in") ? c.rebate : rebate,
          monitoring: dates === undefined ? { kind: "continuous" } : { kind: "discrete", times: years(dates) },
        }),
      ),
    });
    return { trade: one, price: c.price, moved: c.moved };
  });
}
