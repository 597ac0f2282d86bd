/** SABR by expiry: the formula of Hagan, Kumar, Lesniewski & Woodward (2002), fitted to the quotes of each expiry. */
import { fn, real, record } from "../kernel/index.ts";
import type { Slice } from "./arbitrage.ts";
import {
  atTheMoney,
  checkedQuotes,
  countOf,
  type ExpiryQuotes,
  type SurfaceFit,
  type UnderlyingQuotes,
} from "./fit.ts";
import { withDifferences } from "./differences.ts";
import { leastSquares, type LeastSquaresFit } from "./least-squares.ts";
import { describeSlices, limitedMessage } from "./variance-surface.ts";

/** The parameters of the SABR model of a forward: dF = α·F^β dW, dα = ν·α dZ, dW dZ = ρ dt. */
export const SabrModel = record({ alpha: real, beta: real, rho: real, nu: real });

/**
 * Computes the implied Black volatility of SABR by Hagan et al. (2002), formula (2.17a), with l = ln(F/K), M = √(F·K)
 * and
 *
 *   z = (ν/α)·M^{1−β}·l,   χ(z) = ln((√(1 − 2ρz + z²) + z − ρ)/(1 − ρ))
 *
 * It is an expansion for small ν²T, so it may have arbitrage far from the money at long expiries.
 */
export const haganVolatility = fn({
  name: "haganVolatility",
  params: { model: SabrModel, forward: real, strike: real, time: real },
  body({ model: { alpha, beta, rho, nu }, forward, strike, time }) {
    const l = Math.log(forward / strike);
    const one = 1 - beta;
    const power = Math.exp(0.5 * one * (Math.log(forward) + Math.log(strike)));
    const z = (nu / alpha) * power * l;
    // z/χ(z) by its series where both vanish.
    let ratio = 1 - 0.5 * rho * z + ((2 - 3 * rho * rho) / 12) * z * z;
    if (Math.abs(z) > 1e-4) {
      const root = Math.sqrt(1 - 2 * rho * z + z * z);
      // (root + z − ρ)/(1 − ρ) without cancellation for z < 0.
      const chi = z > 0 ? Math.log((root + z - rho) / (1 - rho)) : -Math.log((root - z + rho) / (1 + rho));
      ratio = z / chi;
    }
    const square = one * one * l * l;
    const backbone = alpha / (power * (1 + square / 24 + (square * square) / 1920));
    const own = (one * one * alpha * alpha) / (24 * power * power);
    const cross = (0.25 * rho * beta * nu * alpha) / power;
    return backbone * ratio * (1 + (own + cross + ((2 - 3 * rho * rho) / 24) * nu * nu) * time);
  },
});

/** Starts of ρ and ν. */
const STARTS: readonly (readonly [number, number])[] = [
  [-0.3, 0.6],
  [0.3, 1],
  [-0.7, 2],
];

/** The fit of one expiry: ln α, ρ and ν. */
function fitExpiry(quotes: ExpiryQuotes, beta: number): LeastSquaresFit {
  const { time, forward, logMoneyness, implied, weights } = quotes;
  const level = Math.log(atTheMoney(quotes)) + (1 - beta) * Math.log(forward);
  const spec = { lower: [level - 3, -0.999, 1e-6], upper: [level + 3, 0.999, 20] };
  const residuals = ([logAlpha, rho, nu]: Float64Array): Float64Array =>
    logMoneyness.map((k, i) => {
      const model = { alpha: Math.exp(logAlpha), beta, rho, nu };
      const fitted = haganVolatility({ model, forward, strike: forward * Math.exp(k), time });
      return Math.sqrt(weights[i]) * (fitted - implied[i]);
    });
  const evaluate = withDifferences(residuals, spec);
  const fits = STARTS.map(([rho, nu]) => leastSquares([level, rho, nu], spec, evaluate));
  return fits.reduce((a, b) => (b.sum < a.sum ? b : a));
}

/** The step of differences in k. */
const STEP = 1e-4;

/**
 * Fits SABR's formula (`haganVolatility`) to each expiry with a given β. The local volatility is Dupire's of the fitted
 * volatilities, so trades are priced with the formula's volatilities and not those of the model that it approximates.
 * @throws SpecError for quotes that cannot be fitted
 */
export function fitSabr(quotes: UnderlyingQuotes, beta: number): SurfaceFit {
  const { expiries } = checkedQuotes(quotes);
  const fits = expiries.map((expiry) => fitExpiry(expiry, beta));
  const models = fits.map(({ point: [logAlpha, rho, nu] }) => ({ alpha: Math.exp(logAlpha), beta, rho, nu }));
  const slices = expiries.map(({ time, forward, logMoneyness }, i): Slice => {
    const variance = (k: number): number =>
      haganVolatility({ model: models[i], forward, strike: forward * Math.exp(k), time }) ** 2 * time;
    const at = (k: number): ReturnType<Slice["at"]> => {
      const [left, centre, right] = [variance(k - STEP), variance(k), variance(k + STEP)];
      const curvature = (left - 2 * centre + right) / (STEP * STEP);
      return { variance: centre, slope: (right - left) / (2 * STEP), curvature };
    };
    return { time, forward, range: [logMoneyness[0], logMoneyness[logMoneyness.length - 1]], at };
  });
  const { limited, ...described } = describeSlices(slices, quotes);
  const few = expiries.filter((expiry) => countOf([expiry]) < 3).length;
  const messages = [
    ...(few > 0 ? [`${few} expiries have fewer than 3 quotes: ρ and ν are not determined`] : []),
    ...limitedMessage(limited),
  ];
  const errors = fits.map(({ standardErrors }) => standardErrors);
  return {
    status: few === 0 && fits.every(({ status }) => status === "converged") ? "converged" : "not converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "sabr",
    parameters: {
      alpha: models.map(({ alpha }) => alpha),
      beta,
      rho: models.map(({ rho }) => rho),
      nu: models.map(({ nu }) => nu),
    },
    standardErrors: {
      alpha: errors.map(([error], i) => error * models[i].alpha),
      rho: errors.map((error) => error[1]),
      nu: errors.map((error) => error[2]),
    },
    ...described,
  };
}
