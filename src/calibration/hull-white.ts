/**
 * Hull and White's model, dr = (ϑ(t) − a·r)dt + σ dW with ϑ from the curve, fitted to caps and swaptions.
 *
 * Both are options on bonds. Under the forward measure of the expiry T, P(T, s) = P(s)/P(T)·exp(−b·Z − ½b²) with a
 * normal Z and b = σ·√((1 − e^{−2aT})/2a)·(1 − e^{−a(s−T)})/a, decreasing in Z for all s at once, so that a payer
 * swaption is exercised for Z above the root Z* of Σ cᵢ·P(T, sᵢ) = 1, and worth P(T)·Φ(−Z*) − Σ cᵢ·P(sᵢ)·Φ(−Z* − bᵢ).
 * A caplet is the same with one period. Source: Jamshidian, *An exact bond option formula*, J. Finance 44 (1989).
 * Verified: test/calibration/hull-white, against the reference cases and by round trips.
 */
import { SpecError } from "../base/errors.ts";
import { fn, i32, read, real } from "../kernel/index.ts";
import { decay } from "../market/models/index.ts";
import { withDifferences } from "./differences.ts";
import { leastSquares } from "./least-squares.ts";

/** A discount curve: a function that returns P(0, t). */
export type DiscountFunction = (t: number) => number;

/**
 * A quoted cap or swaption, with its price for a notional of 1. Times are in years; `frequency` is the number of
 * payments per year.
 */
export type RateQuote =
  | {
      readonly kind: "cap";
      /** The first fixing in years; caplets follow until the maturity. */
      readonly start: number;
      readonly maturity: number;
      readonly frequency: number;
      readonly strike: number;
      readonly price: number;
    }
  | {
      readonly kind: "swaption";
      readonly type: "payer" | "receiver";
      readonly expiry: number;
      readonly length: number;
      readonly frequency: number;
      readonly strike: number;
      readonly price: number;
    };

/**
 * The parameters of Hull and White's model: the mean reversion per year, and the volatility of the short rate (rate per
 * year, per √year).
 */
export interface HullWhiteParameters {
  readonly meanReversion: number;
  readonly volatility: number;
}

/** The result of `fitHullWhite`. */
export interface HullWhiteFit {
  readonly status: "converged" | "not converged";
  /** A warning about the fit, if there is one. */
  readonly message?: string;
  readonly parameters: HullWhiteParameters;
  readonly standardErrors: HullWhiteParameters;
  /** The root mean square of the relative errors of prices. */
  readonly rmse: number;
  readonly quotes: readonly { readonly price: number; readonly fitted: number; readonly error: number }[];
}

/**
 * Computes the price of a payer swaption for a notional of 1. The swap's fixed leg with its notional is a bond that
 * pays cᵢ = `flows[i]` at sᵢ, with P(0, sᵢ) = `flows[count + i]` and sᵢ − T = `flows[2·count + i]`, T the expiry. Cost:
 * some ten iterations of Newton's method, each of `count` exponentials.
 */
const payerSwaption = fn({
  name: "payerSwaption",
  params: { flows: read(real), count: i32, discount: real, expiry: real, a: real, sigma: real },
  env: { decay },
  body({ flows, count, discount, expiry, a, sigma }, gpu, { decay }) {
    const deviation = sigma * Math.sqrt(decay(2 * a, expiry));
    let z = 0.0;
    let step = 1.0;
    // ln Σ is convex and decreasing in Z: Newton's method on it converges from every start.
    for (let iteration = 0; iteration < 60 && Math.abs(step) > 1e-14 * (1 + Math.abs(z)); iteration++) {
      let sum = 0.0;
      let slope = 0.0;
      for (let i = 0; i < count; i++) {
        const b = deviation * decay(a, flows[2 * count + i]);
        const term = (flows[i] * flows[count + i] * Math.exp(-b * z - 0.5 * b * b)) / discount;
        sum += term;
        slope -= b * term;
      }
      step = (Math.log(sum) * sum) / slope;
      z -= step;
    }
    let price = discount * gpu.normalCdf(-z);
    for (let i = 0; i < count; i++) {
      const b = deviation * decay(a, flows[2 * count + i]);
      price -= flows[i] * flows[count + i] * gpu.normalCdf(-z - b);
    }
    return price;
  },
});

/** An option of a quote: its expiry and the flows of its bond. */
interface BondOption {
  readonly expiry: number;
  readonly discount: number;
  readonly flows: Float64Array;
}

/** The options of a quote, and the difference between the values of a receiver and a payer. */
function optionsOf(
  quote: RateQuote,
  discount: DiscountFunction,
): { readonly options: BondOption[]; readonly parity: number } {
  const period = 1 / quote.frequency;
  if (quote.kind === "cap") {
    const count = Math.round((quote.maturity - quote.start) * quote.frequency);
    const options = Array.from({ length: count }, (_, i): BondOption => {
      const expiry = quote.start + i * period;
      const flows = Float64Array.of(1 + quote.strike * period, discount(expiry + period), period);
      return { expiry, discount: discount(expiry), flows };
    });
    return { options, parity: 0 };
  }
  const count = Math.round(quote.length * quote.frequency);
  const flows = new Float64Array(3 * count);
  let bond = 0;
  for (let i = 0; i < count; i++) {
    const after = (i + 1) * period;
    flows[i] = quote.strike * period + (i === count - 1 ? 1 : 0);
    flows[count + i] = discount(quote.expiry + after);
    flows[2 * count + i] = after;
    bond += flows[i] * flows[count + i];
  }
  const own = discount(quote.expiry);
  return { options: [{ expiry: quote.expiry, discount: own, flows }], parity: quote.type === "payer" ? 0 : bond - own };
}

/** Returns the price of a quote's cap or swaption in Hull and White's model, for a notional of 1. */
export function hullWhitePrice(
  quote: RateQuote,
  discount: DiscountFunction,
  { meanReversion, volatility }: HullWhiteParameters,
): number {
  const { options, parity } = optionsOf(quote, discount);
  return options.reduce((sum, option) => sum + priceOf(option, meanReversion, volatility), parity);
}

function priceOf({ expiry, discount, flows }: BondOption, a: number, sigma: number): number {
  return payerSwaption({ flows, count: flows.length / 3, discount, expiry, a, sigma });
}

/** A mean reversion of 0 is a limit that the decay's formula has; far from it curves are not resolved. */
const LOWER = [-0.5, 1e-6];
const UPPER = [5, 1];
/** The largest number of iterations from each start. */
const ITERATIONS = 100;
const STARTS = [
  [0.05, 0.01],
  [0.3, 0.02],
];

/**
 * Fits the mean reversion and the volatility of Hull and White's model to prices by least squares of relative errors.
 * @throws SpecError for a quote without a positive price, or fewer than two quotes
 */
export function fitHullWhite(quotes: readonly RateQuote[], discount: DiscountFunction): HullWhiteFit {
  if (quotes.length < 2)
    throw new SpecError(`quotes: got ${quotes.length}, expected at least 2, as there are two parameters`);
  quotes.forEach((quote, i) => checkQuote(quote, i));
  const all = quotes.map((quote) => ({ price: quote.price, ...optionsOf(quote, discount) }));
  all.forEach(({ price, options, parity }, i) => checkBound(price, boundOf(options) + parity, i));
  const fittedAt = (a: number, sigma: number): number[] =>
    all.map(({ options, parity }) => options.reduce((sum, option) => sum + priceOf(option, a, sigma), parity));
  const residuals = ([a, sigma]: Float64Array): Float64Array => {
    const fitted = fittedAt(a, sigma);
    return Float64Array.from(all, ({ price }, i) => fitted[i] / price - 1);
  };
  const spec = { lower: LOWER, upper: UPPER, tolerance: 1e-13, smallest: 1e-14, maxEvaluations: ITERATIONS };
  const fits = STARTS.map((start) => leastSquares(start, spec, withDifferences(residuals, spec)));
  const best = fits.reduce((a, b) => (b.sum < a.sum ? b : a));
  const [meanReversion, volatility] = best.point;
  const errors = best.standardErrors;
  const fitted = fittedAt(meanReversion, volatility);
  const held = ["mean reversion", "volatility"].filter(
    (_, i) => best.point[i] <= LOWER[i] || best.point[i] >= UPPER[i],
  );
  const messages = [
    ...(held.length > 0 ? [`at the limit of its bounds: ${held.join(", ")}`] : []),
    ...(best.evaluations >= ITERATIONS ? [`the limit of ${ITERATIONS} iterations was reached`] : []),
  ];
  return {
    status: best.status === "converged" ? "converged" : "not converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    parameters: { meanReversion, volatility },
    standardErrors: { meanReversion: errors[0], volatility: errors[1] },
    rmse: Math.sqrt(best.sum / quotes.length),
    quotes: quotes.map(({ price }, i) => ({ price, fitted: fitted[i], error: fitted[i] - price })),
  };
}

/** What payers are worth at most, however volatile rates are: 1 at their expiries. */
const boundOf = (options: readonly BondOption[]): number => options.reduce((sum, { discount }) => sum + discount, 0);

/** @throws SpecError for a price that no volatility gives, such as one for a notional of 100 */
function checkBound(price: number, bound: number, i: number): void {
  if (price < bound) return;
  throw new SpecError(
    `quotes[${i}].price: got ${price}, above its bound, ${Number(bound.toPrecision(6))}, which no volatility exceeds; ` +
      "prices are for a notional of 1, so divide a price per 100 by 100",
  );
}

function checkQuote(quote: RateQuote, i: number): void {
  const fault = (name: string, value: number, expected: string): never => {
    throw new SpecError(`quotes[${i}].${name}: got ${value}, expected ${expected}`);
  };
  if (!(quote.price > 0 && quote.price < Infinity)) fault("price", quote.price, "a price above 0");
  if (!(quote.frequency > 0)) fault("frequency", quote.frequency, "a number of payments a year above 0");
  const [length, name] = quote.kind === "cap" ? [quote.maturity - quote.start, "maturity"] : [quote.length, "length"];
  const periods = length * quote.frequency;
  if (!(periods > 0.5 && Math.abs(periods - Math.round(periods)) < 1e-6))
    fault(name, quote.kind === "cap" ? quote.maturity : quote.length, "a whole number of periods, at least one");
  const expiry = quote.kind === "cap" ? quote.start : quote.expiry;
  if (!(expiry > 0)) fault(quote.kind === "cap" ? "start" : "expiry", expiry, "years above 0");
  if (!(1 + quote.strike / quote.frequency > 0))
    fault("strike", quote.strike, "a rate whose coupon bond pays more than 0");
}
