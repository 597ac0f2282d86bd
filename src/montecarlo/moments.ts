/** Means and centred sums of squares on the host: merged in a fixed order, and what estimates follow from them. */

/**
 * The moments of each measure and series: count, mean and centred sum of squares; with a control also its moments, and
 * the centred products.
 */
export class Moments {
  readonly measures: number;
  readonly series: number;
  /** The number of moments of a measure: 2, or 5 with a control. */
  readonly each: number;
  /** The number of samples of each series. */
  readonly counts: Float64Array;
  /** The moments, [measures, each, series]. */
  readonly values: Float64Array;

  constructor(measures: number, series: number, each: number) {
    this.measures = measures;
    this.series = series;
    this.each = each;
    this.counts = new Float64Array(series);
    this.values = new Float64Array(measures * each * series);
  }

  /** Merges the moments of `count` samples of each series: [measures · each, stride], this group's from `at` on. */
  merge(from: ArrayLike<number>, at: number, stride: number, count: number): void {
    const { measures, series, each, counts, values } = this;
    for (let s = 0; s < series; s++) {
      const before = counts[s];
      const all = before + count;
      const share = count / all;
      const weight = before * share;
      for (let m = 0; m < measures; m++) {
        const mine = m * each * series + s;
        const theirs = m * each * stride + at + s;
        const dy = from[theirs] - values[mine];
        values[mine] += dy * share;
        values[mine + series] += from[theirs + stride] + dy * dy * weight;
        if (each === 2) continue;
        const dx = from[theirs + 2 * stride] - values[mine + 2 * series];
        values[mine + 2 * series] += dx * share;
        values[mine + 3 * series] += from[theirs + 3 * stride] + dx * dx * weight;
        values[mine + 4 * series] += from[theirs + 4 * stride] + dx * dy * weight;
      }
      counts[s] = all;
    }
  }

  /**
   * Returns the estimate of a measure of an instance, whose series are its randomisations.
   *
   *   value = mean Y − β·(mean X − E X),   β = Σ(X − mean X)(Y − mean Y)/Σ(X − mean X)²
   *
   * With one series the standard error is √(residual sum of squares/(n·(n − 1))), n − 2 with a control; with more it is
   * the scatter of their values. β from the same samples has a bias of order 1/n, below all standard errors.
   *
   * @param control E X, and the size of its terms: a control at the level of rounding is not used.
   */
  estimate(measure: number, instance: number, randomisations: number, control: ControlMean = NO_CONTROL): Estimate {
    const { series, each, counts, values } = this;
    const first = measure * each * series + instance * randomisations;
    let beta = 0;
    if (each === 5) {
      let [xx, xy] = [0, 0];
      for (let r = 0; r < randomisations; r++) {
        xx += values[first + 3 * series + r];
        xy += values[first + 4 * series + r];
      }
      const deviation = Math.sqrt(xx / (randomisations * counts[instance * randomisations]));
      if (deviation > ROUNDING * control.size) beta = xy / xx;
    }
    const meanOf = (r: number): number =>
      each === 2 ? values[first + r] : values[first + r] - beta * (values[first + 2 * series + r] - control.mean);
    const n = counts[instance * randomisations];
    const effective = this.#effective(first, randomisations, n);
    if (randomisations === 1) {
      const residual = values[first + series] - (each === 2 ? 0 : beta * values[first + 4 * series]);
      const freedom = n - (each === 2 ? 1 : 2);
      const standardError = Math.sqrt(Math.max(residual, 0) / (n * freedom));
      const errorEstimate = intervalWidth(Infinity) * standardError;
      return { value: meanOf(0), standardError, errorEstimate, beta, effective };
    }
    let [mean, squares] = [0, 0];
    for (let r = 0; r < randomisations; r++) {
      const difference = meanOf(r) - mean;
      mean += difference / (r + 1);
      squares += difference * (meanOf(r) - mean);
    }
    const standardError = Math.sqrt(squares / (randomisations * (randomisations - 1)));
    const errorEstimate = intervalWidth(randomisations - 1) * standardError;
    return { value: mean, standardError, errorEstimate, beta, effective };
  }

  /** (Σ Y)²/Σ Y² over the series of a measure of an instance, from `first` on, of n samples each. */
  #effective(first: number, randomisations: number, n: number): number {
    const { series, values } = this;
    let [sum, squares] = [0, 0];
    for (let r = 0; r < randomisations; r++) {
      const mean = values[first + r];
      sum += n * mean;
      squares += values[first + series + r] + n * mean * mean;
    }
    return squares > 0 ? (sum * sum) / squares : 0;
  }
}

/** The exact mean of a measure's control, Σ wᵥ·E Xᵥ, and Σ |wᵥ·E Xᵥ|. */
export interface ControlMean {
  readonly mean: number;
  readonly size: number;
}

/** The most of an effective sample that a size is measured by, in root mean squares. */
const MOST = 10;

/**
 * What the scatter of randomisations does not show of samples that jump, as an indicator does: points that fill space
 * evenly fall n·p times, rounded up or down, on one side of a jump, and the rarer of both may have never happened. Its
 * 95 % bound by the rule of three, with the size of a sample where it is not 0, from n samples in all.
 */
export function unseenJumps({ value, effective }: Estimate, n: number): number {
  if (effective === 0) return 0;
  const size = Math.abs(value) / effective;
  return 3 * Math.min(size, (MOST * Math.abs(value)) / Math.sqrt(n * effective));
}

const NO_CONTROL: ControlMean = { mean: 0, size: 0 };

/** The rounding of a difference of controls, relative to them, also in f32. */
const ROUNDING = 1e-5;

/**
 * Returns the exact mean of a measure's control variate, given the weight of each copy and the mean of the control
 * variate under it.
 */
export function controlMeanOf(weights: readonly number[], meanOf: (variant: number) => number): ControlMean {
  let [mean, size] = [0, 0];
  weights.forEach((weight, v) => {
    if (weight === 0) return;
    const each = weight * meanOf(v);
    mean += each;
    size += Math.abs(each);
  });
  return { mean, size };
}

/** A mean, its standard error, and the coefficient of its control. */
export interface Estimate {
  readonly value: number;
  readonly standardError: number;
  /** The half width of a 95 % confidence interval. */
  readonly errorEstimate: number;
  readonly beta: number;
  /** The effective number (Σ Y)²/Σ Y² of samples: small where payoffs are rare. */
  readonly effective: number;
}

/**
 * Returns an upper estimate of the mean half width of the payoff (`PathProduct.halfWidth`): the mean of the measure
 * that samples it, plus its sampling error.
 */
export function halfWidthOf(moments: Moments, measure: number, instance: number, randomisations: number): number {
  const { value, errorEstimate } = moments.estimate(measure, instance, randomisations);
  return Math.abs(value) + errorEstimate;
}

/**
 * Returns half the width of a confidence interval in standard errors, by Student's t with some degrees of freedom.
 *
 * @param freedom of the standard error, 7 or more.
 * @param z the normal quantile of the same interval, of 95 % by default.
 * @example
 * import { intervalWidth } from "feynkac/montecarlo";
 *
 * console.log(intervalWidth(15).toFixed(3)); // 2.131
 * @experimental
 */
export function intervalWidth(freedom: number, z = 1.959963984540054): number {
  // Cornish and Fisher's expansion about the normal quantile; good to 1e-3 from 7 degrees on.
  const [z3, z5, z7] = [z ** 3, z ** 5, z ** 7];
  const terms = [(z3 + z) / 4, (5 * z5 + 16 * z3 + 3 * z) / 96, (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384];
  return terms.reduce((sum, term, k) => sum + term / freedom ** (k + 1), z);
}
