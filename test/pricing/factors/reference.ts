/** Reference cases of several factors as books of one trade. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BookInput } from "../../../src/book/index.ts";

interface Case {
  readonly id: string;
  readonly product: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly params: any;
  readonly expected: { readonly price?: number; readonly prices?: readonly number[] };
  /** Of the expected values. */
  readonly uncertainty_abs: number | string;
}

export interface ReferenceTrade {
  readonly id: string;
  readonly book: BookInput;
  readonly expected: number;
  readonly uncertainty: number;
  /** The largest. */
  readonly spot: number;
  readonly axes: number;
}

const load = (file: string): readonly Case[] =>
  (
    JSON.parse(readFileSync(join(import.meta.dirname, `../../fixtures/reference/${file}.json`), "utf8")) as {
      cases: Case[];
    }
  ).cases;

type Market = NonNullable<BookInput["market"]>;
type Underlying = Extract<NonNullable<Market["underlyings"]>[string], { readonly spot: number }>;
type TradeInput = BookInput["trades"][number];
type WithoutId = TradeInput extends infer T ? (T extends unknown ? Omit<T, "id"> : never) : never;

const underlying = (spot: number, volatility: NonNullable<Underlying["volatility"]>, q = 0): Underlying => ({
  spot,
  currency: "EUR",
  volatility,
  dividends: { yield: q },
});

function trade(
  { id, uncertainty_abs: uncertainty }: Case,
  suffix: string,
  market: Omit<Market, "rates"> & { readonly rate: Market["rates"][string] },
  terms: WithoutId,
  expected: number,
  axes: number,
): ReferenceTrade {
  const { rate, ...rest } = market;
  return {
    id: id + suffix,
    expected,
    uncertainty: typeof uncertainty === "number" ? uncertainty : 0,
    spot: Math.max(...Object.values(market.underlyings ?? {}).map((of) => ("spot" in of ? of.spot : 0))),
    axes,
    book: {
      asOf: "2026-01-01",
      market: { rates: { EUR: rate }, ...rest },
      trades: [{ id, ...terms }],
    },
  };
}

function hestonTrades(one: Case): readonly ReferenceTrade[] {
  const { params: p, expected } = one;
  const heston = (v0: number): Underlying["volatility"] => ({
    heston: { v0, kappa: p.kappa, theta: p.theta, sigma: p.sigma, rho: p.rho },
  });
  const points: readonly [number, number][] = p.points ?? (p.spots ?? [p.spot]).map((spot: number) => [spot, p.v0]);
  return points.map(([spot, v0], i) =>
    trade(
      one,
      `/${i}`,
      { rate: p.rate, underlyings: { A: underlying(spot, heston(v0)!, p.dividend_yield) } },
      {
        underlying: "A",
        payoff: p.option_type,
        strike: p.strike,
        expiry: p.maturity,
        ...(one.product.includes("american") ? { exercise: "american" as const } : {}),
        ...(p.barrier === undefined ? {} : { barriers: [{ type: "up-and-out" as const, level: p.barrier }] }),
      },
      expected.prices?.[i] ?? expected.price!,
      2,
    ),
  );
}

function hullWhiteTrade(one: Case): ReferenceTrade {
  const { params: p, product } = one;
  const isHeston = product.startsWith("heston");
  const volatility = isHeston
    ? { heston: { v0: p.v0, kappa: p.kappa, theta: p.theta, sigma: p.sigma, rho: p.rho } }
    : p.volatility;
  return trade(
    one,
    "",
    {
      rate: { hullWhite: { meanReversion: p.mean_reversion, volatility: p.rate_volatility, curve: p.flat_rate } },
      underlyings: { A: underlying(p.spot, volatility, p.dividend_yield) },
      correlations: [["A", "EUR", p.correlation ?? p.rate_correlations]],
    },
    { underlying: "A", payoff: p.option_type, strike: p.strike, expiry: p.maturity },
    one.expected.price!,
    isHeston ? 3 : 2,
  );
}

const NAMES = ["A", "B", "C", "D", "E"];

/** A case on several underlyings; undefined where it has more than three. */
function basketTrade(one: Case): ReferenceTrade | undefined {
  const { params: p, product } = one;
  const count: number = p.spots?.length ?? p.n_assets;
  if (count > 3) return undefined;
  const names = NAMES.slice(0, count);
  const underlyings = Object.fromEntries(
    names.map((name, i) => [
      name,
      underlying(
        p.spots?.[i] ?? p.spot_each,
        p.volatilities?.[i] ?? p.volatility_each,
        p.dividend_yields?.[i] ?? p.dividend_yield_each,
      ),
    ]),
  );
  const correlations = names.flatMap((a, i) =>
    names
      .slice(i + 1)
      .map(
        (b, k) =>
          [a, b, p.correlation_matrix?.[i][i + 1 + k] ?? p.correlation ?? p.pairwise_correlation ?? 0] as [
            string,
            string,
            number,
          ],
      ),
  );
  const right: "call" | "put" = p.option_type ?? "call";
  const payoff = product.includes("min_")
    ? { worstOf: right }
    : product.includes("max_")
      ? { bestOf: right }
      : /spread|exchange/.test(product)
        ? { spread: right }
        : product.includes("geometric")
          ? { basket: right, kind: "geometric" as const, weights: names.map(() => 1 / count) }
          : product.includes("product")
            ? { expression: names.map((_, i) => `max(S${i + 1} - ${p.strikes[i]}, 0)`).join("*") }
            : { basket: product.startsWith("bermudan") ? ("put" as const) : right, weights: p.weights };
  const dates = Array.from({ length: p.n_exercise ?? 0 }, (_, i) => ((i + 1) * p.maturity) / p.n_exercise);
  // Best-of calls of that family may be exercised at once, too.
  const exercise = product.startsWith("bermudan")
    ? p.exercise_at_zero === false
      ? dates
      : [0, ...dates]
    : product.startsWith("american")
      ? ("american" as const)
      : ("european" as const);
  return trade(
    one,
    "",
    { rate: typeof p.rate === "number" ? p.rate : 0.05, underlyings, correlations },
    {
      underlyings: names,
      payoff,
      expiry: p.maturity,
      exercise,
      ...("expression" in payoff ? {} : { strike: p.strike ?? 0 }),
    } as WithoutId,
    one.expected.price!,
    count,
  );
}

export const referenceTrades = (): readonly ReferenceTrade[] => [
  ...load("heston").flatMap(hestonTrades),
  ...load("hybrid-sabr")
    .filter(({ product }) => product.includes("hull_white"))
    .map(hullWhiteTrade),
  ...[...load("multi-asset-european"), ...load("american-multi-asset")].flatMap((one) => basketTrade(one) ?? []),
];
