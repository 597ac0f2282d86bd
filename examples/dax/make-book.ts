/**
 * Writes `book.json`: 1,008 trades on the DAX of 5 July 2002, each at its quoted volatility.
 *
 *   npx tsx examples/dax/make-book.ts
 *
 * * 416 calls and puts, European and American, at every quoted strike and expiry;
 * * 384 more at the strikes halfway between, their volatility linear in the strike;
 * * 208 digitals and straddles (a payoff formula) at the quoted points.
 * Quantities are made up, and the same on every run.
 */
import { readFileSync, writeFileSync } from "node:fs";

interface Surface {
  readonly asOf: string;
  readonly underlying: string;
  readonly currency: string;
  readonly spot: number;
  readonly dividendYield: number;
  readonly daysToExpiry: readonly number[];
  readonly zeroRates: readonly number[];
  readonly strikes: readonly number[];
  /** impliedVolatility[strike][expiry] */
  readonly impliedVolatility: readonly (readonly number[])[];
}

const MS_PER_DAY = 86_400_000;

const here = (name: string): URL => new URL(name, import.meta.url);
const surface = JSON.parse(readFileSync(here("surface.json"), "utf8")) as Surface;

const dateAfter = (days: number): string =>
  new Date(Date.parse(surface.asOf) + days * MS_PER_DAY).toISOString().slice(0, 10);
const expiries = surface.daysToExpiry.map((days) => dateAfter(days));

/** Strike and volatility at a quoted strike, or (i + ½) halfway between two. */
function quoteAt(i: number, expiry: number): { strike: number; volatility: number } {
  const { strikes, impliedVolatility } = surface;
  const low = Math.floor(i);
  const weight = i - low;
  const between = (a: number, b: number): number => (weight === 0 ? a : a + weight * (b - a));
  const high = Math.min(low + 1, strikes.length - 1);
  const volatility = between(impliedVolatility[low]![expiry]!, impliedVolatility[high]![expiry]!);
  return { strike: between(strikes[low]!, strikes[high]!), volatility: Number(volatility.toFixed(6)) };
}

/** 1 … 50, either sign: longs and shorts as a desk would hold them. */
function quantityOf(index: number): number {
  const size = 1 + ((index * 37) % 50);
  return index % 3 === 2 ? -size : size;
}

type Trade = Record<string, unknown>;
const trades: Trade[] = [];

function add(kind: string, i: number, expiry: number, product: Trade, exercise: string): void {
  const { strike, volatility } = quoteAt(i, expiry);
  const id = `${kind}-${strike}-${surface.daysToExpiry[expiry]}d-${exercise === "american" ? "A" : "E"}`;
  const quantity = quantityOf(trades.length);
  const struck = "expression" in Object(product.payoff) ? {} : { strike };
  trades.push({
    id,
    underlying: surface.underlying,
    ...product,
    ...struck,
    expiry: expiries[expiry],
    exercise,
    quantity,
    volatility,
  });
}

const strikes = surface.strikes.map((_, i) => i);
const halfway = strikes.slice(0, -1).map((i) => i + 0.5);
for (const i of [...strikes, ...halfway]) {
  for (const expiry of expiries.keys()) {
    for (const payoff of ["call", "put"]) {
      for (const exercise of ["european", "american"]) add(payoff, i, expiry, { payoff }, exercise);
    }
  }
}
for (const i of strikes) {
  for (const expiry of expiries.keys()) {
    add("digital-call", i, expiry, { payoff: { digital: "call", cash: 100 } }, "european");
    const { strike } = quoteAt(i, expiry);
    add("straddle", i, expiry, { payoff: { expression: `abs(S - ${strike})`, kinks: [strike] } }, "european");
  }
}

const rates = surface.zeroRates.map((zero, i) => ({ date: expiries[i], zero }));
const market = {
  rates: { [surface.currency]: rates },
  underlyings: {
    [surface.underlying]: {
      spot: surface.spot,
      currency: surface.currency,
      dividends: { yield: surface.dividendYield },
    },
  },
};

/** One trade a line: readable in a diff. */
const lines = trades.map((trade) => `    ${JSON.stringify(trade)}`).join(",\n");
const text = `{
  "asOf": "${surface.asOf}",
  "market": ${JSON.stringify(market, undefined, 2).replaceAll("\n", "\n  ")},
  "trades": [
${lines}
  ]
}
`;
writeFileSync(here("book.json"), text);
console.log(`${trades.length} trades`);
