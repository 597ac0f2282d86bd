/**
 * European volatilities from prices of American options. First, each quote is taken by itself: the constant volatility
 * at which the American option has the quoted price gives its early-exercise premium. Then the premium is that under
 * the local volatility of all quotes together, and the European price is the quote minus the premium. This is repeated,
 * since the local volatility follows from European prices.
 *
 * Source: Burkovska et al., *Calibration to American options: numerical investigation of the de-Americanization
 * method*, Quant. Finance 18 (2018), for the first part. Verified: test/calibration/american.
 */
import { runOnHost } from "../kernel/index.ts";
import {
  type AffineSpot,
  type ForwardCurve,
  integrate,
  type LocalSurface,
  rowMean,
  rowVolatility,
} from "../market/index.ts";
import { logNormalOption } from "../market/models/index.ts";
import { earlyExerciseKernel, STEP_RANGE_INTEGERS, QUOTE_REALS, STEP_REALS, WORK_ARRAYS } from "./early-exercise.ts";

/**
 * The market of American quotes: the spot with its dividends, and the rates. The spot is S = scale·X + cash
 * (`AffineSpot`), where X is a martingale without dividends.
 */
export interface AmericanMarket {
  readonly affine: AffineSpot;
  readonly rates: ForwardCurve;
}

/** An American option on the spot. */
interface AmericanOption {
  /** The time to expiry in years. */
  readonly time: number;
  readonly strike: number;
  /** The sign: 1 for a call, −1 for a put. */
  readonly sign: number;
}

/** Nodes of the mesh; steps of time, and those that each dividend adds. */
const [NODES, STEPS, LEAST_STEPS] = [201, 50, 10];
/** The extent of the mesh in deviations, and how many of them lie beyond the strike. */
const [EXTENT, BEYOND] = [5, 3] as const;
/**
 * The number of implicit steps after expiry and after each dividend, which damp the oscillations that a kink causes.
 */
const DAMPING = 4;

/** The American and the European price of an option under the same volatility. */
interface Prices {
  readonly american: number;
  readonly european: number;
}

/** The steps of one expiry, as the kernel reads them, with the times of their ends from 0 on. */
interface Steps {
  readonly rows: readonly number[];
  readonly times: readonly number[];
}

/**
 * Steps that become shorter towards expiry and towards each dividend, where exercise leaves a kink that the first
 * steps damp.
 */
function stepsTo(expiry: number, { affine, rates }: AmericanMarket): Steps {
  const ends = [...new Set([...affine.times.filter((time) => time < expiry), expiry])];
  const steps = ends.flatMap((end, i) => {
    const from = i > 0 ? ends[i - 1] : 0;
    const count = LEAST_STEPS + Math.ceil((STEPS * (end - from)) / expiry);
    return Array.from({ length: count }, (_, n) => {
      return { time: from + (end - from) * (1 - (1 - n / count) ** 2), theta: n >= count - DAMPING ? 1 : 0.5 };
    });
  });
  const times = [...steps.map(({ time }) => time), expiry];
  const rows = times.flatMap((time, n) => {
    const [now, before] = [affine.at(time), affine.before(time)];
    const next = times[Math.min(n + 1, steps.length)];
    const decay = integrate(rates, next) - integrate(rates, time);
    return [next - time, decay, steps[n]?.theta ?? 1, now.scale, now.cash, before.scale, before.cash];
  });
  return { rows, times };
}

/**
 * The American options of one underlying, prepared for pricing under a constant volatility of the spot or a local
 * volatility of X (`AmericanMarket`). Functions refer to options by index.
 */
export class AmericanOptions {
  readonly #options: readonly AmericanOption[];
  readonly #market: AmericanMarket;
  readonly #steps = new Map<number, Steps>();

  constructor(options: readonly AmericanOption[], market: AmericanMarket) {
    this.#options = options;
    this.#market = market;
    for (const { time } of options) if (!this.#steps.has(time)) this.#steps.set(time, stepsTo(time, market));
  }

  /**
   * Returns American prices of the options with the indices `which`, each with its own constant volatility of the spot,
   * and the European prices with the same volatilities.
   */
  atLevels(which: readonly number[], levels: readonly number[]): readonly Prices[] {
    return this.#solve(which, levels).map((own, i) => {
      const [intrinsic, european] = [this.intrinsic(which[i]), this.#closedForm(which[i], levels[i]) ?? own.european];
      if (own.american <= intrinsic) return { american: intrinsic, european: own.european };
      return { american: Math.max(european + own.american - own.european, intrinsic), european };
    });
  }

  /** The European price of option l at a constant volatility of the spot; undefined with cash dividends to come. */
  #closedForm(l: number, sigma: number): number | undefined {
    return this.hasCash ? undefined : this.black(l, sigma);
  }

  /** Returns the price of the European option l, given its Black volatility. */
  black(l: number, sigma: number): number {
    const { strike, sign, time } = this.#options[l];
    const { affine, rates } = this.#market;
    const { scale, cash } = affine.at(time);
    const variance = sigma * sigma * time;
    const mean = Math.log(scale * affine.start + cash) - 0.5 * variance;
    return Math.exp(-integrate(rates, time)) * logNormalOption(sign > 0 ? "call" : "put", strike, mean, variance);
  }

  /** True if there are cash dividends to come. */
  get hasCash(): boolean {
    return this.#market.affine.at(0).cash > 0;
  }

  strike(l: number): number {
    return this.#options[l].strike;
  }

  /** Returns the value of immediate exercise of option l. */
  intrinsic(l: number): number {
    const { strike, sign } = this.#options[l];
    const { start, at } = this.#market.affine;
    return sign * (start + at(0).cash - strike);
  }

  /**
   * Returns the early-exercise premium of option l under the local volatility `surface` of X. `level` is the typical
   * size of this volatility.
   */
  premium(l: number, level: number, surface: LocalSurface): number {
    const { low, width } = this.#mesh(l, level);
    const { times } = this.#steps.get(this.#options[l].time)!;
    const { start } = this.#market.affine;
    const squares = new Float64Array(NODES * (times.length - 1));
    for (let n = 0; n < times.length - 1; n++) {
      const row = rowMean(surface, times[n], times[n + 1]);
      for (let j = 0; j < NODES; j++)
        squares[n * NODES + j] = rowVolatility(surface, row, start * Math.exp(low + j * width)) ** 2;
    }
    const [{ american, european }] = this.#solve([l], [level], squares);
    return Math.max(american - european, 0);
  }

  #mesh(l: number, level: number): { readonly low: number; readonly width: number } {
    const { time, strike } = this.#options[l];
    const { affine } = this.#market;
    const { scale, cash } = affine.at(time);
    const moneyness = Math.log((strike - cash) / (scale * affine.start));
    // Before the dividends X moves more than the spot.
    const deviation = level * Math.sqrt(time) * (1 + affine.at(0).cash / affine.start);
    const reach = Math.max(EXTENT * deviation, Math.abs(moneyness) + BEYOND * deviation);
    const width = (2 * reach) / (NODES - 1);
    // The strike lies on a node, where the payoff has its kink.
    const low = moneyness - Math.round((moneyness + reach) / width) * width;
    return { low, width };
  }

  /** Both prices of some options by the kernel, on meshes for `levels` of volatility. */
  #solve(which: readonly number[], levels: readonly number[], squares?: Float64Array): Prices[] {
    const items = which.length;
    const rows: number[] = [];
    const starts = new Map<number, number>();
    const quote = new Float64Array(QUOTE_REALS * items);
    const stepRange = new Int32Array(STEP_RANGE_INTEGERS * items);
    which.forEach((l, i) => {
      const { time, strike, sign } = this.#options[l];
      const { rows: own, times } = this.#steps.get(time)!;
      if (!starts.has(time)) {
        starts.set(time, rows.length / STEP_REALS);
        rows.push(...own);
      }
      const { low, width } = this.#mesh(l, levels[i]);
      quote.set([strike, sign, squares === undefined ? levels[i] : 1, low, width], QUOTE_REALS * i);
      stepRange.set([starts.get(time)!, times.length - 1], STEP_RANGE_INTEGERS * i);
    });
    const output = new Float64Array(2 * items);
    const shared = { items, nodes: NODES, start: this.#market.affine.start, step: Float64Array.from(rows) };
    const work = new Float64Array(WORK_ARRAYS * NODES * items);
    const [isFlat, square] = [squares === undefined, squares ?? Float64Array.of(1)];
    runOnHost(earlyExerciseKernel, { ...shared, isFlat, quote, stepRange, square, work, output }, items);
    return which.map((_, i) => ({ american: output[i], european: output[items + i] }));
  }
}

/** Bounds of plausible volatilities. */
const [LOWEST, HIGHEST] = [1e-3, 10];
/** A price that is nearer than this to what exercise at once pays, relative to the strike, determines no volatility. */
const LEAST_TIME_VALUE = 1e-6;
/** The largest number of launches, of which the first halve the logarithm: the price is flat at one end. */
const [ITERATIONS, HALVINGS] = [60, 6];

/**
 * Returns the constant volatility of the spot that reproduces each price of the American options with the given
 * indices, found by the Illinois method (regula falsi). It is undefined for a price that does not exceed the value of
 * immediate exercise or the value without volatility, and for one that exceeds the price at every volatility.
 */
export function flatVolatilities(
  options: AmericanOptions,
  indices: readonly number[],
  prices: readonly number[],
): (number | undefined)[] {
  const all = prices.map((_, l) => l);
  const errorsAt = (which: readonly number[], levels: readonly number[]): number[] => {
    const found = options.atLevels(
      which.map((l) => indices[l]),
      levels,
    );
    return found.map(({ american }, i) => american - prices[which[i]]);
  };
  const low = new Array<number>(all.length).fill(LOWEST);
  const high = new Array<number>(all.length).fill(HIGHEST);
  const [below, above] = [errorsAt(all, low), errorsAt(all, high)];
  const isKnown = all.map((l) => -below[l] > LEAST_TIME_VALUE * options.strike(indices[l]) && above[l] > 0);
  const found = high.slice();
  const side = new Array<number>(all.length).fill(0);
  let open = all.filter((l) => isKnown[l]);
  for (let i = 0; i < ITERATIONS && open.length > 0; i++) {
    const trial = open.map((l) =>
      i < HALVINGS ? Math.sqrt(low[l] * high[l]) : low[l] + (below[l] / (below[l] - above[l])) * (high[l] - low[l]),
    );
    const errors = errorsAt(open, trial);
    open = open.filter((l, at) => {
      const error = errors[at];
      found[l] = trial[at];
      if (error < 0) {
        [low[l], below[l]] = [trial[at], error];
        if (side[l] < 0) above[l] *= 0.5;
      } else {
        [high[l], above[l]] = [trial[at], error];
        if (side[l] > 0) below[l] *= 0.5;
      }
      side[l] = Math.sign(error);
      return high[l] - low[l] > 1e-10 * high[l] && Math.abs(error) > 1e-12 * prices[l];
    });
  }
  return all.map((l) => (isKnown[l] ? found[l] : undefined));
}

/**
 * A change of the volatility by this, relatively, has to change the price by `LEAST_SHARE` of the premium, or with cash
 * dividends by `LEAST_RATIO` of the change of the premium.
 */
const [CHANGE, LEAST_SHARE, LEAST_RATIO] = [0.01, 0.002, 0.2];

/**
 * Tells whether an American price determines its volatility. Near the value of immediate exercise the price depends
 * very little on the volatility.
 */
export function isVolatilityDetermined(options: AmericanOptions, l: number, level: number, price: number): boolean {
  const [own, moved] = [level, level * (1 + CHANGE)].map((sigma) => options.atLevels([l], [sigma])[0]);
  const change = moved.american - price;
  if (change > LEAST_SHARE * (price - own.european)) return true;
  // What a dividend in cash makes exercise worth hardly depends on the volatility.
  const premium = own.american - own.european - (moved.american - moved.european);
  return options.hasCash && change > LEAST_RATIO * Math.abs(premium);
}
