/** The curve of Nelson & Siegel (1987) with Svensson's (1994) second hump. */
import { withDifferences } from "../differences.ts";
import { leastSquares } from "../least-squares.ts";
import { fairRate, type LogDiscount, type RateInstrument } from "./instruments.ts";

const NAMES = ["beta0", "beta1", "beta2", "beta3", "tau1", "tau2"] as const;

/**
 * −ln P of the zero rates
 *
 *   z(t) = β₀ + β₁·h(t/τ₁) + β₂·(h(t/τ₁) − e^{−t/τ₁}) + β₃·(h(t/τ₂) − e^{−t/τ₂}),   h(x) = (1 − e^{−x})/x
 */
function svensson([beta0, beta1, beta2, beta3, tau1, tau2]: ArrayLike<number> & Iterable<number>): LogDiscount {
  return (time) => {
    if (time === 0) return 0;
    const [x, y] = [time / tau1, time / tau2];
    const [h, g] = [-Math.expm1(-x) / x, -Math.expm1(-y) / y];
    return time * (beta0 + beta1 * h + beta2 * (h - Math.exp(-x)) + beta3 * (g - Math.exp(-y)));
  };
}

/** Starts of both decays, in years. */
const DECAYS: readonly (readonly [number, number])[] = [
  [0.5, 3],
  [1, 5],
  [1.5, 10],
  [2.5, 15],
  [0.3, 1.5],
];

/** Fits Svensson's curve to quoted rates by least squares from several starting points. */
export function fitSvensson(instruments: readonly RateInstrument[]): {
  readonly status: "converged" | "not converged";
  readonly model: "svensson";
  readonly parameters: Readonly<Record<string, number>>;
  readonly logDiscount: LogDiscount;
} {
  const last = instruments[instruments.length - 1].rate;
  const spec = {
    lower: [-1, -2, -2, -2, 0.05, 0.05],
    upper: [1, 2, 2, 2, 50, 50],
    maxEvaluations: 400,
  };
  const residuals = (point: Float64Array): Float64Array => {
    const curve = svensson(point);
    return Float64Array.from(instruments, (instrument) => fairRate(instrument, curve) - instrument.rate);
  };
  const evaluate = withDifferences(residuals, spec);
  const fits = DECAYS.map(([first, second]) =>
    leastSquares([last, instruments[0].rate - last, 0, 0, first, second], spec, evaluate),
  );
  const best = fits.reduce((a, b) => (b.sum < a.sum ? b : a));
  return {
    status: best.status === "converged" ? "converged" : "not converged",
    model: "svensson",
    parameters: Object.fromEntries(NAMES.map((name, i) => [name, best.point[i]])),
    logDiscount: svensson(best.point),
  };
}
