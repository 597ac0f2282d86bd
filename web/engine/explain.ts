/** Explains a change of the book's value, as a waterfall for each currency. */
import type { Device } from "../../src/device/index.ts";
import { readBook } from "../../src/book/index.ts";
import { EXPLAIN_TERMS, explainBook, type ExplainTerm, type ExplainTotals } from "../../src/pricing/index.ts";
import type { WaterfallChart } from "../../src/output/charts/index.ts";
import type { SessionBook } from "./book.ts";
import type { ExplainAnswer, ExplainRequest } from "./protocol.ts";
import { readFiles } from "./read.ts";

type Plain = Readonly<Record<string, unknown>>;

export async function explainChange(
  { method, after: files, move }: ExplainRequest,
  book: SessionBook,
  options: { readonly device: Device; readonly precision: "f64" | "f32"; readonly signal: AbortSignal },
): Promise<ExplainAnswer> {
  const before = book.written;
  const later = files === undefined ? movedBook(before, move ?? NO_MOVE) : await plainOf(files);
  const report = await explainBook(readBook(before), readBook(later), { ...options, method });
  const { explained, failed, totals, results } = report;
  const reasons = results.flatMap(({ id, status, error, reason }) =>
    status === "explained" || status === "matured" ? [] : [`${id ?? "–"}: ${error?.message ?? reason ?? status}`],
  );
  return { charts: totals.map((total) => waterfall(total, EXPLAIN_TERMS[method])), explained, failed, reasons };
}

async function plainOf(files: NonNullable<ExplainRequest["after"]>): Promise<Plain> {
  const { header, entries } = await readFiles(files);
  return { ...header, trades: entries };
}

const NAMES: Readonly<Record<ExplainTerm, string>> = {
  theta: "time (theta)",
  delta: "spot (delta)",
  gamma: "spot² (gamma)",
  vega: "volatility (vega)",
  rho: "rates (rho)",
  exDividend: "dividends paid",
  dividends: "dividend forecast",
  thetaTime: "time²",
  charm: "spot × time",
  vanna: "spot × volatility",
  volga: "volatility²",
  veta: "volatility × time",
  rhoSpot: "rate × spot",
  rhoTime: "rate × time",
  rhoVolatility: "rate × volatility",
  rhoRate: "rate²",
  dividendCross: "dividends × others",
  time: "time",
  spot: "spot",
  volatility: "volatility",
  rate: "rates",
  credit: "credit",
  skew: "skew of quotes",
  curvature: "curvature of quotes",
  smileRest: "rest of the smile",
  correlation: "correlations",
  cross: "all together",
};

/** Terms below this part of the largest are shown as one. */
const FOLDED = 0.01;
const sum = (steps: readonly { readonly value: number }[]): number =>
  steps.reduce((total, { value }) => total + value, 0);

function waterfall(total: ExplainTotals, terms: readonly ExplainTerm[]): WaterfallChart {
  const { currency, before, after, cash, terms: values, unexplained, trading } = total;
  const small = 1e-6 * Math.max(Math.abs(before), Math.abs(after), 1e-9);
  const steps = [
    ...terms.map((name) => ({ label: NAMES[name], value: values[name] ?? 0 })),
    { label: "not explained", value: unexplained },
    { label: "trading", value: trading },
    { label: "cash received", value: -cash },
  ].filter(({ value }) => Math.abs(value) > small);
  const largest = Math.max(...steps.map(({ value }) => Math.abs(value)), 0);
  const folded = steps.filter(({ value }) => Math.abs(value) < FOLDED * largest);
  const shown = folded.length < 2 ? steps : steps.filter((step) => !folded.includes(step));
  const rest = folded.length < 2 ? [] : [{ label: `${folded.length} smaller terms`, value: sum(folded) }];
  return {
    kind: "waterfall",
    title: `Why the value changed, ${currency}`,
    unit: currency,
    steps: [
      { label: "before", value: before, isTotal: true },
      ...shown,
      ...rest,
      { label: "after", value: after, isTotal: true },
    ],
  };
}

const NO_MOVE = { days: 0, spot: 0, volatility: 0, rate: 0 };

/** The same trades in a market that has moved. Forms of volatility and rates that are not numbers stay as they are. */
export function movedBook(book: Plain, move: NonNullable<ExplainRequest["move"]>): Plain {
  const market = book["market"] as { readonly rates: Plain; readonly underlyings: Readonly<Record<string, Plain>> };
  const plus = (value: unknown, amount: number): unknown => (typeof value === "number" ? value + amount : value);
  const rates = Object.fromEntries(Object.entries(market.rates).map(([name, rate]) => [name, plus(rate, move.rate)]));
  const underlyings = Object.fromEntries(
    Object.entries(market.underlyings).map(([name, underlying]) => {
      const spot = (underlying["spot"] as number) * (1 + move.spot);
      const { volatility } = underlying;
      return [
        name,
        { ...underlying, spot, ...(volatility === undefined ? {} : { volatility: plus(volatility, move.volatility) }) },
      ];
    }),
  );
  const trades = (book["trades"] as readonly Plain[]).map((trade) =>
    typeof trade["volatility"] === "number" ? { ...trade, volatility: trade["volatility"] + move.volatility } : trade,
  );
  const asOf = new Date(Date.parse(String(book["asOf"])) + move.days * 86_400_000);
  const written = String(book["asOf"]).includes("T") ? asOf.toISOString() : asOf.toISOString().slice(0, 10);
  return { ...book, asOf: written, market: { ...market, rates, underlyings }, trades };
}
