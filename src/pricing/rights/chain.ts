/** The chains of factors that trees are made of. */
import { integratedVariance, type Volatility } from "../../market/index.ts";
import {
  autoregressiveChain,
  type AutoregressiveChain,
  meanRevertingFactors,
} from "../../quadrature/quantization/index.ts";
import { keyOf } from "../../base/memoize.ts";
import { reducedFactors } from "../variance.ts";

/** A Markov chain of factors X. The spot is F·exp(Σ σᵢ·Xᵢ)/E exp(Σ σᵢ·Xᵢ), with F its forward. */
export interface FactorChain {
  /** The loading σᵢ of each factor. */
  readonly sigma: readonly number[];
  /** A text by which chains are cached: `chain` is a function of the numbers in it alone. */
  readonly key: string;
  /** Makes the chain. */
  readonly chain: () => AutoregressiveChain;
}

/** Shares of the variance below this are taken to be so large: cells would have to be cut too finely. */
const MIN_SHARE = 1e-7;
/**
 * Numbers of which a chain is made. They are rounded first, so that trades whose numbers differ by the rounding of
 * their own arithmetic share a chain, and each has the same one alone.
 */
const rounded = (values: readonly number[]): number[] => values.map((value) => Number(value.toPrecision(12)));

/**
 * Returns the Markov chain of a volatility's factors at given times. For mean-reverting factors ("gaussianFactors") it
 * has these factors. For a time-dependent volatility it is Brownian motion, with the share of the total variance
 * accumulated so far as its time. It is undefined where nothing is random. @param times increasing from 0, at least
 * two. @param minShare the smallest share of the variance between two times.
 */
export function chainOf(
  volatility: Volatility,
  times: readonly number[],
  minShare = MIN_SHARE,
): FactorChain | undefined {
  if (volatility.kind === "deterministic") {
    const variances = times.map((t) => integratedVariance(volatility.sigma, t));
    const total = variances[variances.length - 1];
    if (total === 0) return undefined;
    const shares = rounded(variances.slice(1).map((w, k) => Math.max((w - variances[k]) / total, minShare)));
    return {
      sigma: [Math.sqrt(total)],
      key: keyOf(["variance", shares]),
      chain: () =>
        autoregressiveChain({
          times: times.map((_, layer) => layer),
          transitions: [[[1]]],
          noiseCovariances: shares.map((share) => [[share]]),
        }),
    };
  }
  if (volatility.kind !== "gaussianFactors") throw new Error(`no chain of ${volatility.kind}`);
  const { alpha, sigma, rho } = reducedFactors(volatility);
  if (sigma.length === 0) return undefined;
  const [meanReversion, [correlation], dates] = [alpha, [rho], times].map(rounded);
  return {
    sigma,
    key: keyOf(["factors", meanReversion, correlation, dates]),
    chain: () =>
      meanRevertingFactors({
        times: dates,
        meanReversion,
        correlation: alpha.map((_, i) => alpha.map((_one, j) => (i === j ? 1 : correlation))),
      }),
  };
}
