/** American quotes, converted to quotes of European options by subtracting the premium of early exercise. */
import type { LocalSurface } from "../market/index.ts";
import { AmericanOptions, type AmericanMarket, flatVolatilities, isVolatilityDetermined } from "./american.ts";
import { BELOW_CASH, type FittedQuote, impliedOf, type OptionQuote } from "./option-quote.ts";

const NO_VOLATILITY =
  "the price is not between what exercise at once or certainty pays and what the highest volatility gives";
const NEAR_EXERCISE = "the price is so near to that of exercise at once that it says little of a volatility";

/** The number of times that the premium is found again under the local volatility of the European prices. */
const ROUNDS = 4;

/** Finds the local volatility of X through European volatilities; undefined if they have none. */
type LocalThrough = (implied: readonly FittedQuote[]) => LocalSurface | undefined;

/** An American quote: its index, its price, and the constant volatility of the spot that reproduces it. */
interface Quoted {
  readonly i: number;
  readonly price: number;
  readonly level: number;
}

/** The quotes of one underlying, some of which are American. */
export class AmericanQuotes {
  readonly #quotes: readonly OptionQuote[];
  readonly #market: AmericanMarket;
  readonly #options: AmericanOptions;
  #quoted: readonly Quoted[] = [];

  constructor(quotes: readonly OptionQuote[], market: AmericanMarket) {
    this.#quotes = quotes;
    this.#market = market;
    this.#options = new AmericanOptions(quotes, market);
  }

  /**
   * Returns the European volatilities of all quotes, and the early-exercise premium of the American ones as `premium`.
   * At first the premium is that under the constant volatility of the spot that reproduces each quote by itself, later
   * that under the local volatility of the previous European prices.
   */
  volatilities(localThrough: LocalThrough): readonly FittedQuote[] {
    const quotes = this.#quotes;
    let implied: readonly FittedQuote[] = this.#byThemselves();
    const biases = this.#biases(implied, localThrough);
    let change = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS; round++) {
      const local = localThrough(implied);
      if (local === undefined) return implied;
      const next = implied.slice();
      for (const { i, price, level } of this.#quoted) {
        if (implied[i].problem !== undefined) continue;
        const premium = Math.max(this.#options.premium(i, level, local) - (biases.get(i) ?? 0), 0);
        const found = europeanOf(quotes[i], price, premium);
        // Where the other quotes' volatility leaves none for this one, its own stays.
        if (found.problem === undefined) next[i] = found;
      }
      // Premiums that depend much on local volatility amplify its errors: more rounds would lead away.
      const moved = Math.max(...next.map((one, i) => Math.abs((one.implied ?? 0) - (implied[i].implied ?? 0))));
      if (moved > change) return implied;
      [implied, change] = [next, moved];
    }
    return implied;
  }

  /**
   * Returns the quotes with the prices of the American ones under a fit. `local` is the fit's local volatility of X.
   */
  repriced(fitted: readonly FittedQuote[], local: LocalSurface): readonly FittedQuote[] {
    const all = fitted.slice();
    for (const { i, level } of this.#quoted) {
      const one = fitted[i];
      const { implied, fitted: volatility, premium, problem } = one;
      if (problem !== undefined || implied === undefined || !((volatility ?? 0) > 0)) continue;
      const repriced = this.#options.black(i, volatility!) + this.#options.premium(i, level, local);
      const again = europeanOf(this.#quotes[i], repriced, premium ?? 0);
      all[i] = { ...one, repriced, repricingError: (again.implied ?? 0) - implied };
    }
    return all;
  }

  /** The volatilities of all quotes, the American ones each by itself. */
  #byThemselves(): FittedQuote[] {
    const [quotes, options] = [this.#quotes, this.#options];
    const implied = quotes.map((quote): FittedQuote => {
      if (quote.american !== true) return impliedOf(quote);
      const isBelow = quote.strike <= this.#market.affine.at(quote.time).cash;
      return { implied: undefined, fitted: undefined, ...(isBelow ? { problem: BELOW_CASH } : {}) };
    });
    const which = quotes.flatMap(({ american }, i) =>
      american === true && implied[i].problem === undefined ? [i] : [],
    );
    const prices = which.map((i) => {
      const { price, implied: sigma = Number.NaN } = quotes[i];
      return price ?? options.atLevels([i], [sigma])[0].american;
    });
    const levels = flatVolatilities(options, which, prices);
    this.#quoted = which.flatMap((i, l): Quoted[] => {
      const [price, level] = [prices[l], levels[l]];
      if (level !== undefined) return [{ i, price, level }];
      implied[i] = { ...implied[i], problem: NO_VOLATILITY };
      return [];
    });
    for (const { i, price, level } of this.#quoted) {
      const [own] = options.atLevels([i], [level]);
      const found = europeanOf(quotes[i], price, own.american - own.european);
      implied[i] = isVolatilityDetermined(options, i, level, price) ? found : { ...found, problem: NEAR_EXERCISE };
    }
    return implied;
  }

  /**
   * What premiums under a local volatility through European prices are in excess of the true ones, if the spot has a
   * constant volatility, for which they are known. With cash dividends, expiries leave open how variance is spread over
   * time, and on this the premium depends.
   */
  #biases(implied: readonly FittedQuote[], localThrough: LocalThrough): ReadonlyMap<number, number> {
    const biases = new Map<number, number>();
    const quoted = this.#quoted.filter(({ i }) => implied[i].problem === undefined);
    if (quoted.length === 0 || !this.#options.hasCash) return biases;
    const levels = quoted.map(({ level }) => level).sort((a, b) => a - b);
    const level = levels[Math.floor(levels.length / 2)];
    const prices = this.#options.atLevels(
      this.#quotes.map((_, i) => i),
      this.#quotes.map(() => level),
    );
    const flat = this.#quotes.map((quote, i) => {
      const european = { ...quote, implied: undefined, price: prices[i].european };
      return implied[i].problem === undefined ? impliedOf(european) : implied[i];
    });
    const local = localThrough(flat);
    if (local === undefined) return biases;
    for (const { i } of quoted) {
      const { american, european } = prices[i];
      biases.set(i, this.#options.premium(i, level, local) - (american - european));
    }
    return biases;
  }
}

/** The European volatility of an American quote without the premium of early exercise. */
function europeanOf(quote: OptionQuote, price: number, premium: number): FittedQuote {
  return { ...impliedOf({ ...quote, implied: undefined, price: price - premium }), premium };
}
