/** Prices the book and draws it, to docs/dax.svg: what was quoted, and what the right to exercise early adds to each put. */
import { readFileSync, writeFileSync } from "node:fs";

import { openDevice, parseBook, priceBook } from "feynkac";

interface Surface {
  readonly daysToExpiry: readonly number[];
  readonly strikes: readonly number[];
  readonly spot: number;
  readonly impliedVolatility: readonly (readonly number[])[];
}

interface Curve {
  readonly label: string;
  readonly points: readonly (readonly [number, number])[];
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
const surface = JSON.parse(read("surface.json")) as Surface;

/** From short expiries to long ones: one hue, darker with time. */
const COLOURS = ["#9ecae1", "#7db8da", "#5fa6d1", "#4292c6", "#2c7cb8", "#1966a8", "#0a4f94", "#08306b"];
const [WIDTH, HEIGHT, TOP, BOTTOM] = [430, 330, 46, 46];

function quotes(): Curve[] {
  const { daysToExpiry, strikes, impliedVolatility } = surface;
  return daysToExpiry.map((days, e) => ({
    label: `${days} d`,
    points: strikes.map((strike, s) => [strike, 100 * impliedVolatility[s]![e]!] as const),
  }));
}

async function premiums(): Promise<Curve[]> {
  using device = await openDevice();
  const { results } = await priceBook(parseBook(read("book.json")), { device, greeks: "none" });
  const values = new Map(results.map(({ id, value }) => [id, value]));
  return surface.daysToExpiry.map((days) => ({
    label: `${days} d`,
    points: surface.strikes.map((strike) => {
      const [european, american] = ["E", "A"].map((exercise) => values.get(`put-${strike}-${days}d-${exercise}`));
      if (typeof european !== "number" || typeof american !== "number")
        throw new Error(`the book has no priced put at ${strike}, ${days} days`);
      return [strike, american - european] as const;
    }),
  }));
}

/** A panel of curves with axes, at x = `left`. */
function panel(left: number, title: string, unit: string, curves: readonly Curve[], yTicks: readonly number[]): string {
  const strikes = surface.strikes;
  const [low, high] = [strikes[0]!, strikes.at(-1)!];
  const [bottom, top] = [yTicks[0]!, yTicks.at(-1)!];
  const x = (strike: number): number => left + 46 + ((WIDTH - 100) * (strike - low)) / (high - low);
  const y = (value: number): number => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (value - bottom)) / (top - bottom);
  const grid = yTicks.map(
    (tick) =>
      `<line x1="${x(low)}" x2="${x(high)}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}" class="grid"/>` +
      `<text x="${x(low) - 8}" y="${(y(tick) + 4).toFixed(1)}" class="tick" text-anchor="end">${tick}${unit}</text>`,
  );
  const ticks = [3600, 4000, 4400, 4800, 5200, 5600].map(
    (tick) =>
      `<text x="${x(tick).toFixed(1)}" y="${HEIGHT - BOTTOM + 18}" class="tick" text-anchor="middle">${tick}</text>`,
  );
  const spot = `<line x1="${x(surface.spot).toFixed(1)}" x2="${x(surface.spot).toFixed(1)}" y1="${y(top)}" y2="${y(bottom)}" class="spot"/>`;
  const lines = curves.map(({ points }, k) => {
    const path = points.map(([strike, value]) => `${x(strike).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    return `<polyline points="${path}" stroke="${COLOURS[k]}" class="curve"/>`;
  });
  return [
    `<text x="${x(low)}" y="24" class="title">${title}</text>`,
    ...grid,
    ...ticks,
    `<text x="${(x(low) + x(high)) / 2}" y="${HEIGHT - 8}" class="tick" text-anchor="middle">strike (index at ${surface.spot})</text>`,
    spot,
    ...lines,
  ].join("\n");
}

function legend(left: number, curves: readonly Curve[]): string {
  const rows = curves.map(
    ({ label }, k) =>
      `<line x1="${left}" x2="${left + 18}" y1="${TOP + 18 + 20 * k}" y2="${TOP + 18 + 20 * k}" stroke="${COLOURS[k]}" class="curve"/>` +
      `<text x="${left + 24}" y="${TOP + 22 + 20 * k}" class="tick">${label}</text>`,
  );
  return [`<text x="${left}" y="${TOP + 2}" class="tick">days to expiry</text>`, ...rows].join("\n");
}

const STYLE = `text { font-family: system-ui, sans-serif; fill: #333 } .title { font-size: 14px; font-weight: 600 } .tick { font-size: 11px }
.grid { stroke: #ddd } .spot { stroke: #999; stroke-dasharray: 3 3 } .curve { fill: none; stroke-width: 1.8 }`;

const [quoted, premium] = [quotes(), await premiums()];
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * WIDTH + 70} ${HEIGHT}" role="img" aria-label="DAX options, 5 July 2002">
<style>${STYLE}</style>
<rect width="100%" height="100%" fill="#fff"/>
${panel(0, "Quoted: implied volatility", " %", quoted, [20, 30, 40, 50, 60, 70])}
${panel(WIDTH, "Priced: American put less European put, in points", "", premium, niceTicks(Math.max(...premium.flatMap(({ points }) => points.map(([, v]) => v)))))}
${legend(2 * WIDTH - 30, quoted)}
</svg>
`;
writeFileSync(new URL("../../docs/dax.svg", import.meta.url), svg);

/** 0 … a round number above `most`. */
function niceTicks(most: number): number[] {
  const step = [5, 10, 20, 50, 100, 200].find((candidate) => most / candidate <= 6) ?? 500;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, k) => k * step);
}
