/** Families whose trades the property checks draw (`tools/properties`), with their closed forms. */
import { closedFormProperties } from "../../properties/closed-form-properties.ts";
import { bookOf } from "../../properties/contract.ts";
import { hybridProperties } from "../../properties/hybrid-properties.ts";
import type { Property } from "../../properties/property.ts";
import type { Random } from "../../properties/random.ts";
import { type Case, type Companion, type Family, type Json, type Known, type ReferenceKind } from "../case.ts";

const ALL: readonly Property[] = [...closedFormProperties, ...hybridProperties];

/** The samples of a property that have an exact value, and a check with the given words. */
function drawn(random: Random, property: Property, words: string): Case | undefined {
  const sample = property.draw(random);
  if (sample === undefined) return undefined;
  const { contracts, compare } = sample;
  const book = bookOf(contracts) as {
    market: { rates: Json; underlyings: Record<string, Json>; correlations?: [string, string, number][] };
    trades: readonly Json[];
  };
  const trades = book.trades.map(({ id: _, ...trade }): Json => ({ ...trade, underlying: "A" }));
  const names = Object.keys(book.market.underlyings);
  if (names.length !== 1) return undefined;
  const known = (others: readonly Known[]) => {
    const values = [{ value: 0, error: 0 }, ...others].map(({ value, error }) => ({ value, estimate: error }));
    return compare(values)[0];
  };
  if (words !== "" && !known(contracts.slice(1).map(() => ({ value: 0, error: 0 }))).check.includes(words))
    return undefined;
  const { currency: _, ...underlying } = book.market.underlyings[names[0]];
  const [{ spot, method }] = contracts;
  return {
    rates: Object.values(book.market.rates)[0],
    underlyings: { A: underlying },
    ...(book.market.correlations === undefined ? {} : { correlations: [["A", "C", book.market.correlations[0][2]]] }),
    trade: trades[0],
    ...(method === undefined ? {} : { method }),
    companions: trades.slice(1).map((trade, i): Companion => ({
      trade,
      ...(contracts[i + 1].method === undefined ? {} : { method: contracts[i + 1].method }),
    })),
    scale: spot,
    reference: (others) => {
      const { expected = NaN } = known(others);
      return { value: expected, error: others.reduce((sum, { error }) => sum + error, 0) };
    },
  };
}

/** A family of one property; of its checks those with `words`. */
function of(
  name: string,
  property: string,
  draws: string,
  words = "",
  reference: ReferenceKind = "closed form",
): Family {
  const own = ALL.find((one) => one.name === property);
  if (own === undefined) throw new Error(`no property ${property}`);
  return { name, reference, draws, draw: (random) => drawn(random, own, words) };
}

export const propertyFamilies: readonly Family[] = [
  of("European: calls, puts, digitals, formulas", "European", "volatilities 0.5 to 120 %, two days to 15 years"),
  of("European under a large variance", "wide", "volatilities 30 to 130 %, 1 to 15 years"),
  of("American, never exercised", "never exercised", "rates and yields to ±10 %"),
  of("knock-outs, one barrier", "barriers", "levels from 1e-4 to 2.5 deviations away", "one barrier, knock-out"),
  of("knock-ins, one barrier", "barriers", "levels from 1e-4 to 2.5 deviations away", "one barrier, knock-in"),
  of("knock-outs and knock-ins, two barriers", "barriers", "levels from 1e-4 to 2.5 deviations away", "two barriers"),
  of("rebates at the hit, American digitals", "touches", "levels from 1e-4 to 2.5 deviations away"),
  of("European under CEV volatility", "CEV", "β 0 to 0.95, volatilities 0.5 to 120 %"),
  of("European under a displaced diffusion", "displaced diffusion", "shifts 0 to 2 spots"),
  of("cash dividends on one date", "one date", "dividends 0.1 to 60 % of the spot", "dividends", "quadrature"),
  of("a barrier on one date", "one date", "levels within 1.5 deviations", "one date: barrier", "quadrature"),
  of("exercise on one date", "one date", "from 10 % of the life to expiry", "one date: exercise", "quadrature"),
  of("Hull and White's rate with an asset, European", "Hull–White, European", "15 years, σ of the rate to 2 %"),
];
