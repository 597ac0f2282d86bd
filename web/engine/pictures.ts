/** Pictures of a trade, of the book or of the methods: each prices what it needs, and returns charts. */
import { describeTrade, type Payoff, type PricedTrade, type Trade } from "../../src/book/index.ts";
import type { Chart, PlotChart, Point } from "../../src/output/charts/index.ts";
import { rollForward } from "../../src/pricing/index.ts";
import type { Underlying } from "../../src/market/index.ts";
import type { SessionBook } from "./book.ts";
import { impliedSurface } from "./picture-volatility.ts";
import { pathDensity, quantizationGrid, sparseGridPoints } from "./picture-methods.ts";
import type { Pricer } from "./pricer.ts";

export type PictureName =
  | "profile"
  | "surface"
  | "scenarios"
  | "exercise"
  | "volatility"
  | "errors"
  | "paths"
  | "quantization"
  | "sparse-grid";

export interface PictureRequest {
  readonly name: PictureName;
  /** The index of the trade that is shown. */
  readonly place: number;
}

export async function drawPicture(
  { name, place }: PictureRequest,
  book: SessionBook,
  pricer: Pricer,
): Promise<Chart[]> {
  switch (name) {
    case "profile":
      return profile(tradeAt(book, place), pricer);
    case "surface":
      return spotTimeMaps(tradeAt(book, place), pricer);
    case "scenarios":
      return scenarioMaps(book, pricer);
    case "exercise":
      return exerciseBoundary(tradeAt(book, place), pricer);
    case "volatility":
      return impliedSurface(tradeAt(book, place), book, pricer);
    case "errors":
      return errorsAgainstEstimates(book, pricer);
    case "paths":
      return pathDensity(tradeAt(book, place), pricer);
    case "quantization":
      return quantizationGrid();
    case "sparse-grid":
      return sparseGridPoints();
    default:
      return name satisfies never;
  }
}

function tradeAt(book: SessionBook, place: number): Trade {
  const parsed = book.parsed[place] ?? book.parsed.find(({ ok }) => ok);
  if (parsed === undefined) throw new RangeError("the book has no trades");
  if (!parsed.ok) throw parsed.error;
  if (parsed.trade.kind !== undefined)
    throw new RangeError("bonds and trades on rates have no pictures yet: select an option");
  return parsed.trade;
}

const range = (from: number, to: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));

/** Several factors or paths take longer: fewer points are looked at. */
function isCostly({ assets, payoff, volatility, underlying }: Trade): boolean {
  return (
    assets !== undefined ||
    underlying.shortRate !== undefined ||
    ["average", "lookback", "swing"].includes(payoff.kind) ||
    volatility.kind === "sabr" ||
    volatility.kind === "gaussianFactors"
  );
}

/** How far the pictures look: three standard deviations at most, within a factor of three. */
export function spotRange({ underlying, volatility, expiry, barriers, payoff }: Trade): readonly [number, number] {
  const { spot } = underlying;
  const sigma = volatility.kind === "deterministic" ? (volatility.sigma.values[0] ?? 0.25) : 0.3;
  const reach = Math.min(Math.max(2.6 * sigma * Math.sqrt(Math.max(expiry, 0.02)), 0.12), 1.1);
  const strike = "strike" in payoff && payoff.strike > 0 && payoff.kind !== "basket" ? payoff.strike : spot;
  const places = [spot, strike, ...barriers.map(({ level }) => level)];
  return [Math.min(...places) * Math.exp(-0.6 * reach), Math.max(...places) * Math.exp(0.6 * reach)];
}

/** The trade with its spot, or all of its spots, multiplied. */
export function movedTrade(trade: Trade, factor: number): Trade {
  const moved = (underlying: Underlying): Underlying => ({ ...underlying, spot: underlying.spot * factor });
  const { assets } = trade;
  return {
    ...trade,
    underlying: moved(trade.underlying),
    ...(assets === undefined
      ? {}
      : { assets: assets.map((asset) => ({ ...asset, underlying: moved(asset.underlying) })) }),
  };
}

const GREEKS = [
  ["value", "Value", ""],
  ["delta", "Delta", ", per 1 of spot"],
  ["gamma", "Gamma", ", per 1 of spot²"],
  ["vega", "Vega", ", a point of volatility"],
  ["theta", "Theta", ", a year"],
] as const;

/** A number in the unit of its picture. */
function shownOf(result: PricedTrade | undefined, name: (typeof GREEKS)[number][0]): number | null {
  const value = result?.[name] ?? null;
  return name === "vega" && value !== null ? 0.01 * value : value;
}

/** Value and Greeks against the spot, today and later. */
async function profile(trade: Trade, pricer: Pricer): Promise<Chart[]> {
  const costly = isCostly(trade);
  const [low, high] = spotRange(trade);
  const spots = range(low, high, costly ? 13 : 61);
  const times = costly ? [0] : [0, trade.expiry / 2, trade.expiry * 0.9];
  const inWords = timesInWords(times);
  const asked = times.flatMap((time) => {
    const later = rollForward(trade, time);
    return spots.map((spot) => later && movedTrade(later, spot / trade.underlying.spot));
  });
  const results = await pricer.price(asked, costly ? { greeks: "grid" } : {});
  const at = (time: number, name: (typeof GREEKS)[number][0]): Point[] =>
    spots.map((spot, i) => [spot, shownOf(results[time * spots.length + i], name) ?? Number.NaN]);
  const { currency, name: underlying, spot } = trade.underlying;
  return GREEKS.flatMap(([name, title, unit]): PlotChart[] => {
    const series = times.map((time, k) => ({
      label: time === 0 ? "today" : `in ${inWords[k]}`,
      points: at(k, name),
    }));
    if (!series.some(({ points }) => points.some(([, y]) => Number.isFinite(y)))) return [];
    const paid = name === "value" ? payoffLine(trade.payoff, spots) : [];
    return [
      {
        kind: "plot",
        title,
        x: { label: `spot of ${underlying} (${currency})` },
        y: { label: `${currency}${unit}` },
        series: [...series, ...paid],
        marks: [{ x: spot, label: "today" }],
      },
    ];
  });
}

function payoffLine(payoff: Payoff, spots: readonly number[]): PlotChart["series"] {
  if (payoff.kind !== "vanilla") return [];
  const { right, strike } = payoff;
  const paid = (spot: number): number => Math.max(right === "call" ? spot - strike : strike - spot, 0);
  return [{ label: "payoff", style: "reference", points: spots.map((spot) => [spot, paid(spot)] as const) }];
}

/** The unit in which all times of a picture are shown, by the longest of them. */
export function timeUnit(longest: number): { readonly name: "days" | "months" | "years"; readonly perYear: number } {
  if (longest < 0.3) return { name: "days", perYear: 365 };
  return longest < 1.99 ? { name: "months", perYear: 12 } : { name: "years", perYear: 1 };
}

/** Times in words, all in one unit. */
export function timesInWords(times: readonly number[]): string[] {
  const { name, perYear } = timeUnit(Math.max(...times));
  return times.map(
    (time) =>
      `${(time * perYear).toLocaleString("en-US", { maximumFractionDigits: name === "years" ? 2 : 1 })} ${name}`,
  );
}

/** Value, delta, gamma and vega over spot and time. */
async function spotTimeMaps(trade: Trade, pricer: Pricer): Promise<Chart[]> {
  const costly = isCostly(trade);
  const [low, high] = spotRange(trade);
  const spots = range(low, high, costly ? 9 : 41);
  const times = range(0, trade.expiry * 0.97, costly ? 4 : 17);
  const { name: time, perYear } = timeUnit(trade.expiry);
  const asked = times.flatMap((time) => {
    const later = rollForward(trade, time);
    return spots.map((spot) => later && movedTrade(later, spot / trade.underlying.spot));
  });
  const results = await pricer.price(asked, costly ? { greeks: "grid" } : {});
  const { currency, name: underlying } = trade.underlying;
  return GREEKS.slice(0, 4).flatMap(([name, title, unit]): Chart[] => {
    const values = spots.map((_, s) => times.map((_, t) => shownOf(results[t * spots.length + s], name)));
    if (values.flat().every((value) => value === null)) return [];
    return [
      {
        kind: "contour",
        title: `${title} over spot and time`,
        x: { label: `${time} from today`, values: times.map((at) => at * perYear) },
        y: { label: `spot of ${underlying} (${currency})`, values: spots },
        values,
        unit: `${currency}${unit}`,
        colours: values.flat().some((value) => (value ?? 0) < -1e-9) ? "diverging" : "sequential",
      },
    ];
  });
}

const SPOT_MOVES = [-0.2, -0.15, -0.1, -0.05, -0.02, 0, 0.02, 0.05, 0.1, 0.15, 0.2];
const VOLATILITY_MOVES = [-0.05, -0.025, 0, 0.025, 0.05];
const MOST_TRADES = 2000;

/** What the whole book gains or loses as spots and volatilities move, by currency. */
async function scenarioMaps(book: SessionBook, pricer: Pricer): Promise<Chart[]> {
  const priced = book.parsed.flatMap((parsed, i) =>
    parsed.ok && book.results[i]?.status === "ok" ? [parsed.trade] : [],
  );
  const trades = priced.flatMap((trade) => (trade.kind === undefined && !isCostly(trade) ? [trade] : []));
  const scenarios = { time: [0], spot: SPOT_MOVES, volatility: VOLATILITY_MOVES, rate: [0] };
  const used = trades.slice(0, MOST_TRADES);
  const results = await pricer.price(used, { greeks: "none" }, scenarios);
  const currencies = [...new Set(used.map(({ underlying }) => underlying.currency))];
  const failed = book.parsed.length - priced.length;
  const longer = priced.length - used.length;
  const counted = [failed > 0 ? `${failed} not priced` : "", longer > 0 ? `${longer} not shown that take longer` : ""];
  const missing = counted.filter((text) => text !== "").join(", ");
  return currencies.map((currency): Chart => {
    const sum = (s: number, v: number): number =>
      used.reduce((total, { quantity, underlying }, i) => {
        const value = results[i]?.scenarios?.[0]?.[s]?.[v]?.[0];
        return underlying.currency === currency && typeof value === "number" ? total + quantity * value : total;
      }, 0);
    const base = sum(SPOT_MOVES.indexOf(0), VOLATILITY_MOVES.indexOf(0));
    return {
      kind: "heat-map",
      title: `Gain or loss of the book, ${currency}${missing === "" ? "" : ` (${missing})`}`,
      x: { label: "move of all spots", values: SPOT_MOVES.map((move) => percent(move)) },
      y: {
        label: "move of all volatilities",
        values: VOLATILITY_MOVES.map((move) => `${percent(move)} pts`.replace("% ", "")),
      },
      values: VOLATILITY_MOVES.map((_, v) => SPOT_MOVES.map((_, s) => sum(s, v) - base)),
      unit: currency,
      colours: "diverging",
    };
  });
}

function percent(value: number): string {
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(100 * value).toLocaleString("en-US", { maximumFractionDigits: 1 })} %`;
}

/** Where an American or Bermudan option is exercised at once, over its life. */
async function exerciseBoundary(trade: Trade, pricer: Pricer): Promise<Chart[]> {
  const { payoff, exercise, underlying, expiry } = trade;
  if (exercise.kind === "european" || payoff.kind !== "vanilla")
    throw new RangeError(`${describeTrade(trade)} is not exercised early: select an American call or put`);
  const { right, strike } = payoff;
  const [low, high] = right === "put" ? [0.35 * strike, 1.02 * strike] : [0.98 * strike, 2.2 * strike];
  const spots = range(low, high, 140);
  const times =
    exercise.kind === "bermudan" ? exercise.times.filter((time) => time < expiry) : range(0, expiry * 0.995, 80);
  const scenarios = { time: times, spot: spots.map((spot) => spot / underlying.spot - 1), volatility: [0], rate: [0] };
  const [result] = await pricer.price([trade], { greeks: "none", accuracy: 1e-6 }, scenarios);
  const points = times.map((time, t): Point => [time, boundary(result, t, spots, right, strike)]);
  const discrete = underlying.dividends.discrete.filter(({ time }) => time < expiry);
  return [
    {
      kind: "plot",
      title: `Exercised at once ${right === "put" ? "below" : "above"} this spot`,
      x: { label: "years from today" },
      y: { label: `spot of ${underlying.name} (${underlying.currency})` },
      series: [
        { label: "exercise boundary", points, style: exercise.kind === "bermudan" ? "dots" : "line" },
        { label: "strike", style: "reference", points: [[0, strike] as const, [expiry, strike] as const] },
      ],
      marks: discrete.slice(0, 12).map(({ time }) => ({ x: time, label: "dividend" })),
    },
  ];
}

/** From inside the exercise region outwards: where value − payoff begins to grow, like the square of the distance. */
function boundary(
  result: PricedTrade | undefined,
  time: number,
  spots: readonly number[],
  right: "call" | "put",
  strike: number,
): number {
  const order = right === "put" ? spots.map((_, i) => i) : spots.map((_, i) => spots.length - 1 - i);
  const paid = (spot: number): number => Math.max(right === "call" ? spot - strike : strike - spot, 0);
  const excess = (i: number): number =>
    Math.sqrt(Math.max((result?.scenarios?.[time]?.[i]?.[0]?.[0] ?? Number.NaN) - paid(spots[i]), 0));
  const first = order.findIndex((i) => paid(spots[i]) === 0 || excess(i) > Math.sqrt(2.5e-5 * strike));
  if (first <= 0 || first + 1 >= order.length) return Number.NaN;
  const [a, b] = [order[first], order[first + 1]];
  const place = spots[a] - (excess(a) * (spots[b] - spots[a])) / (excess(b) - excess(a));
  return place > spots[0] && place < spots[spots.length - 1] ? place : Number.NaN;
}

/** How far values are from those on much finer meshes, against what was estimated. */
async function errorsAgainstEstimates(book: SessionBook, pricer: Pricer): Promise<Chart[]> {
  const places = book.results.flatMap((result, i) => {
    const parsed = book.parsed[i];
    return result?.status === "ok" &&
      ["fdm", "adi"].includes(result.method) &&
      parsed.ok &&
      parsed.trade.kind === undefined &&
      !isCostly(parsed.trade)
      ? [i]
      : [];
  });
  const step = Math.max(Math.ceil(places.length / 300), 1);
  const used = places.filter((_, i) => i % step === 0);
  const trades = used.map((place) => tradeAt(book, place));
  const finer = await pricer.price(trades, { greeks: "none", accuracy: 1e-8 });
  const points = used.flatMap((place, i): Point[] => {
    const result = book.results[place];
    const better = finer[i];
    if (result?.status !== "ok" || better === undefined) return [];
    return [[result.errorEstimate, Math.max(Math.abs(result.value - better.value), 1e-12)]];
  });
  if (points.length === 0) throw new RangeError("no trade of this book is priced by finite differences");
  const covered = points.filter(([estimate, error]) => error <= estimate).length;
  const ends = points.map(([estimate]) => estimate).sort((a, b) => a - b);
  const [low, high] = [ends[0] / 3, ends[ends.length - 1] * 3];
  const ratios = points.map(([estimate, error]) => Math.log10(Math.max(error / estimate, 1e-4)));
  const bins = range(-4, 1, 21);
  return [
    {
      kind: "plot",
      title: `Errors against estimates: ${covered} of ${points.length} are covered`,
      x: { label: "error estimate", scale: "log" },
      y: { label: "difference from a far finer mesh", scale: "log" },
      series: [
        { label: "a trade", style: "dots", points },
        { label: "error = estimate", style: "reference", points: [[low, low] as const, [high, high] as const] },
      ],
    },
    {
      kind: "plot",
      title: "How much of its estimate an error takes up",
      x: { label: "log₁₀ of error ÷ estimate" },
      y: { label: "trades" },
      series: [
        {
          label: "trades",
          style: "bars",
          points: bins.map((bin) => [bin, ratios.filter((ratio) => Math.abs(ratio - bin) <= 0.125).length] as const),
        },
      ],
      marks: [{ x: 0, label: "the estimate" }],
    },
  ];
}
