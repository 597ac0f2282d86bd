/** Control variates whose mean has a closed form: geometric averages and European options of Black and Scholes. */
import { hostNormalCdf } from "../market/models/index.ts";
import { isBlackScholes } from "./models/gbm.ts";
import type { PathModel } from "./model.ts";
import { type Column, columnAt, type Parameters } from "./parameters.ts";
import type { PathProduct } from "./product.ts";
import { asian, asianSettings } from "./products/asian.ts";
import { european } from "./products/custom.ts";
import { type OptionType, signOf } from "./products/formulas.ts";

/** A control variate: a product on the same paths with a known mean. @experimental */
export interface Control {
  readonly name: string;
  readonly product: PathProduct;
  /**
   * The discounted mean of the product: a column, or a function of the parameters of model and product, which bumps for
   * Greeks change.
   */
  readonly mean: Column | ((model: Parameters, product: Parameters, i: number) => number);
}

/** Returns the known control variate of a product under Black and Scholes, if any. */
export function recognisedControl(
  model: PathModel,
  product: PathProduct,
  ends: readonly Column[],
  dates: readonly Column[],
): Control | undefined {
  if (!isBlackScholes(model)) return undefined;
  const settings = asianSettings(product);
  if (settings?.average === "geometric" || settings?.past !== undefined) return undefined;
  if (settings !== undefined) {
    const geometric = asian({ ...settings, average: "geometric" });
    const fixings = settings.sampling === "continuous" ? ends : dates;
    const mean = (p: Parameters, q: Parameters, i: number): number => {
      const times = fixings.map((t) => columnAt(t, i));
      return geometricAsian(
        { ...marketOf(p, i), payoff: settings.payoff, strike: at(q, "strike", i) },
        times,
        settings,
      );
    };
    return { name: "geometric average", product: geometric, mean };
  }
  return undefined;
}

const at = (parameters: Parameters, name: string, i: number): number => columnAt(parameters[name] as Column, i);

interface Market {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly volatility: number;
}

const marketOf = (p: Parameters, i: number): Market => ({
  spot: at(p, "spot", i),
  rate: at(p, "rate", i),
  yield: at(p, "yield", i),
  volatility: at(p, "volatility", i),
});

/** The inputs of a closed form. */
interface Vanilla extends Market {
  readonly payoff: OptionType;
  readonly strike: number;
}

/**
 * Returns a control variate of the last spot under Black and Scholes: a European option, with its closed form as mean.
 *
 * @param settings call or put, and the strike.
 * @param last when it is paid: the last date, in years.
 * @throws SpecError
 * @example
 * import { europeanControl } from "feynkac/montecarlo";
 *
 * console.log(europeanControl({ payoff: "call", strike: 100 }, 1).name); // European option
 * @experimental
 */
export function europeanControl(
  settings: { readonly payoff: OptionType; readonly strike: Column },
  last: Column,
): Control {
  const mean = (p: Parameters, q: Parameters, i: number): number => {
    const market = marketOf(p, i);
    const t = columnAt(last, i);
    const forward = Math.log(market.spot) + (market.rate - market.yield - 0.5 * market.volatility ** 2) * t;
    return logNormal(
      { ...market, payoff: settings.payoff, strike: at(q, "strike", i) },
      forward,
      market.volatility ** 2 * t,
      t,
    );
  };
  return { name: "European option", product: european(settings), mean };
}

/**
 * Returns the control variate of a geometric average of fixings, which is lognormal: with weights wₖ of ln S(tₖ), Σ wₖ
 * = 1,
 *
 *   mean of the logarithm = ln S₀ + (r − q − σ²/2)·Σ wₖ·tₖ,   variance = σ²·Σₖ Σⱼ wₖ·wⱼ·min(tₖ, tⱼ)
 *
 * Source: Kemna and Vorst (1990); Glasserman (2004), section 3.2.2.
 */
export function geometricAsian(
  vanilla: Vanilla,
  times: readonly number[],
  {
    sampling = "dates",
    includesStart = false,
  }: { readonly sampling?: "dates" | "continuous"; readonly includesStart?: boolean },
): number {
  const last = times[times.length - 1];
  const count = times.length + (includesStart ? 1 : 0);
  const weights = times.map((t, k) => {
    if (sampling === "dates") return 1 / count;
    const before = k === 0 ? 0 : times[k - 1];
    const after = k === times.length - 1 ? t : times[k + 1];
    return (after - before) / (2 * last);
  });
  let [mean, variance, weightAfter] = [0, 0, 0];
  // Σₖ Σⱼ wₖ·wⱼ·min(tₖ, tⱼ) = Σₖ wₖ·tₖ·(wₖ + 2·Σⱼ﹥ₖ wⱼ)
  for (let k = times.length - 1; k >= 0; k--) {
    mean += weights[k] * times[k];
    variance += weights[k] * times[k] * (weights[k] + 2 * weightAfter);
    weightAfter += weights[k];
  }
  const { spot, rate, yield: carry, volatility } = vanilla;
  const drift = Math.log(spot) + (rate - carry - 0.5 * volatility ** 2) * mean;
  return logNormal(vanilla, drift, volatility ** 2 * variance, last);
}

/** e^(−rT)·E max(±(X − K), 0) of a log-normal X with mean and variance of its logarithm. */
function logNormal({ payoff, strike, rate }: Vanilla, mean: number, variance: number, t: number): number {
  const sign = signOf(payoff);
  const width = Math.sqrt(variance);
  const forward = Math.exp(mean + 0.5 * variance);
  const discount = Math.exp(-rate * t);
  if (width === 0 || strike <= 0) return discount * Math.max(sign * (forward - strike), 0);
  const d = (mean + variance - Math.log(strike)) / width;
  return discount * sign * (forward * hostNormalCdf(sign * d) - strike * hostNormalCdf(sign * (d - width)));
}
