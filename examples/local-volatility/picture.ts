/**
 * Prices the book and draws it, to docs/local-volatility.svg: the surface, and the implied volatilities of the priced European options
 * as dots on the smile that the surface was made from.
 */
import { readFileSync, writeFileSync } from "node:fs";

import { openDevice, parseBook, priceBook, type TradeResult } from "feynkac";
import { impliedVolatility as smile, RATE as rate, SPOT as spot, YIELD } from "./smile.ts";

interface Written {
  readonly market: {
    readonly underlyings: {
      readonly INDEX: {
        readonly volatility: {
          readonly surface: {
            readonly times: readonly number[];
            readonly spots: readonly number[];
            readonly volatility: readonly (readonly number[])[];
          };
        };
      };
    };
  };
  readonly trades: readonly {
    readonly id: string;
    readonly payoff: "call" | "put";
    readonly strike: number;
    readonly expiry: number;
    readonly exercise: string;
  }[];
}

const text = readFileSync(new URL("book.json", import.meta.url), "utf8");
const book = JSON.parse(text) as Written;
const { times, spots, volatility: sigma } = book.market.underlyings.INDEX.volatility.surface;

/** The normal distribution, by Simpson's rule from 0: 1e-10 where it is wanted. */
function normalCdf(x: number): number {
  const n = 200;
  const h = x / n;
  const density = (u: number): number => Math.exp(-0.5 * u * u) / Math.sqrt(2 * Math.PI);
  let sum = density(0) + density(x);
  for (let i = 1; i < n; i++) sum += (i % 2 === 1 ? 4 : 2) * density(i * h);
  return 0.5 + (sum * h) / 3;
}

function blackScholes(sign: 1 | -1, strike: number, t: number, sigma: number): number {
  const forward = spot * Math.exp((rate - YIELD) * t);
  const deviation = sigma * Math.sqrt(t);
  const d = Math.log(forward / strike) / deviation + 0.5 * deviation;
  return Math.exp(-rate * t) * sign * (forward * normalCdf(sign * d) - strike * normalCdf(sign * (d - deviation)));
}

/** The volatility at which Black and Scholes' formula gives a price, by bisection. */
function implied(sign: 1 | -1, strike: number, t: number, price: number): number {
  let [low, high] = [0.01, 2];
  for (let i = 0; i < 60; i++) {
    const middle = 0.5 * (low + high);
    if (blackScholes(sign, strike, t, middle) < price) low = middle;
    else high = middle;
  }
  return 0.5 * (low + high);
}

interface Dot {
  readonly strike: number;
  readonly expiry: number;
  readonly implied: number;
}

async function pricedDots(): Promise<Dot[]> {
  using device = await openDevice();
  const { results } = await priceBook(parseBook(text), { device, greeks: "none" });
  const values = new Map(results.map((result: TradeResult) => [result.id, result.value]));
  return book.trades
    .filter(({ exercise }) => exercise === "european")
    .map(({ id, payoff, strike, expiry }) => {
      const value = values.get(id);
      if (typeof value !== "number") throw new Error(`${id} has no price`);
      return { strike, expiry, implied: implied(payoff === "call" ? 1 : -1, strike, expiry, value) };
    });
}

const [WIDTH, HEIGHT, TOP, BOTTOM] = [430, 330, 46, 46];
/** From low volatility to high: light to dark, one hue. */
const SCALE = ["#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b"];
const [LEAST, MOST] = [0.14, 0.5];

function colourOf(value: number): string {
  const place = Math.min(Math.max((value - LEAST) / (MOST - LEAST), 0), 1) * (SCALE.length - 1);
  const i = Math.min(Math.floor(place), SCALE.length - 2);
  const channel = (colour: string, k: number): number => Number.parseInt(colour.slice(1 + 2 * k, 3 + 2 * k), 16);
  const mixed = [0, 1, 2].map((k) =>
    Math.round(channel(SCALE[i]!, k) + (place - i) * (channel(SCALE[i + 1]!, k) - channel(SCALE[i]!, k))),
  );
  return `rgb(${mixed.join()})`;
}

interface Axes {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

function axes(left: number, right: number, xs: readonly [number, number], ys: readonly [number, number]): Axes {
  return {
    x: (value) => left + ((right - left) * (value - xs[0])) / (xs[1] - xs[0]),
    y: (value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (value - ys[0])) / (ys[1] - ys[0]),
  };
}

const label = (x: number, y: number, words: string, anchor: string): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" class="tick" text-anchor="${anchor}">${words}</text>`;

/** The volatilities that the book gives, a cell each: its corners halfway to the neighbours. */
function heatMap(): string {
  const shown = spots.filter((level) => level >= 2700 && level <= 6300);
  const halfway = (values: readonly number[]): number[] => [
    values[0]!,
    ...values.slice(1).map((value, i) => 0.5 * (value + values[i]!)),
    values.at(-1)!,
  ];
  const [edgesT, edgesS] = [halfway(times), halfway(shown)];
  const { x, y } = axes(52, WIDTH - 78, [times[0]!, times.at(-1)!], [shown[0]!, shown.at(-1)!]);
  const cells = times.flatMap((_, j) =>
    shown.map((level, i) => {
      const [left, right, top, bottom] = [x(edgesT[j]!), x(edgesT[j + 1]!), y(edgesS[i + 1]!), y(edgesS[i]!)] as const;
      const value = sigma[j]![spots.indexOf(level)]!;
      return `<rect x="${left.toFixed(1)}" y="${top.toFixed(1)}" width="${(right - left + 0.3).toFixed(1)}" height="${(bottom - top + 0.3).toFixed(1)}" fill="${colourOf(value)}"/>`;
    }),
  );
  const xTicks = [0, 0.5, 1, 1.5, 2].map((t) => label(x(t), HEIGHT - BOTTOM + 18, String(t), "middle"));
  const yTicks = [3000, 3500, 4000, 4500, 5000, 5500, 6000].map((s) => label(44, y(s) + 4, String(s), "end"));
  const line = `<line x1="${x(0)}" x2="${x(2)}" y1="${y(spot).toFixed(1)}" y2="${y(spot).toFixed(1)}" class="spot"/>`;
  return [
    `<text x="52" y="24" class="title">Given: local volatility σ(t, S)</text>`,
    ...cells,
    line,
    ...xTicks,
    ...yTicks,
    label((x(0) + x(2)) / 2, HEIGHT - 8, `years; the index on the left, today at ${spot}`, "middle"),
    colourBar(WIDTH - 64),
  ].join("\n");
}

function colourBar(left: number): string {
  const { y } = axes(0, 1, [0, 1], [LEAST, MOST]);
  const cells = Array.from({ length: 36 }, (_, i) => {
    const [low, high] = [LEAST + ((MOST - LEAST) * i) / 36, LEAST + ((MOST - LEAST) * (i + 1)) / 36];
    return `<rect x="${left}" y="${y(high).toFixed(1)}" width="12" height="${(y(low) - y(high) + 0.3).toFixed(1)}" fill="${colourOf(0.5 * (low + high))}"/>`;
  });
  const ticks = [0.2, 0.3, 0.4, 0.5].map((value) => label(left + 17, y(value) + 4, `${100 * value} %`, "start"));
  return [...cells, ...ticks].join("\n");
}

const EXPIRY_COLOURS = ["#9ecae1", "#4292c6", "#1966a8", "#08306b"];

/** Implied volatilities: the smile as a line, what the priced options imply as dots. */
function smiles(dots: readonly Dot[]): string {
  const [low, high] = [3100, 5900];
  const { x, y } = axes(WIDTH + 46, 2 * WIDTH - 40, [low, high], [14, 32]);
  const expiries = [...new Set(dots.map(({ expiry }) => expiry))];
  const grid = [14, 18, 22, 26, 30].map(
    (tick) =>
      `<line x1="${x(low)}" x2="${x(high)}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}" class="grid"/>${label(x(low) - 8, y(tick) + 4, `${tick} %`, "end")}`,
  );
  const ticks = [3500, 4000, 4500, 5000, 5500].map((s) => label(x(s), HEIGHT - BOTTOM + 18, String(s), "middle"));
  const curves = expiries.map((expiry, k) => {
    const points = Array.from({ length: 57 }, (_, i) => low + 50 * i).map(
      (strike) => `${x(strike).toFixed(1)},${y(100 * smile(strike, expiry)).toFixed(1)}`,
    );
    return `<polyline points="${points.join(" ")}" stroke="${EXPIRY_COLOURS[k]}" class="curve"/>`;
  });
  const marks = dots.map(
    ({ strike, expiry, implied: value }) =>
      `<circle cx="${x(strike).toFixed(1)}" cy="${y(100 * value).toFixed(1)}" r="3" fill="${EXPIRY_COLOURS[expiries.indexOf(expiry)]}"/>`,
  );
  const legend = expiries.map((expiry, k) => {
    const at = TOP + 18 + 20 * k;
    return `<circle cx="${2 * WIDTH - 14}" cy="${at}" r="3" fill="${EXPIRY_COLOURS[k]}"/>${label(2 * WIDTH - 4, at + 4, `${expiry} y`, "start")}`;
  });
  return [
    `<text x="${x(low)}" y="24" class="title">Priced: implied volatility, on the smile behind</text>`,
    ...grid,
    ...ticks,
    label((x(low) + x(high)) / 2, HEIGHT - 8, "strike", "middle"),
    ...curves,
    ...marks,
    ...legend,
  ].join("\n");
}

const dots = await pricedDots();
const worst = Math.max(...dots.map(({ strike, expiry, implied: value }) => Math.abs(value - smile(strike, expiry))));
console.log(`implied volatilities: ${(1e4 * worst).toFixed(1)} basis points from the smile at most`);
// The surface is a table of 14 times and 26 spots, linear and cubic between them, and the smile bends most where time is short.
if (worst > 0.001) throw new Error("the priced options do not give back the smile");

const STYLE = `text { font-family: system-ui, sans-serif; fill: #333 } .title { font-size: 14px; font-weight: 600 } .tick { font-size: 11px }
.grid { stroke: #ddd } .spot { stroke: #999; stroke-dasharray: 3 3 } .curve { fill: none; stroke-width: 1.4 }`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * WIDTH + 50} ${HEIGHT}" role="img" aria-label="A surface of local volatility, and the implied volatilities it gives">
<style>${STYLE}</style>
<rect width="100%" height="100%" fill="#fff"/>
${heatMap()}
${smiles(dots)}
</svg>
`;
writeFileSync(new URL("../../docs/local-volatility.svg", import.meta.url), svg);
