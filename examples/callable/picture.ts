/** Draws the price of a callable bond, with and without its calls, by the level of rates to callable.svg. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { openDevice, priceBook, readBook } from "feynkac";
import { figure } from "../plot.ts";

const written = JSON.parse(readFileSync(join(import.meta.dirname, "book.json"), "utf8"));
const moves = Array.from({ length: 37 }, (_, i) => -0.04 + 0.005 * i);
using device = await openDevice({ backend: "cpu" });
const book = readBook({ ...written, scenarios: { rate: moves } });
const { results } = await priceBook(book, { device, greeks: "none" });

/** The values of a trade of the book by the move of the rates in %. */
function valuesOf(trade: number): (readonly [move: number, value: number])[] {
  const result = results[trade];
  if (result?.status !== "ok") throw new Error(JSON.stringify(result));
  const values = (result.scenarios ?? []).flat(3);
  return moves.map((move, i) => [100 * move, values[i] ?? Number.NaN] as const);
}

const [callable, straight] = [valuesOf(0), valuesOf(1)];
const right = straight.map(([move, value], i) => [move, value - (callable[i]?.[1] ?? Number.NaN)] as const);
const x = { label: "move of all rates, %" };
const y = { label: "for a notional of 100" };
const curves = [
  { label: "without calls", points: straight, style: "dashed" as const },
  { label: "callable", points: callable },
];
writeFileSync(
  join(import.meta.dirname, "callable.svg"),
  figure("A bond of 11¾ % that may be called from year 4 on", [
    { title: "Value", x, y, curves },
    { title: "Value of the issuer's right", x, y, curves: [{ label: "difference", points: right }] },
  ]),
);
