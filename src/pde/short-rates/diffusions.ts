/** Short rates as functions of one diffusion, whose equations finite differences solve. */
import { fn, formula, formulaVariables, i32, read, real } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";

/**
 * A point of a model: its parameters begin at `start`, σ is that of the time, x the coordinate, t the time in years.
 * Nodes of the coordinate are `step` apart, where they are uniform.
 */
const Point = { parameters: read(real), start: i32, sigma: real, x: real, t: real, step: real };

/** dx = −a·x dt + σ(t) dW. */
const meanReverting = fn({
  name: "meanReverting",
  params: Point,
  body: ({ parameters, start, sigma, x }) => ({ drift: -parameters[start] * x, half: 0.5 * sigma * sigma }),
});

/**
 * Cox, Ingersoll and Ross' rate in the coordinate x = 2√r/σ, which has the drift (δ − 1)/(2x) − ½κx with δ = 4κθ/σ².
 * Functions of r are even in x. So the generator tends to ½δ·∂²/∂x² at 0.
 *
 * On x⁴ central differences are off by (2δ − 1)·h² on all nodes but the first, by δ·h² there. The state is on the first
 * node with a probability of the order of h^δ, so that errors would have a term of the order 2 + δ, which spoils
 * extrapolation where δ is small. With half of (δ − 1)/(2x)·∂/∂x by differences that are exact for x⁴ as well, all
 * nodes are off by δ·h². Beyond δ = 2 they would have negative weights, and the term is of the order 4. There
 * differences are to one side where weights of the first nodes would be negative.
 */
const squareRoot = fn({
  name: "squareRoot",
  params: Point,
  body({ parameters, start, sigma, x, step }) {
    const kappa = parameters[start];
    const freedom = (4 * kappa * parameters[start + 1]) / (sigma * sigma);
    if (x <= 0) return { drift: 0.0, half: 0.5 * freedom };
    const j = x / step;
    const isExact = freedom < 2 && x < 1e6 * step;
    const part = isExact ? 0.25 * (freedom - 1) : 0.0;
    // ∂/∂(x²) on three nodes, in units of 1/h²: up and down.
    const up = (part * (2 * j - 1)) / ((2 * j + 1) * 2 * j);
    const down = (-part * (2 * j + 1)) / ((2 * j - 1) * 2 * j);
    const drift = (0.5 * (freedom - 1) - part) / x - 0.5 * kappa * x + (up - down) / step;
    const half = 0.5 + 0.5 * (up + down);
    // Differences to one side where the drift away from 0 outweighs: half a step's drift more.
    return { drift, half: Math.max(half, 0.5 * drift * step) };
  },
});

/** The kernel functions that define a model of the short rate. */
export interface ShortRateDiffusion {
  readonly name: string;
  /** Computes the drift of x, and half its variance per year. */
  readonly coefficients: typeof meanReverting;
  /** Computes the rate at x without the shift that fits it to a curve. */
  readonly rate: typeof normalRate;
  /** True where the shift multiplies the rate, false where it is added. */
  readonly isMultiplied: boolean;
  /** True where the coefficients depend on t other than through σ. */
  readonly isTimed: boolean;
}

const normalRate = fn({ name: "normalRate", params: Point, body: ({ x }) => x });
const lognormalRate = fn({ name: "lognormalRate", params: Point, body: ({ x }) => Math.exp(x) });
const shiftedRate = fn({
  name: "shiftedRate",
  params: Point,
  body: ({ parameters, start, x }) => parameters[start] + x,
});
const squaredRate = fn({
  name: "squaredRate",
  params: Point,
  body: ({ sigma, x }) => 0.25 * sigma * sigma * x * x,
});

/** Hull and White's model, r = x + α(t), dx = −a·x dt + σ(t) dW, with the parameter a. */
export const hullWhiteDiffusion: ShortRateDiffusion = {
  name: "Hull-White",
  coefficients: meanReverting,
  rate: normalRate,
  isMultiplied: false,
  isTimed: false,
};

/** Black and Karasinski's model, r = α(t)·eˣ, dx = −a·x dt + σ dW, with the parameter a. */
export const blackKarasinskiDiffusion: ShortRateDiffusion = {
  name: "Black-Karasinski",
  coefficients: meanReverting,
  rate: lognormalRate,
  isMultiplied: true,
  isTimed: false,
};

/**
 * Returns a model r = r0 + x + α(t), dr = drift(r, t) dt + (volatility(r, t) + σ) dW with a user's formulas for drift
 * and volatility, in which α is omitted. Parameters: r0, and the elapsed years.
 */
export const userDefinedDiffusion = memoize((drift: string, volatility: string): ShortRateDiffusion => {
  const [driftAt, volatilityAt] = [drift, volatility].map((text) => formula(text, ["r", "t"]));
  return {
    name: "short rate",
    coefficients: fn({
      name: "usersCoefficients",
      params: Point,
      env: { driftAt, volatilityAt },
      body({ parameters, start, sigma, x, t }, _gpu, env) {
        const rate = parameters[start] + x;
        const time = parameters[start + 1] + t;
        const deviation = Math.max(env.volatilityAt(rate, time) + sigma, 0);
        return { drift: env.driftAt(rate, time), half: 0.5 * deviation * deviation };
      },
    }),
    rate: shiftedRate,
    isMultiplied: false,
    isTimed: [drift, volatility].some((text) => formulaVariables(text, ["r", "t"]).has("t")),
  };
});

/** Cox, Ingersoll and Ross' model, r = y + α(t), dy = κ(θ − y) dt + σ√y dW, with the parameters κ and θ. */
export const cirDiffusion: ShortRateDiffusion = {
  name: "Cox-Ingersoll-Ross",
  coefficients: squareRoot,
  rate: squaredRate,
  isMultiplied: false,
  isTimed: false,
};
