/** The implied volatility that the market of a trade gives, and its local volatility. */
import type { Trade } from "../../src/book/index.ts";
import { calibrationCharts, type Chart } from "../../src/output/charts/index.ts";
import { formula } from "../../src/kernel/index.ts";
import { discountFactor, impliedVolatility } from "../../src/market/index.ts";
import { hostNormalCdf } from "../../src/market/models/index.ts";
import type { SessionBook } from "./book.ts";
import { timeUnit, timesInWords } from "./pictures.ts";
import type { Pricer } from "./pricer.ts";

const EXPIRIES = [1 / 12, 0.25, 0.5, 0.75, 1, 1.5, 2];
const MONEYNESS = [0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3];

/** The implied volatilities of a trade's underlying: quotes of trades, or what its model implies. */
export async function impliedSurface(trade: Trade, book: SessionBook, pricer: Pricer): Promise<Chart[]> {
  const { name } = trade.underlying;
  const { [name]: fit } = book.market.calibration.underlyings;
  const fitted = fit === undefined ? [] : calibrationCharts({ underlyings: { [name]: fit }, rates: {} });
  const quoted = quotesOf(name, book);
  const local = localMap(trade);
  return [...fitted, ...(quoted ?? (await modelSurface(trade, pricer))), ...(local === undefined ? [] : [local])];
}

/** Where trades have volatilities of their own, these are the surface. */
function quotesOf(name: string, book: SessionBook): Chart[] | undefined {
  const cells = new Map<number, Map<number, number>>();
  for (const parsed of book.parsed) {
    if (!parsed.ok || parsed.trade.kind !== undefined) continue;
    const { underlying, volatility, payoff, expiry } = parsed.trade;
    if (underlying.name !== name || volatility === underlying.volatility) continue;
    if (volatility.kind !== "deterministic" || payoff.kind !== "vanilla") continue;
    const row = cells.get(expiry) ?? new Map<number, number>();
    row.set(payoff.strike, 100 * impliedVolatility(volatility.sigma, expiry));
    cells.set(expiry, row);
  }
  const expiries = [...cells.keys()].sort((a, b) => a - b);
  const strikes = [...new Set([...cells.values()].flatMap((row) => [...row.keys()]))].sort((a, b) => a - b);
  if (expiries.length < 2 || strikes.length < 2) return undefined;
  const values = expiries.map((expiry) => strikes.map((strike) => cells.get(expiry)?.get(strike) ?? null));
  return charts(name, expiries, strikes, values, "quoted");
}

/** European options priced under the model, and the volatility that Black's formula needs for the same price. */
async function modelSurface(trade: Trade, pricer: Pricer): Promise<Chart[]> {
  const { underlying, volatility } = trade;
  const strikes = MONEYNESS.map((part) => part * underlying.spot);
  const asked = EXPIRIES.flatMap((expiry) =>
    strikes.flatMap((strike) => (["call", "put"] as const).map((right) => vanilla(trade, right, strike, expiry))),
  );
  const results = await pricer.price(asked, { greeks: "none", accuracy: 1e-6 });
  const values = EXPIRIES.map((expiry, t) =>
    strikes.map((strike, k) => {
      const at = 2 * (t * strikes.length + k);
      const [call, put] = [results[at]?.value, results[at + 1]?.value];
      if (call === undefined || put === undefined) return null;
      const discount = discountFactor(underlying.rates, expiry);
      const forward = strike + (call - put) / discount;
      const sigma = blackVolatility(Math.min(call, put) / discount, forward, strike, expiry, call < put);
      return sigma === undefined ? null : 100 * sigma;
    }),
  );
  const model = { heston: "Heston's model", sabr: "SABR", cev: "CEV", displaced: "a displaced diffusion" };
  const source = model[volatility.kind as keyof typeof model] ?? "the book's volatility";
  return charts(underlying.name, EXPIRIES, strikes, values, `implied by ${source}`);
}

function vanilla(trade: Trade, right: "call" | "put", strike: number, expiry: number): Trade {
  const { underlying, volatility } = trade;
  const { correlations } = trade.assets === undefined ? trade : {};
  const payoff = { kind: "vanilla", right, strike } as const;
  const terms = { payoff, expiry, exercise: { kind: "european" }, barriers: [], quantity: 1 } as const;
  return { id: "surface", underlying, volatility, ...terms, ...(correlations === undefined ? {} : { correlations }) };
}

/** The implied volatility of an undiscounted call or put on a forward, by 60 bisections of 0 … 5. */
export function blackVolatility(
  price: number,
  forward: number,
  strike: number,
  expiry: number,
  isCall: boolean,
): number | undefined {
  const intrinsic = Math.max(isCall ? forward - strike : strike - forward, 0);
  if (!(price > intrinsic + 1e-9 * strike) || price >= (isCall ? forward : strike)) return undefined;
  let [low, high] = [0, 5];
  for (let step = 0; step < 60; step++) {
    const sigma = (low + high) / 2;
    const width = sigma * Math.sqrt(expiry);
    const d = Math.log(forward / strike) / width + width / 2;
    const sign = isCall ? 1 : -1;
    const value = sign * (forward * hostNormalCdf(sign * d) - strike * hostNormalCdf(sign * (d - width)));
    if (value < price) low = sigma;
    else high = sigma;
  }
  return low;
}

function charts(
  name: string,
  expiries: readonly number[],
  strikes: readonly number[],
  values: readonly (readonly (number | null)[])[],
  source: string,
): Chart[] {
  const inWords = timesInWords(expiries);
  const { name: time, perYear } = timeUnit(Math.max(...expiries));
  const isQuoted = source === "quoted";
  return [
    {
      kind: "plot",
      title: `Implied volatility of ${name}, ${source}`,
      x: { label: "strike" },
      y: { label: "volatility, % per √year" },
      colours: "ordered",
      series: expiries.map((_, t) => ({
        label: inWords[t],
        style: isQuoted ? "dots" : "line",
        points: strikes.map((strike, k) => [strike, values[t][k] ?? Number.NaN] as const),
      })),
    },
    {
      kind: "contour",
      title: `The same as a surface`,
      x: { label: "strike", values: strikes },
      y: { label: `expiry, ${time}`, values: expiries.map((expiry) => expiry * perYear) },
      values,
      unit: "% per √year",
    },
  ];
}

/** Fitted surfaces reach further than what can be seen or was quoted. */
const NEAR = [0.4, 2.2] as const;

/** σ(S, t) on a grid, where the volatility depends on both. */
function localMap({ volatility, underlying, expiry }: Trade): Chart | undefined {
  const title = `Local volatility of ${underlying.name}`;
  const map = (times: readonly number[], spots: readonly number[], at: (t: number, s: number) => number): Chart => ({
    kind: "contour",
    title,
    x: { label: `spot (${underlying.currency})`, values: spots },
    y: { label: "years from today", values: times },
    values: times.map((_, t) => spots.map((_, s) => 100 * at(t, s))),
    unit: "% per √year",
  });
  if (volatility.kind === "surface") {
    const { times, spots, volatility: nodes } = volatility.surface;
    const near = spots.flatMap((spot, s) =>
      spot > NEAR[0] * underlying.spot && spot < NEAR[1] * underlying.spot ? [s] : [],
    );
    const at = near.length > 1 ? near : spots.map((_, s) => s);
    return map(
      times,
      at.map((s) => spots[s]),
      (t, s) => nodes[t][at[s]] + (volatility.added ?? 0),
    );
  }
  if (volatility.kind !== "local") return undefined;
  const sigma = formula(volatility.expression, ["S", "t"]);
  const times = Array.from({ length: 9 }, (_, i) => (expiry * i) / 8);
  const spots = MONEYNESS.map((part) => part * underlying.spot);
  return map(times, spots, (t, s) => sigma(spots[s], times[t] + (volatility.start ?? 0)));
}
