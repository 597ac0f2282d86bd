/** Prices the book, prints what each option is worth and what of that is the right to exercise early, and draws exercise.svg. */
import { readFileSync, writeFileSync } from "node:fs";

import { type Device, openDevice, priceBook, type PricedTrade, readBook, type Scenarios } from "feynkac";
import { type Curve, figure, type Panel } from "../plot.ts";

interface TradeEntry {
  readonly id: string;
  readonly underlying: string;
  readonly payoff: "call" | "put";
  readonly strike: number;
  readonly expiry: string;
  readonly exercise: "american" | "european";
}

interface BookFile {
  readonly asOf: string;
  readonly market: {
    readonly underlyings: Record<
      string,
      { readonly spot: number; readonly dividends: { discrete: { date: string }[] } }
    >;
  };
  readonly trades: readonly TradeEntry[];
}

const book = JSON.parse(readFileSync(new URL("book.json", import.meta.url), "utf8")) as BookFile;

const european = (trade: TradeEntry): TradeEntry => ({ ...trade, exercise: "european" });

function find(id: string): TradeEntry {
  const trade = book.trades.find((one) => one.id === id);
  if (trade === undefined) throw new Error(`the book has no ${id}`);
  return trade;
}

async function priced(
  device: Device,
  trades: readonly TradeEntry[],
  scenarios?: Partial<Scenarios>,
): Promise<PricedTrade[]> {
  const plain = { ...book, trades, ...(scenarios && { scenarios }) };
  const { results } = await priceBook(readBook(plain), { device, accuracy: { relative: 1e-6 } });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** What each option is worth, and its European twin. */
async function printTable(device: Device): Promise<void> {
  const american = await priced(device, book.trades);
  const twins = await priced(device, book.trades.map(european));
  const row = (cells: readonly string[]): string =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(26) : cell.padStart(9))).join("");
  console.log(row(["trade", "value", "European", "early", "delta", "gamma", "theta", "vega"]));
  american.forEach(({ id, value, delta, gamma, theta, vega }, i) => {
    const fixed = (x: number | null, digits: number): string => x?.toFixed(digits) ?? "–";
    const early = value - twins[i]!.value;
    console.log(
      row([
        id,
        fixed(value, 3),
        fixed(twins[i]!.value, 3),
        fixed(early, 3),
        fixed(delta, 4),
        fixed(gamma, 4),
        fixed(theta, 2),
        fixed(vega, 2),
      ]),
    );
  });
}

const range = (from: number, to: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));

/** values[time][spot] of one trade, at prices of its underlying and years from today. */
async function ladder(
  device: Device,
  trade: TradeEntry,
  spots: readonly number[],
  time: readonly number[] = [0],
): Promise<number[][]> {
  const { spot } = book.market.underlyings[trade.underlying]!;
  const [result] = await priced(device, [trade], { time, spot: spots.map((price) => price / spot - 1) });
  return (result?.scenarios ?? []).map((cube) => cube.map((bySpot) => bySpot[0]?.[0] ?? Number.NaN));
}

const payoff = ({ payoff: right, strike }: TradeEntry, spot: number): number =>
  Math.max(right === "call" ? spot - strike : strike - spot, 0);

type Values = readonly number[];

const curve = (label: string, spots: Values, values: Values, style?: Curve["style"]): Curve => ({
  label,
  points: spots.map((spot, i) => [spot, values[i]!] as const),
  ...(style && { style }),
});

/** The price of an option, above its payoff, and the European one, which may fall below. */
async function valuePanel(device: Device, trade: TradeEntry, title: string, spots: Values): Promise<Panel> {
  const [american] = await ladder(device, trade, spots);
  const [twin] = await ladder(device, european(trade), spots);
  const paid = spots.map((spot) => payoff(trade, spot));
  return {
    ...against(trade, title),
    curves: [
      curve("American", spots, american!),
      curve("European", spots, twin!, "dashed"),
      curve("payoff", spots, paid, "reference"),
    ],
  };
}

/** What an option is worth above its European twin. */
async function premiumPanel(
  device: Device,
  trades: readonly TradeEntry[],
  title: string,
  spots: Values,
): Promise<Panel> {
  const curves: Curve[] = [];
  for (const trade of trades) {
    const [american] = await ladder(device, trade, spots);
    const [twin] = await ladder(device, european(trade), spots);
    const label = `${trade.payoff}, to ${trade.expiry.slice(0, 7)}`;
    curves.push(
      curve(
        label,
        spots,
        american!.map((value, i) => value - twin![i]!),
      ),
    );
  }
  return { ...against(trades[0]!, title), curves };
}

function against({ underlying }: TradeEntry, title: string): Omit<Panel, "curves"> {
  const { spot } = book.market.underlyings[underlying]!;
  return { title, x: { label: `spot of ${underlying}` }, y: { label: "EUR" }, marks: [{ x: spot, label: "today" }] };
}

const yearsTo = (date: string): number => (Date.parse(date) - Date.parse(book.asOf)) / (365 * 86_400_000);

/** Half a minute: before an ex-date, and after it. */
const INSTANT = 1e-6;

/** When to look: all over the life, and on both sides of each ex-date. */
function datesOf({ expiry, underlying }: TradeEntry, count: number): { times: number[]; exDates: number[] } {
  const end = yearsTo(expiry);
  const { discrete } = book.market.underlyings[underlying]!.dividends;
  const exDates = discrete.map(({ date }) => yearsTo(date)).filter((time) => time < end);
  const around = exDates.flatMap((time) => [time - INSTANT, time]);
  const times = [...range(0, end * (1 - 1 / count), count), ...around];
  return { times: times.sort((a, b) => a - b), exDates };
}

/**
 * Where exercise begins: two prices beyond it are continued to where value − payoff is nothing. That grows like the square of the distance, and
 * its root like the distance itself (`power` ½); just before an ex-date it is a straight line (1). NaN where no price looked at is exercised.
 */
function boundary(trade: TradeEntry, spots: Values, values: Values, power: 0.5 | 1): number {
  const inwards = trade.payoff === "put" ? spots.map((_, i) => i) : spots.map((_, i) => spots.length - 1 - i);
  const excess = (i: number): number => Math.max(values[i]! - payoff(trade, spots[i]!), 0);
  const first = inwards.findIndex((i) => payoff(trade, spots[i]!) === 0 || excess(i) > 0.0025);
  const [a, b] = first <= 0 ? [] : inwards.slice(first, first + 2);
  if (a === undefined || b === undefined) return Number.NaN;
  const [here, further] = [excess(a) ** power, excess(b) ** power];
  return spots[a]! - (here * (spots[b]! - spots[a]!)) / (further - here);
}

/** The prices at which the two options are exercised, over their lives: the put below its curve, the call above its dots. */
async function boundaryPanel(device: Device, put: TradeEntry, call: TradeEntry, title: string): Promise<Panel> {
  const { times, exDates } = datesOf(put, 160);
  const [strike, before] = [put.strike, exDates.map((time) => time - INSTANT)];
  const below = range(0.4 * strike, 1.02 * strike, 125);
  const above = range(0.98 * strike, 1.8 * strike, 165);
  const points = async (trade: TradeEntry, spots: Values, dates: Values, power: 0.5 | 1): Promise<Curve["points"]> => {
    const values = await ladder(device, trade, spots, dates);
    return dates.map((time, t) => [time, boundary(trade, spots, values[t]!, power)] as const);
  };
  return {
    title,
    x: { label: "years from today" },
    y: { label: `spot of ${put.underlying}` },
    marks: exDates.map((x) => ({ x, label: "ex" })),
    curves: [
      { label: "put: exercise below", points: await points(put, below, times, 0.5) },
      {
        label: "call: above, just before ex",
        style: "dots",
        points: await points(call, above, before, 1),
      },
      {
        label: "strike",
        style: "reference",
        points: [
          [0, strike],
          [yearsTo(put.expiry), strike],
        ],
      },
    ],
  };
}

// The processor, so that the picture is the same wherever it is made.
using device = await openDevice({ backend: "cpu" });
await printTable(device);
const spots = range(60, 140, 81);
const struckAt100 = ["put-100-2028-05", "put-100-2027-05", "call-100-2028-05", "call-100-2027-05"];
const panels = [
  await valuePanel(device, find("NORD-put-100-2028-05"), "Put at 100, to May 2028", spots),
  await premiumPanel(
    device,
    struckAt100.map((name) => find(`NORD-${name}`)),
    "What the right to exercise early is worth",
    spots,
  ),
  await boundaryPanel(
    device,
    find("NORD-put-100-2028-05"),
    find("NORD-call-100-2028-05"),
    "When to exercise: cash dividends",
  ),
  await boundaryPanel(
    device,
    find("BASKET-put-250-2028-06"),
    find("BASKET-call-250-2028-06"),
    "When to exercise: proportional dividends",
  ),
];
writeFileSync(
  new URL("exercise.svg", import.meta.url),
  figure("American options on stocks that pay dividends: their values, and where they are exercised", panels, {
    columns: 2,
  }),
);
