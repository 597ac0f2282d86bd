/** Densities of an asset's logarithm at expiry, with what barriers leave of them, and means of payoffs under them. */
import { cdf, density } from "../normal.ts";

/** A Black–Scholes asset. */
export interface AssetJson {
  readonly spot: number;
  readonly volatility: number;
  readonly yield: number;
}

/** An asset of a known market: what ln(S/spot) does. */
export interface Motion extends AssetJson {
  readonly rate: number;
  readonly expiry: number;
}

/** A knock-out level of one asset; monitored continuously unless it has dates. */
export interface LevelJson {
  readonly side: "up" | "down";
  readonly level: number;
  readonly dates?: readonly number[];
}

/** A sum of weights · normal densities of x = ln(S/spot) at expiry, on a range of x. */
export interface Mixture {
  readonly from: number;
  readonly to: number;
  readonly deviation: number;
  readonly parts: readonly { readonly weight: number; readonly mean: number }[];
}

export const driftOf = ({ rate, yield: q, volatility }: Motion): number => rate - q - 0.5 * volatility * volatility;

/** The density of an asset that a continuous barrier has not knocked out, by reflection. */
export function survivors(motion: Motion, barrier: LevelJson | undefined): Mixture {
  const { spot, volatility, expiry } = motion;
  const mean = driftOf(motion) * expiry;
  const deviation = volatility * Math.sqrt(expiry);
  if (barrier === undefined) return { from: -Infinity, to: Infinity, deviation, parts: [{ weight: 1, mean }] };
  const b = Math.log(barrier.level / spot);
  const image = -Math.exp((2 * driftOf(motion) * b) / volatility ** 2);
  return {
    from: barrier.side === "down" ? b : -Infinity,
    to: barrier.side === "up" ? b : Infinity,
    deviation,
    parts: [
      { weight: 1, mean },
      { weight: image, mean: 2 * b + mean },
    ],
  };
}

export const densityAt = ({ deviation, parts }: Mixture, x: number): number =>
  parts.reduce((sum, { weight, mean }) => sum + weight * density((x - mean) / deviation), 0) / deviation;

/** Nodes and weights for ∫ f(x)·density dx. */
export interface Rule {
  readonly nodes: Float64Array;
  readonly weights: Float64Array;
}

/** The trapezoidal rule on where the mixture is, `count` intervals. */
export function ruleOf(mixture: Mixture, count: number): Rule {
  const { from, to, deviation, parts } = mixture;
  const [plain] = parts;
  const low = Math.max(from, plain.mean - 8 * deviation);
  const high = Math.min(to, plain.mean + 8 * deviation + deviation * deviation);
  const h = (high - low) / count;
  const nodes = Float64Array.from({ length: count + 1 }, (_, i) => low + i * h);
  const weights = nodes.map((x, i) => densityAt(mixture, x) * h * (i === 0 || i === count ? 0.5 : 1));
  return { nodes, weights };
}

/** Gauss and Legendre's rule of eight points on panels about as wide as `width`. */
function panels(from: number, to: number, width: number): Rule {
  const count = Math.max(1, Math.ceil((to - from) / width));
  const half = (0.5 * (to - from)) / count;
  const nodes: number[] = [];
  const weights: number[] = [];
  for (let k = 0; k < count; k++)
    GAUSS.forEach(([x, w]) => {
      for (const sign of [-1, 1]) {
        nodes.push(from + half * (2 * k + 1 + sign * x));
        weights.push(w * half);
      }
    });
  return { nodes: Float64Array.from(nodes), weights: Float64Array.from(weights) };
}

const GAUSS = [
  [0.1834346424956498, 0.362683783378362],
  [0.525532409916329, 0.3137066458778873],
  [0.7966664774136267, 0.2223810344533745],
  [0.9602898564975363, 0.1012285362903763],
] as const;

/** The density of an asset that no date has knocked out, by one convolution from date to date. */
export function ruleOnDates(motion: Motion, { side, level, dates = [] }: LevelJson): Rule {
  const { spot, volatility, expiry } = motion;
  const b = Math.log(level / spot);
  const drift = driftOf(motion);
  const reach = 8 * volatility * Math.sqrt(expiry);
  const ends = [...dates.filter((time) => time < expiry), expiry];
  let values: readonly number[] = [];
  let rule: Rule = { nodes: Float64Array.of(0), weights: Float64Array.of(1) };
  values = [1];
  let before = 0;
  ends.forEach((time, k) => {
    const step = time - before;
    before = time;
    const isDate = dates.some((date) => Math.abs(date - time) < 1e-9);
    const deviation = volatility * Math.sqrt(step);
    // Behind the last date that knocks out the density is wanted everywhere.
    const low = isDate && side === "down" ? b : Math.min(0, drift * time) - reach;
    const high = isDate && side === "up" ? b : Math.max(0, drift * time) + reach;
    const next = ends[k + 1] === undefined ? step : Math.min(step, ends[k + 1] - time);
    // Behind the last date a payoff may bend inside a panel.
    const width = k === ends.length - 1 ? 0.15 * volatility * Math.sqrt(expiry) : 2 * volatility * Math.sqrt(next);
    const to = panels(low, high, Math.min(width, 2 * volatility * Math.sqrt(next)));
    values = [...to.nodes].map(
      (y) =>
        values.reduce((sum, value, i) => {
          const z = (y - rule.nodes[i] - drift * step) / deviation;
          return Math.abs(z) > 9 ? sum : sum + value * rule.weights[i] * density(z);
        }, 0) / deviation,
    );
    rule = to;
  });
  return { nodes: rule.nodes, weights: rule.weights.map((weight, i) => weight * values[i]) };
}

/** c + Σ slopes·(S − K)⁺: what a payoff is of one asset while the others stand still. */
export interface Pieces {
  readonly constant: number;
  readonly calls: readonly { readonly slope: number; readonly strike: number }[];
}

/** The mean of such a payoff under a mixture of the asset's logarithm. */
export function meanOf({ constant, calls }: Pieces, mixture: Mixture, spot: number): number {
  const { from, to, deviation, parts } = mixture;
  let sum = 0;
  for (const { weight, mean } of parts) {
    const above = (x: number, shift: number): number => cdf((mean + shift - x) / deviation);
    const between = (low: number, high: number, shift: number): number =>
      (low === -Infinity ? 1 : above(low, shift)) - (high === Infinity ? 0 : above(high, shift));
    const forward = spot * Math.exp(mean + 0.5 * deviation * deviation);
    let part = constant * between(from, to, 0);
    for (const { slope, strike } of calls) {
      const low = Math.max(from, strike > 0 ? Math.log(strike / spot) : -Infinity);
      if (low >= to) continue;
      part += slope * (forward * between(low, to, deviation * deviation) - strike * between(low, to, 0));
    }
    sum += weight * part;
  }
  return sum;
}
