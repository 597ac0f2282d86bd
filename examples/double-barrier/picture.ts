/**
 * Prices the book at every spot and draws it, to picture.svg beside it: price and delta against the spot.
 *
 *   npx tsx examples/double-barrier/picture.ts
 */
import { readFileSync, writeFileSync } from "node:fs";

import { openDevice, parseBook, priceBook } from "../../src/index.ts";

const here = (name: string): URL => new URL(name, import.meta.url);
const book = JSON.parse(readFileSync(here("book.json"), "utf8"));
const spots = Array.from({ length: 257 }, (_, i) => 70 + 0.25 * i);
const BARRIERS = [80, 125];

interface Curve {
  readonly label: string;
  readonly colour: string;
  readonly dash?: string;
}
const CURVES: Readonly<Record<string, Curve>> = {
  call: { label: "the call", colour: "#888888" },
  "knock-in": { label: "double knock-in", colour: "#d9822b" },
  "knock-out": { label: "double knock-out", colour: "#08519c" },
  "knock-out, on dates": { label: "… watched on 5 dates", colour: "#4292c6", dash: "5 3" },
};
type Point = readonly [spot: number, value: number];
type Lines = Readonly<Record<string, Point[]>>;

/** Price and delta by trade: a book for each spot, so that each has the delta that its own mesh gives. */
async function priceAll(): Promise<{ prices: Lines; deltas: Lines }> {
  using device = await openDevice({ backend: "cpu" });
  const empty = (): Lines => Object.fromEntries(Object.keys(CURVES).map((id) => [id, []]));
  const [prices, deltas] = [empty(), empty()];
  for (const spot of spots) {
    book.market.underlyings.ACME.spot = spot;
    const { results } = await priceBook(parseBook(JSON.stringify(book)), { device, greeks: "grid" });
    for (const result of results) {
      if (result.status === "error") throw new Error(result.error.message);
      prices[result.id].push([spot, result.value]);
      deltas[result.id].push([spot, result.delta as number]);
    }
  }
  return { prices, deltas };
}

const [WIDTH, HEIGHT, TOP, BOTTOM, LEFT] = [430, 330, 46, 46, 46];

/** A panel of curves with axes, at x = `left`. */
function panel(left: number, title: string, lines: Lines, yTicks: readonly number[]): string {
  const [bottom, top] = [yTicks[0], yTicks.at(-1)!];
  const [low, high] = [spots[0], spots.at(-1)!];
  const x = (spot: number): string => (left + LEFT + ((WIDTH - 70) * (spot - low)) / (high - low)).toFixed(1);
  const y = (value: number): string =>
    (HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (value - bottom)) / (top - bottom)).toFixed(1);
  const grid = yTicks.map(
    (tick) =>
      `<line x1="${x(low)}" x2="${x(high)}" y1="${y(tick)}" y2="${y(tick)}" class="grid"/>` +
      `<text x="${Number(x(low)) - 8}" y="${Number(y(tick)) + 4}" class="tick" text-anchor="end">${tick}</text>`,
  );
  const ticks = [70, 80, 90, 100, 110, 120, 130].map(
    (tick) => `<text x="${x(tick)}" y="${HEIGHT - BOTTOM + 18}" class="tick" text-anchor="middle">${tick}</text>`,
  );
  const barriers = BARRIERS.map(
    (level) => `<line x1="${x(level)}" x2="${x(level)}" y1="${y(top)}" y2="${y(bottom)}" class="barrier"/>`,
  );
  return [
    `<text x="${x(low)}" y="24" class="title">${title}</text>`,
    ...grid,
    ...ticks,
    ...barriers,
    `<text x="${x((low + high) / 2)}" y="${HEIGHT - 8}" class="tick" text-anchor="middle">spot (barriers at ${BARRIERS.join(" and ")})</text>`,
    ...Object.entries(CURVES).map(([id, curve]) => polyline(pieces(id, lines[id]), curve, x, y)),
  ].join("\n");
}

/** What is watched all the time breaks at the barriers: on them it has been hit. */
function pieces(id: string, points: readonly Point[]): Point[][] {
  if (id !== "knock-out" && id !== "knock-in") return [[...points]];
  const between = (low: number, high: number, open: boolean): Point[] =>
    points.filter(([spot]) => (open ? spot > low && spot < high : spot >= low && spot <= high));
  return [between(0, BARRIERS[0], false), between(BARRIERS[0], BARRIERS[1], true), between(BARRIERS[1], 1e9, false)];
}

function polyline(
  parts: readonly (readonly Point[])[],
  { colour, dash }: Curve,
  x: (spot: number) => string,
  y: (value: number) => string,
): string {
  const style = `stroke="${colour}" class="curve"${dash === undefined ? "" : ` stroke-dasharray="${dash}"`}`;
  return parts
    .map((part) => `<polyline points="${part.map(([spot, value]) => `${x(spot)},${y(value)}`).join(" ")}" ${style}/>`)
    .join("\n");
}

function legend(left: number): string {
  const background = `<rect x="${left - 6}" y="${TOP + 1}" width="160" height="74" fill="#fff"/>`;
  const rows = Object.values(CURVES).map(({ label, colour, dash }, k) => {
    const y = TOP + 10 + 18 * k;
    const line = `<line x1="${left}" x2="${left + 22}" y1="${y}" y2="${y}" stroke="${colour}" class="curve"${dash === undefined ? "" : ` stroke-dasharray="${dash}"`}/>`;
    return `${line}<text x="${left + 28}" y="${y + 4}" class="tick">${label}</text>`;
  });
  return [background, ...rows].join("\n");
}

const STYLE = `text { font-family: system-ui, sans-serif; fill: #333 } .title { font-size: 14px; font-weight: 600 } .tick { font-size: 11px }
.grid { stroke: #ddd } .barrier { stroke: #999; stroke-dasharray: 2 3 } .curve { fill: none; stroke-width: 1.8; stroke-linejoin: round }`;

const { prices, deltas } = await priceAll();
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * WIDTH + 10} ${HEIGHT}" role="img" aria-label="A call with two barriers, price and delta against the spot">
<style>${STYLE}</style>
<rect width="100%" height="100%" fill="#fff"/>
${panel(0, "Price of a call struck at 95, half a year", prices, [0, 5, 10, 15, 20, 25, 30, 35, 40])}
${panel(WIDTH, "Delta", deltas, [-0.5, 0, 0.5, 1, 1.5])}
${legend(LEFT + 10)}
</svg>
`;
writeFileSync(here("picture.svg"), svg);
