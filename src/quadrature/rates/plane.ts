/** States of two Gaussian factors and the coordinates in which they are integrated, in the kernel language. */
import { fn, i32, read, real, record } from "../../kernel/index.ts";
import { decayIntegral } from "./gaussian.ts";
import { dateNodes } from "./recursion.ts";
import { MIN_VOLATILITY, MAX_LOG_CHANGE } from "./terms.ts";

/** The packed parameters a, σ, b, η, ρ of a market, which start at index `start`. */
export const PlaneMarket = record({ parameters: read(real), start: i32 });
/** The covariance of the factors x and y. */
const Covariance = record({ xx: real, xy: real, yy: real });
/** The coordinates u and v of a date: x = xu·u + xv·v, y = yu·u + yv·v. */
export const Frame = record({ xu: real, xv: real, yu: real, yv: real });

/** The least share of a step's variance of y that does not depend on x: a plane must not become a line. */
const LEAST_OWN = 1e-10;

/** Returns the covariance of the two factors that a step of some years adds. */
export const stepCovariance = fn({
  name: "stepCovariance",
  params: { market: PlaneMarket, years: real },
  env: { decayIntegral, MIN_VOLATILITY, LEAST_OWN },
  body({ market: { parameters, start }, years }, _gpu, { decayIntegral, MIN_VOLATILITY, LEAST_OWN }) {
    const a = parameters[start];
    const b = parameters[start + 2];
    const sigma = Math.max(parameters[start + 1], MIN_VOLATILITY);
    const eta = Math.max(parameters[start + 3], MIN_VOLATILITY);
    const xx = sigma * sigma * decayIntegral(2 * a, years);
    const xy = parameters[start + 4] * sigma * eta * decayIntegral(a + b, years);
    const yy = eta * eta * decayIntegral(2 * b, years);
    // The variances of all steps add up to the state's, so that each of them needs the share.
    return { xx, xy, yy: Math.max(yy, (1 + LEAST_OWN) * ((xy / Math.max(xx, 1e-30)) * xy)) };
  },
});

/**
 * Returns the coordinates (u, v) of the two factors x and y in which a step's increments are independent with standard
 * deviation 1. The axis of v is the direction of wx·x + wy·y, on which bonds depend at first order, so that boundaries
 * of exercise are nearly perpendicular to it.
 */
export const frameOf = fn({
  name: "frameOf",
  params: { step: Covariance, wx: real, wy: real },
  env: { LEAST_OWN },
  body({ step: { xx, xy, yy }, wx, wy }, _gpu, { LEAST_OWN }) {
    const first = Math.sqrt(xx);
    const along = xy / first;
    const second = Math.sqrt(Math.max(yy - along * along, 0.5 * LEAST_OWN * yy));
    const c = first * wx + along * wy;
    const s = second * wy;
    const length = Math.max(Math.sqrt(c * c + s * s), 1e-30);
    const cosine = c / length;
    const sine = s / length;
    return {
      xu: first * sine,
      xv: first * cosine,
      yu: along * sine - second * cosine,
      yv: along * cosine + second * sine,
    };
  },
});

/** Returns the covariance of a step that has a frame, in units of the state before it, which decays by dx and dy. */
export const covarianceOfFrame = fn({
  name: "covarianceOfFrame",
  params: { frame: Frame, dx: real, dy: real },
  body: ({ frame: { xu, xv, yu, yv }, dx, dy }) => ({
    xx: (xu * xu + xv * xv) / (dx * dx),
    xy: (xu * yu + xv * yv) / (dx * dy),
    yy: (yu * yu + yv * yv) / (dy * dy),
  }),
});

/** Variances along u and v of numbers with a covariance in x and y. */
const spreadIn = fn({
  name: "spreadIn",
  params: { frame: Frame, covariance: Covariance },
  body({ frame: { xu, xv, yu, yv }, covariance: { xx, xy, yy } }) {
    const determinant = xu * yv - xv * yu;
    const square = 1 / (determinant * determinant);
    return {
      u: Math.max(square * (yv * yv * xx - 2 * yv * xv * xy + xv * xv * yy), 0),
      v: Math.max(square * (yu * yu * xx - 2 * yu * xu * xy + xu * xu * yy), 0),
    };
  },
});

/** Nodes need fewer rows than columns: values are smooth along u. */
const ROWS = 0.65;

/**
 * Returns the rows of nodes along u and the columns along v at a date. They extend to `reach` deviations of the state
 * and to where payments move it, with `density` columns for each deviation of this step or of the `next` one.
 */
export const planeNodes = fn({
  name: "planeNodes",
  params: {
    frame: Frame,
    covariance: Covariance,
    next: Covariance,
    wx: real,
    wy: real,
    density: real,
    reach: real,
    rows: i32,
    columns: i32,
  },
  env: { dateNodes, spreadIn, ROWS, MAX_LOG_CHANGE },
  body({ frame, covariance, next, wx, wy, density, reach, rows, columns }, _gpu, env) {
    const { dateNodes, spreadIn, ROWS, MAX_LOG_CHANGE } = env;
    const { xu, xv, yu, yv } = frame;
    const spread = spreadIn({ frame, covariance });
    const after = spreadIn({ frame, covariance: next });
    const determinant = xu * yv - xv * yu;
    const mx = covariance.xx * wx + covariance.xy * wy;
    const my = covariance.xy * wx + covariance.yy * wy;
    const u = dateNodes({
      variance: spread.u,
      width: Math.min(1, Math.sqrt(after.u)) / (ROWS * density),
      difference: (yv * mx - xv * my) / (determinant * Math.max(spread.u, 1e-30)),
      reach,
      capacity: rows,
    });
    const v = dateNodes({
      variance: spread.v,
      width: Math.min(1, Math.sqrt(after.v), MAX_LOG_CHANGE / Math.max(Math.abs(wx * xv + wy * yv), 1e-30)) / density,
      difference: (xu * my - yu * mx) / (determinant * Math.max(spread.v, 1e-30)),
      reach,
      capacity: columns,
    });
    return { rows: u.count, lowU: u.low, stepU: u.step, columns: v.count, lowV: v.low, stepV: v.step };
  },
});
