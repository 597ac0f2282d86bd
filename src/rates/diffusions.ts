/** Short rates as functions of one diffusion, whose equations finite differences solve. */
import { fn, i32, read, real } from "../kernel/index.ts";

/** A point of a model: its parameters begin at `start`, σ is that of the time, x the coordinate, t the time in years. */
const Point = { parameters: read(real), start: i32, sigma: real, x: real, t: real };

/** dx = −a·x dt + σ(t) dW. */
const meanReverting = fn({
  name: "meanReverting",
  params: Point,
  body: ({ parameters, start, sigma, x }) => ({ drift: -parameters[start] * x, half: 0.5 * sigma * sigma }),
});

/**
 * Cox, Ingersoll and Ross' rate in the coordinate x = 2√r/σ, which has the drift (δ − 1)/(2x) − ½κx with δ = 4κθ/σ².
 * Functions of r are even in x. So the generator tends to ½δ·∂²/∂x² at 0.
 */
const squareRoot = fn({
  name: "squareRoot",
  params: Point,
  body({ parameters, start, sigma, x }) {
    const kappa = parameters[start];
    const freedom = (4 * kappa * parameters[start + 1]) / (sigma * sigma);
    const isZero = x <= 0;
    return {
      drift: isZero ? 0.0 : (0.5 * (freedom - 1)) / x - 0.5 * kappa * x,
      half: isZero ? 0.5 * freedom : 0.5,
    };
  },
});

/** The functions of the kernel language that make a model. */
export interface Diffusion {
  readonly name: string;
  /** The drift of x, and half its variance per year. */
  readonly coefficients: typeof meanReverting;
  /** The rate at x without the shift that fits it to a curve. */
  readonly rate: typeof normalRate;
  /** The shift is added to the rate, or multiplies it. */
  readonly isMultiplied: boolean;
}

const normalRate = fn({ name: "normalRate", params: Point, body: ({ x }) => x });
const lognormalRate = fn({ name: "lognormalRate", params: Point, body: ({ x }) => Math.exp(x) });
const squaredRate = fn({
  name: "squaredRate",
  params: Point,
  body: ({ sigma, x }) => 0.25 * sigma * sigma * x * x,
});

/** r = x + α(t), dx = −a·x dt + σ(t) dW: Hull and White's model. Parameter: a. */
export const additive: Diffusion = {
  name: "Hull-White",
  coefficients: meanReverting,
  rate: normalRate,
  isMultiplied: false,
};

/** r = α(t)·eˣ, dx = −a·x dt + σ dW: Black and Karasinski's model. Parameter: a. */
export const multiplied: Diffusion = {
  name: "Black-Karasinski",
  coefficients: meanReverting,
  rate: lognormalRate,
  isMultiplied: true,
};

/** r = y + α(t), dy = κ(θ − y) dt + σ√y dW: Cox, Ingersoll and Ross' model. Parameters: κ, θ. */
export const squareRootRate: Diffusion = {
  name: "Cox-Ingersoll-Ross",
  coefficients: squareRoot,
  rate: squaredRate,
  isMultiplied: false,
};
