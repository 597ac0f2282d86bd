/** SABR by expiry: the formula of Hagan, Kumar, Lesniewski & Woodward (2002), fitted to the quotes of each expiry. */
import { haganVolatility } from "../market/index.ts";
import {
  atTheMoney,
  checkedQuotes,
  countWithWords,
  quoteCountOf,
  type ExpiryQuotes,
  type SurfaceFit,
  type UnderlyingQuotes,
} from "./fit.ts";
import { withDifferences } from "./differences.ts";
import { leastSquares, type LeastSquaresFit } from "./least-squares.ts";
import { describeSlices, expiryRangeOf, limitedNodesMessage, sliceOf } from "./variance-surface.ts";

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

/**
 * Fits SABR's formula (`haganVolatility`) to each expiry with a given β. The local volatility is Dupire's of the fitted
 * volatilities, so that trades are priced with the volatilities of the formula, not with those of the model that it
 * approximates.
 * @throws SpecError for quotes that cannot be fitted
 */
export function fitSabr(quotes: UnderlyingQuotes, beta: number): SurfaceFit {
  const { expiries } = checkedQuotes(quotes);
  const fits = expiries.map((expiry) => fitExpiry(expiry, beta));
  const models = fits.map(({ point: [logAlpha, rho, nu] }) => ({ alpha: Math.exp(logAlpha), beta, rho, nu }));
  const slices = expiries.map((expiry, i) => {
    const { forward, time } = expiry;
    return sliceOf(expiryRangeOf(expiry), { kind: "sabr", model: models[i], forward, time });
  });
  const { limited, ...described } = describeSlices(slices, quotes);
  const few = expiries.filter((expiry) => quoteCountOf([expiry]) < 3).length;
  const messages = [
    ...(few > 0
      ? [`${countWithWords(few, "expiry has", "expiries have")} fewer than 3 quotes: ρ and ν are not determined`]
      : []),
    ...limitedNodesMessage(limited),
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
