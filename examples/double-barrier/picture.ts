/**
 * Prices the book at every spot and draws it, to picture.svg beside it: price and delta against the spot.
 *
 *   npx tsx examples/double-barrier/picture.ts
 */
import { readFileSync, writeFileSync } from "node:fs";

import { openDevice, parseBook, priceBook } from "feynkac";
import { type Curve, figure, type Panel } from "../plot.ts";

const here = (name: string): URL => new URL(name, import.meta.url);
const book = JSON.parse(readFileSync(here("book.json"), "utf8"));
const spots = Array.from({ length: 257 }, (_, i) => 70 + 0.25 * i);
const BARRIERS = [80, 125];

const LABELS: Readonly<Record<string, Pick<Curve, "label" | "style">>> = {
  call: { label: "call", style: "reference" },
  "knock-out": { label: "knocked out" },
  "knock-in": { label: "knocked in" },
  "knock-out, on dates": { label: "out, on 5 dates", style: "dashed" },
};

type Points = [spot: number, value: number][];

/** Price and delta by trade: a book for each spot, so that each has the delta that its own mesh gives. */
async function priceAll(): Promise<Map<string, { prices: Points; deltas: Points }>> {
  using device = await openDevice({ backend: "cpu" });
  const lines = new Map(Object.keys(LABELS).map((id) => [id, { prices: [] as Points, deltas: [] as Points }]));
  for (const spot of spots) {
    book.market.underlyings.ACME.spot = spot;
    const { results } = await priceBook(parseBook(JSON.stringify(book)), { device, greeks: "grid" });
    for (const result of results) {
      if (result.status === "error") throw new Error(result.error.message);
      const line = lines.get(result.id)!;
      // On a barrier the delta jumps.
      const isBroken = BARRIERS.includes(spot) && !["call", "knock-out, on dates"].includes(result.id);
      line.prices.push([spot, result.value]);
      line.deltas.push([spot, isBroken ? Number.NaN : result.delta!]);
    }
  }
  return lines;
}

const lines = await priceAll();

function panel(title: string, which: "prices" | "deltas", range: readonly [number, number]): Panel {
  return {
    title,
    x: { label: "spot" },
    y: { label: which === "prices" ? "EUR" : "", range },
    curves: [...lines].map(([id, line]) => ({ ...LABELS[id]!, points: line[which] })),
    marks: BARRIERS.map((level) => ({ x: level, label: `${level}` })),
  };
}

writeFileSync(
  here("picture.svg"),
  figure("A call with two barriers, price and delta against the spot", [
    panel("Price of a call struck at 95, half a year", "prices", [0, 40]),
    panel("Delta", "deltas", [-0.5, 1.5]),
  ]),
);
