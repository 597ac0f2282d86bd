/**
 * Trades that show every method at work: for each method one trade of each kind that it accepts, and one on each model.
 * A kind takes the first model on which the method accepts it, and the next kind begins with the next model; a model
 * takes kinds in the same way.
 */
import { METHOD_NAMES, type MethodName, readBook } from "../../src/book/index.ts";
import type { Device } from "../../src/device/device.ts";
import { priceBook, type PricedTrade } from "../../src/index.ts";
import type { Precision } from "../../src/kernel/index.ts";
import * as draws from "../properties/company/books.ts";
import { Random } from "../properties/random.ts";

type Json = draws.Json;

/** A trade on a model by a method. */
export interface Kind {
  readonly method: MethodName;
  readonly kind: string;
  readonly model: string;
  readonly trade: Json;
}

/** A trade that a method accepts, with its value on the CPU in f64. */
export interface Accepted extends Kind {
  readonly expected: PricedTrade;
}

const random = new Random(45);
const drawn = <T>(all: Readonly<Record<string, (random: Random) => T>>): readonly (readonly [string, T])[] =>
  Object.entries(all).map(([name, draw]) => [name, draw(random)]);
const VOLATILITIES = [...drawn(draws.VOLATILITIES), ["zero", 0] as const];
const RATES = drawn(draws.RATES);

/** Two underlyings on each model of volatility, and a currency for each model of rates. */
const market: Json = {
  rates: { CHF: 0.02, ...Object.fromEntries(RATES) },
  underlyings: Object.fromEntries(
    VOLATILITIES.flatMap(([name, volatility]) => [
      [name, { spot: 100, currency: "CHF", volatility }],
      [`${name}2`, { spot: 95, currency: "CHF", volatility, dividends: { yield: 0.02 } }],
    ]),
  ),
  credit: Object.fromEntries(VOLATILITIES.map(([name]) => [name, { spread: 0.02 }])),
  correlations: VOLATILITIES.map(([name]) => [name, `${name}2`, 0.4]),
};

/** A kind with its models, and a model with its kinds, in the order in which they are tried. */
const rows = [
  ...kindsOf(draws.OPTIONS, VOLATILITIES, (name) => ({ underlying: name })),
  ...kindsOf({ convertible: draws.convertible }, VOLATILITIES, (name) => ({ underlying: name })),
  ...kindsOf(draws.BASKETS, VOLATILITIES, (name) => ({ underlyings: [name, `${name}2`] })),
  ...kindsOf(draws.RATES_TRADES, RATES, (name) => ({ currency: name })),
];

function kindsOf(
  products: Readonly<Record<string, (random: Random) => Json>>,
  models: readonly (readonly [string, unknown])[],
  placeOf: (model: string) => Json,
): readonly (readonly Omit<Kind, "method">[])[] {
  const terms = drawn(products);
  const inTurn = <T>(list: readonly T[], first: number): readonly T[] =>
    list.map((_, j) => list[(first + j) % list.length]);
  const one = ([kind, trade]: readonly [string, Json], [model]: readonly [string, unknown]) => ({
    kind,
    model,
    trade: { ...placeOf(model), ...trade },
  });
  return [
    ...terms.map((term, i) => inTurn(models, i).map((model) => one(term, model))),
    ...models.map((model, i) => inTurn(terms, i).map((term) => one(term, model))),
  ];
}

export const nameOf = ({ kind, model, method }: Kind): string => `${kind} on ${model} by ${method}`;

/** Prices trades by the methods that they name, and returns their results in this order. */
export async function priceKinds(
  all: readonly Kind[],
  device: Device,
  precision: Precision,
): Promise<readonly (PricedTrade | string)[]> {
  const results: (PricedTrade | string)[] = [];
  for (const method of METHOD_NAMES) {
    const places = [...all.keys()].filter((k) => all[k].method === method);
    const trades = places.map((k) => ({ id: String(k), ...all[k].trade }));
    if (trades.length === 0) continue;
    const book = readBook({ asOf: "2026-11-20", market, trades });
    const priced = await priceBook(book, { device, precision, method, accuracy: { relative: 1e-3 } });
    for (const [i, result] of priced.results.entries())
      results[places[i]] = result.status === "ok" ? result : result.error.message;
  }
  return results;
}

/** Returns one trade for each kind and method that some model allows, priced on the CPU. */
export async function oneOfEach(cpu: Device): Promise<readonly Accepted[]> {
  const accepted: Accepted[] = [];
  let left = METHOD_NAMES.flatMap((method) => rows.map((row) => row.map((one) => ({ method, ...one }))));
  while (left.length > 0) {
    const tried = left.map(([first]) => first);
    const results = await priceKinds(tried, cpu, "f64");
    left = left.flatMap(([first, ...others], i) => {
      const expected = results[i];
      const isKnown = accepted.some((one) => nameOf(one) === nameOf(first));
      if (typeof expected !== "string" && !isKnown) accepted.push({ ...first, expected });
      return typeof expected === "string" && others.length > 0 ? [others] : [];
    });
  }
  return accepted;
}
