/** The published and recomputed cases of test/fixtures/reference, as trades. */
import type { Barrier, Exercise, ParsedTrade, Payoff, Trade, TradeResult } from "../../src/book/index.ts";
import {
  constant,
  dividendSchedule,
  type DiscreteDividend,
  flatVolatility,
  type PiecewiseConstant,
  type Underlying,
  type Volatility,
} from "../../src/market/index.ts";
import { type PricingOptions, priceTrades } from "../../src/pricing/index.ts";
import { readFixture } from "../support/fixtures.ts";
import { barrierParts, isTouch, windowParts } from "./reference-barriers.ts";

export interface Case {
  readonly id: string;
  readonly product: string;
  readonly params: Record<string, any>;
  readonly expected: Record<string, number>;
  readonly tolerance: { readonly abs: number; readonly rel: number };
}

export interface ReferenceTrade {
  readonly trade: Trade;
  readonly expected: Record<string, number>;
  /** What the case itself asks of an exact method. */
  readonly tolerance: number;
}

export function cases(family: string): readonly Case[] {
  return (readFixture(`reference/${family}.json`) as { cases: readonly Case[] }).cases;
}

/**
 * All but LVL-O-09, whose displaced diffusion goes below zero, where ours is absorbed (worth 1e-2 of spot), and
 * WIN-O-01 and WIN-O-03, which are two trades of a book each (`windowSums`).
 */
export function referenceTrades(): ReferenceTrade[] {
  return [
    ...europeans(),
    ...digitals(),
    ...americans(),
    ...bermudans(),
    ...dividends(),
    ...localVolatilities(),
    ...barriers(),
  ];
}

const europeans = (): ReferenceTrade[] => cases("european-vanilla").map((c) => reference(c, { payoff: vanilla(c) }));

const digitals = (): ReferenceTrade[] =>
  cases("digital").map((c) => {
    if (isTouch(c)) return reference(c, barrierParts(c));
    const { option_type: right, strike, cash, payoff_strike: paid } = c.params;
    if (c.product === "cash_or_nothing") return reference(c, { payoff: { kind: "digital", right, strike, cash } });
    const expression = c.product === "gap" ? `S > ${strike} ? S - ${paid} : 0` : `S < ${strike} ? S : 0`;
    return reference(c, { payoff: { kind: "expression", expression, kinks: [strike] } });
  });

const americans = (): ReferenceTrade[] => [
  ...cases("american-bermudan-1d")
    .filter(({ product }) => product.startsWith("american"))
    .map((c) => reference(c, { payoff: vanilla(c), exercise: { kind: "american" } })),
  ...cases("lsm-table").map((c) =>
    reference(
      { ...c, expected: { price: c.expected["american_price"] } },
      { payoff: vanilla(c), exercise: { kind: "american" } },
    ),
  ),
];

const bermudans = (): ReferenceTrade[] =>
  [...cases("american-bermudan-1d"), ...cases("lsm-table")]
    .filter(({ product }) => product.startsWith("bermudan"))
    .map((c) => {
      const { maturity, n_exercise: n } = c.params;
      const times = Array.from({ length: n }, (_, i) => ((i + 1) * maturity) / n);
      return reference(
        { ...c, id: c.id.replace("LSM", "LSMB") },
        { payoff: vanilla(c), exercise: { kind: "bermudan", times } },
      );
    });

const windows = (): Case[] => [...cases("barrier-window-b1"), ...cases("barrier-window-discrete")];

/** Those of one barrier, and those of two that stand together. */
const barriers = (): ReferenceTrade[] => [
  ...[...cases("barrier-single"), ...cases("barrier-double")].map((c) => reference(c, barrierParts(c))),
  ...windows().flatMap((c) => (windowParts(c).slice(1).length > 0 ? [] : [reference(c, windowParts(c)[0])])),
];

/**
 * Dead if the spot touches the barrier from either side: alive above it all the time, or below it all the time, which
 * are two trades.
 */
export const windowSums = (): { trades: readonly ReferenceTrade[]; expected: number }[] =>
  windows()
    .filter((c) => windowParts(c).length > 1)
    .map((c) => ({ trades: windowParts(c).map((parts) => reference(c, parts)), expected: c.expected["price"] }));

const dividends = (): ReferenceTrade[] =>
  cases("discrete-dividends").map((c) => {
    const exercise: Exercise = { kind: c.product.startsWith("american") ? "american" : "european" };
    const discrete = (c.params["dividends"] as number[][]).map(([time, cash, proportional = 0]) => ({
      time,
      cash,
      proportional,
    }));
    // The affine case has proportional dividends only: there it is Black and Scholes' model.
    const params = { spot: 100, volatility: c.params["volatility_of_X"], ...c.params };
    return reference({ ...c, params }, { payoff: vanilla(c), exercise, discrete });
  });

const localVolatilities = (): ReferenceTrade[] =>
  cases("local-volatility")
    .filter(({ id }) => id !== "LVL-O-09")
    .map((c) => {
      const { params } = c;
      if (c.product === "european_piecewise_constant") return piecewise(c);
      return reference(
        { ...c, params: { spot: params["forward"], dividend_yield: params["rate"], ...params } },
        { payoff: vanilla(c), volatility: localVolatility(c) },
      );
    });

function localVolatility({ product, params }: Case): Volatility {
  const { alpha, sigma, beta, shift, normal_vol } = params;
  if (product.startsWith("european_cev")) return { kind: "cev", sigma: alpha ?? sigma, beta };
  if (product === "european_displaced_diffusion") return { kind: "displaced", sigma, shift };
  return { kind: "local", expression: `${normal_vol}/S` };
}

/** The yield is piecewise too; all of it paid as one proportional dividend gives the same European price. */
function piecewise(c: Case): ReferenceTrade {
  const pieces = c.params["pieces"] as { until: number; rate: number; dividend_yield: number; volatility: number }[];
  const curve = (value: (piece: (typeof pieces)[number]) => number): PiecewiseConstant => ({
    times: pieces.slice(0, -1).map(({ until }) => until),
    values: pieces.map(value),
  });
  const paid = pieces.reduce(
    (sum, { until, dividend_yield }, i) => sum + dividend_yield * (until - (pieces[i - 1]?.until ?? 0)),
    0,
  );
  const discrete = [{ time: 1, cash: 0, proportional: -Math.expm1(-paid) }];
  return reference(c, {
    payoff: vanilla(c),
    discrete,
    rates: curve(({ rate }) => rate),
    volatility: { kind: "deterministic", sigma: curve(({ volatility }) => volatility) },
  });
}

export function vanilla({ params }: Pick<Case, "params">): Payoff {
  return { kind: "vanilla", right: params["option_type"], strike: params["strike"] };
}

export interface Parts {
  readonly payoff: Payoff;
  readonly exercise?: Exercise;
  readonly discrete?: readonly DiscreteDividend[];
  readonly rates?: PiecewiseConstant;
  readonly volatility?: Volatility;
  readonly barriers?: readonly Barrier[];
}

function reference(
  { id, params, expected, tolerance }: Case,
  { payoff, exercise = { kind: "european" }, discrete = [], rates, volatility, barriers = [] }: Parts,
): ReferenceTrade {
  const underlying: Underlying = {
    name: id,
    spot: params["spot"],
    currency: "EUR",
    volatility: undefined,
    rates: rates ?? constant(params["rate"]),
    dividends: dividendSchedule(params["dividend_yield"] ?? 0, discrete),
  };
  const trade: Trade = {
    id,
    underlying,
    volatility: volatility ?? flatVolatility(params["volatility"]),
    payoff,
    expiry: params["maturity"],
    exercise,
    barriers,
    quantity: 1,
  };
  return { trade, expected, tolerance: tolerance.abs + tolerance.rel * Math.abs(expected["price"]) };
}

/** An everyday trade, to vary. */
export function trade(parts: Partial<Trade> & { readonly market?: Partial<Underlying> } = {}): Trade {
  const { market, ...rest } = parts;
  const underlying: Underlying = {
    name: "ACME",
    spot: 100,
    currency: "EUR",
    rates: constant(0.05),
    dividends: dividendSchedule(0, []),
    volatility: undefined,
    ...market,
  };
  return {
    id: "T",
    underlying,
    volatility: flatVolatility(0.2),
    payoff: { kind: "vanilla", right: "put", strike: 100 },
    expiry: 1,
    exercise: { kind: "european" },
    barriers: [],
    quantity: 1,
    ...rest,
  };
}

export async function results(
  trades: readonly Trade[],
  options: PricingOptions,
  scenarios?: Parameters<typeof priceTrades>[1]["scenarios"],
): Promise<TradeResult[]> {
  const parsed: ParsedTrade[] = trades.map((one) => ({ ok: true, trade: one }));
  const all: TradeResult[] = [];
  for await (const batch of priceTrades(parsed, { asOf: "2026-01-01T00:00:00Z", scenarios }, options))
    all.push(...batch);
  return all;
}

/** The results of trades that all have to succeed. */
export async function priced(
  trades: readonly Trade[],
  options: PricingOptions,
  scenarios?: Parameters<typeof results>[2],
) {
  return (await results(trades, options, scenarios)).map((result) => {
    if (result.status === "error") throw new Error(`${result.id}: ${result.error.message}`);
    return result;
  });
}
