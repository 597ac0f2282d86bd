/** The charts in a report. */
import type { CurrencyTotals, Scenarios, SpotMove } from "../../book/index.ts";
import type { Chart } from "../charts/index.ts";
import { EXPIRY_BUCKETS, type ReportGroup, type ReportSummary } from "./summary.ts";

const MAX_BARS = 14;

/** Returns the charts of a report on a priced book. */
export function reportCharts(summary: ReportSummary, scenarios: Scenarios | undefined): Chart[] {
  const currencies = summary.totals.map(({ currency }) => currency);
  return [
    ...currencies.flatMap((currency) => valueByUnderlying([...summary.byUnderlying.values()], currency)),
    ...currencies.flatMap((currency) => vegaByExpiry([...summary.byExpiry.values()], currency)),
    // The first is on the first screen.
    ...allGrids(summary, scenarios).slice(1),
    ...summary.totals.flatMap(volatilityGrids),
    ...errorChart(summary),
  ];
}

/** The grids of scenarios of all currencies, that of the reporting currency first. */
export function allGrids({ reporting, totals }: ReportSummary, scenarios: Scenarios | undefined): Chart[] {
  return (reporting === undefined ? totals : [reporting, ...totals]).flatMap((one) => scenarioChart(one, scenarios));
}

function valueByUnderlying(groups: readonly ReportGroup[], currency: string): Chart[] {
  const own = groups.filter((group) => group.currency === currency);
  if (own.length < 2) return [];
  const largest = own.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const shown = largest.slice(0, MAX_BARS).map(({ name, value }) => ({ label: name, value, isTotal: true }));
  const rest = largest.slice(MAX_BARS).reduce((sum, { value }) => sum + value, 0);
  const steps = rest === 0 ? shown : [...shown, { label: "others", value: rest, isTotal: true }];
  return [{ kind: "waterfall", title: `Value by underlying, ${currency}`, unit: currency, steps }];
}

function vegaByExpiry(groups: readonly ReportGroup[], currency: string): Chart[] {
  const own = groups.filter((group) => group.currency === currency);
  const steps = EXPIRY_BUCKETS.flatMap((label) => {
    const bucket = own.find(({ name, trades, withoutVega }) => name === label && withoutVega < trades);
    return bucket === undefined ? [] : [{ label, value: bucket.vega / 100, isTotal: true }];
  });
  if (steps.length < 2) return [];
  const unit = `${currency} a point of volatility`;
  const without = own.reduce((sum, { withoutVega }) => sum + withoutVega, 0);
  const title = `Vega by expiry, ${currency}${without > 0 ? ` (without ${without} trades that have none)` : ""}`;
  return [{ kind: "waterfall", title, unit, steps }];
}

/** A move of volatility or rates in points, which are 0.01. */
const pointsText = (move: number): string =>
  `${move > 0 ? "+" : ""}${(100 * move).toLocaleString("en-US", { maximumFractionDigits: 2 })}`.replace("-", "−");

const moveText = (move: SpotMove): string => {
  const percent = (value: number): string =>
    `${value > 0 ? "+" : ""}${(100 * value).toLocaleString("en-US", { maximumFractionDigits: 2 })} %`.replace("-", "−");
  if (typeof move === "number") return percent(move);
  return Object.entries(move)
    .map(([name, value]) => `${name} ${percent(value)}`)
    .join(", ");
};

/**
 * Charts of gain or loss relative to the unmoved case at the first time, or of values if an axis has no unmoved case;
 * none if the book has no scenarios. An axis that is not drawn stands at its unmoved case, or at its first one, which
 * the title then names.
 */
function scenarioChart({ currency, scenarios: values }: CurrencyTotals, axes: Scenarios | undefined): Chart[] {
  if (values === undefined || axes === undefined || axes.spot.length < 2) return [];
  const unmoved = axes.spot.findIndex(
    (move) => move === 0 || (typeof move === "object" && Object.values(move).every((one) => one === 0)),
  );
  const [stillVolatility, stillRate] = [axes.volatility.indexOf(0), axes.rate.indexOf(0)];
  const [v0, r0] = [Math.max(stillVolatility, 0), Math.max(stillRate, 0)];
  const base = Math.min(stillVolatility, stillRate) < 0 ? undefined : values[0]?.[unmoved]?.[v0]?.[r0];
  const against = (value: number | null | undefined): number | null =>
    value === null || value === undefined ? null : value - (base ?? 0);
  const title = typeof base === "number" ? "Gain or loss" : "Value";
  const rows = axes.volatility.length > 1;
  const moved = [
    ...(rows || stillVolatility >= 0 ? [] : [`volatility ${pointsText(axes.volatility[v0])} points`]),
    ...(stillRate >= 0 ? [] : [`rate ${pointsText(axes.rate[r0])} points`]),
  ].join(", ");
  return [
    {
      kind: "heat-map",
      title: `${title} under the book's scenarios, ${currency}${moved === "" ? "" : `, at ${moved}`}`,
      x: { label: "move of the spot", values: axes.spot.map(moveText) },
      y: rows
        ? { label: "move of volatility, points", values: axes.volatility.map(pointsText) }
        : { label: "years from today", values: axes.time.map((time) => time.toFixed(2)) },
      values: rows
        ? axes.volatility.map((_, v) => axes.spot.map((_, s) => against(values[0]?.[s]?.[v]?.[r0])))
        : axes.time.map((_, t) => axes.spot.map((_, s) => against(values[t]?.[s]?.[v0]?.[r0]))),
      unit: currency,
      colours: "diverging",
    },
  ];
}

/** The most grids of a report: those of the underlyings whose vegas are largest. */
const MAX_GRIDS = 6;

/** Grids of the vegas of quotes by expiry and strike, one for each underlying that has any. */
function volatilityGrids({ currency, buckets = [] }: CurrencyTotals): Chart[] {
  const byName = new Map<string, { expiry: string; strike: number; value: number }[]>();
  for (const { factor, of, at, value } of buckets)
    if (factor === "volatility" && typeof at === "object" && at !== null) {
      const own = byName.get(of) ?? [];
      byName.set(of, own);
      own.push({ expiry: String(at.expiry), strike: at.strike, value });
    }
  const size = (cells: readonly { readonly value: number }[]): number =>
    cells.reduce((sum, { value }) => sum + Math.abs(value), 0);
  const largest = [...byName].sort(([, a], [, b]) => size(b) - size(a)).slice(0, MAX_GRIDS);
  return largest.map(([name, cells]): Chart => {
    const strikes = [...new Set(cells.map(({ strike }) => strike))].sort((a, b) => a - b);
    const expiries = [...new Set(cells.map(({ expiry }) => expiry))].sort(byTime);
    const valueAt = (expiry: string, strike: number): number | null => {
      const found = cells.find((cell) => cell.expiry === expiry && cell.strike === strike);
      return found === undefined ? null : found.value / 100;
    };
    return {
      kind: "heat-map",
      title: `Vega by quote, ${name}, ${currency} a point of volatility`,
      x: { label: "strike", values: strikes.map(String) },
      y: { label: "expiry", values: expiries },
      values: expiries.map((expiry) => strikes.map((strike) => valueAt(expiry, strike))),
      unit: currency,
      colours: "diverging",
    };
  });
}

/** Compares expiries, which are ISO dates or years. */
const byTime = (a: string, b: string): number =>
  Number.isNaN(Number(a)) || Number.isNaN(Number(b)) ? (a < b ? -1 : 1) : Number(a) - Number(b);

function errorChart({ errorBins }: ReportSummary): Chart[] {
  const first = errorBins.findIndex((count) => count > 0);
  if (first < 0) return [];
  const last = errorBins.findLastIndex((count) => count > 0);
  const points = errorBins
    .map((count, bin) => [-14 + (bin + 0.5) / 2, count] as const)
    .slice(Math.max(first - 1, 0), last + 2);
  return [
    {
      kind: "plot",
      title: "Error estimates, relative to spot",
      x: { label: "log₁₀ of the estimate ÷ spot" },
      y: { label: "trades" },
      series: [{ label: "trades", style: "bars", points }],
    },
  ];
}
