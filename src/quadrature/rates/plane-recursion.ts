/** Backward recursion of claims with rights on dates, under a rate of two Gaussian factors. */
import { fn, i32, kernel, real, record } from "../../kernel/index.ts";
import { InstanceArrays } from "./kink.ts";
import { Frame, frameOf, planeNodes, stepCovariance, covarianceOfFrame } from "./plane.ts";
import { inductionEnv, inductionParams } from "./recursion.ts";
import { gaussianSum, decayIntegral } from "./gaussian.ts";
import { SpecError } from "../../base/errors.ts";
import { type InductionResolution, type BackwardInduction, roundedNodeCount } from "./engine.ts";
import type { ShortRateTrade } from "./terms.ts";

/**
 * The number of reals kept for a date: the covariance of the state, the step's frame and its decays of both factors.
 */
const PLANE_RECORD = 9;
/** The number of reals of a market: a, σ, b, η, ρ. */
const PLANE_MARKET = 5;

/** Nodes of a plane, row by row. */
const Plane = record({ rows: i32, lowU: real, stepU: real, columns: i32, lowV: real, stepV: real });

/**
 * The expectation over independent steps of deviation 1 along u and v from the point (u, v): a sum over rows, with
 * `reach` deviations along u and `reachV` along v.
 */
const planeSum = fn({
  name: "planeSum",
  params: { room: InstanceArrays, plane: Plane, u: real, v: real, reach: real, reachV: real },
  env: { gaussianSum, NORM: 1 / Math.sqrt(2 * Math.PI) },
  body({ room, plane: { rows, lowU, stepU, columns, lowV, stepV }, u, v, reach, reachV }, gpu, { gaussianSum, NORM }) {
    const middle = (u - lowU) / stepU;
    const half = reach / stepU;
    const first = gpu.i32(Math.min(Math.max(Math.ceil(middle - half), 0), gpu.real(rows - 1)));
    const last = gpu.i32(Math.max(Math.min(Math.floor(middle + half), gpu.real(rows - 1)), 0));
    const centre = (v - lowV) / stepV;
    let sum = 0.0;
    for (let i = first; i <= last; i++) {
      const distance = (gpu.real(i) - middle) * stepU;
      const row = gaussianSum({ room, from: i * columns, nodes: columns, centre, deviation: 1 / stepV, reach: reachV });
      sum += Math.exp(-0.5 * distance * distance) * row;
    }
    return sum * NORM * stepU;
  },
});

/** The coordinates of a point in a frame. */
const within = fn({
  name: "within",
  params: { frame: Frame, x: real, y: real },
  body({ frame: { xu, xv, yu, yv }, x, y }) {
    const determinant = xu * yv - xv * yu;
    return { u: (yv * x - xv * y) / determinant, v: (xu * y - yu * x) / determinant };
  },
});

const plane = { PLANE_RECORD, PLANE_MARKET } as const;

/**
 * The kernel of values of bonds with calls and puts, and of Bermudan options on payments, under the rate r = x + y +
 * α(t),
 *
 *   dx = −a·x dt + σ dW₁,   dy = −b·y dt + η dW₂,   dW₁·dW₂ = ρ dt
 *
 * As in one factor (`inductionKernel`) values in units of P(t, T*) are martingales under the measure of the last
 * payment, and the transition from date to date is Gaussian. Each date has coordinates (u, v) of its own, in which the
 * increments of the step before it are independent with standard deviation 1 (`frameOf`). The integral is the
 * trapezoidal rule along both. A boundary of exercise crosses each row of constant u, so that its kink is corrected row
 * by row, and the integrals of the rows are a smooth function of u.
 *
 * Source: Brigo & Mercurio, *Interest Rate Models* (2006), 4.2. Verified: test/quadrature/rates/plane.test.ts.
 *
 * One item an instance. `work` has `NODE_ARRAYS·rows·columns + PLANE_RECORD·mostDates` reals an item. Cost: a node at a
 * date takes 4·(2·reach·density)²·0.65 operations.
 */
const planeKernel = kernel({
  name: "two-factor recursion",
  params: { ...inductionParams, rows: i32, columns: i32 },
  env: { ...inductionEnv, ...plane, frameOf, planeNodes, planeSum, stepCovariance, covarianceOfFrame, within },
  body(given, gpu, env) {
    const { count, block, rows, columns, mostDates, density, reach, table, work, output } = given;
    const { instances, trades, flows, dates, parameters, bonds } = given;
    const l = gpu.globalId();
    if (l >= count) return;
    const { FLOW_REALS, EXERCISE_DATE_REALS, PLANE_RECORD, NO_EXERCISE_PRICE } = env;
    const capacity = rows * columns;
    const size = env.NODE_ARRAYS * capacity + PLANE_RECORD * mostDates;
    const group = (l / block) | 0;
    const origin = group * block * size + (l - group * block);
    const room = { work, origin, block };
    const recordsAt = origin + env.NODE_ARRAYS * capacity * block;

    const trade = instances[env.INSTANCE_INTEGERS * l] * env.TRADE_INTEGERS;
    const firstFlow = trades[trade];
    const flowCount = trades[trade + 1];
    const firstDate = trades[trade + 2];
    const dateCount = trades[trade + 3];
    const side = gpu.real(trades[trade + 4]);
    const market = { parameters, start: instances[env.INSTANCE_INTEGERS * l + 1] * env.PLANE_MARKET };
    const firstBond = instances[env.INSTANCE_INTEGERS * l + 2];
    const a = parameters[market.start];
    const b = parameters[market.start + 2];
    const terminal = flows[(firstFlow + flowCount - 1) * FLOW_REALS];

    let before = 0.0;
    let state = { xx: 0.0, xy: 0.0, yy: 0.0 };
    for (let k = 0; k < dateCount; k++) {
      const time = dates[(firstDate + k) * EXERCISE_DATE_REALS];
      const dx = Math.exp(-a * (time - before));
      const dy = Math.exp(-b * (time - before));
      const step = env.stepCovariance({ market, years: time - before });
      const wx = env.decayIntegral(a, terminal - time);
      const wy = env.decayIntegral(b, terminal - time);
      const frame = env.frameOf({ step, wx, wy });
      state = {
        xx: dx * dx * state.xx + step.xx,
        xy: dx * dy * state.xy + step.xy,
        yy: dy * dy * state.yy + step.yy,
      };
      const at = recordsAt + PLANE_RECORD * k * block;
      work[at] = state.xx;
      work[at + block] = state.xy;
      work[at + 2 * block] = state.yy;
      work[at + 3 * block] = frame.xu;
      work[at + 4 * block] = frame.xv;
      work[at + 5 * block] = frame.yu;
      work[at + 6 * block] = frame.yv;
      work[at + 7 * block] = dx;
      work[at + 8 * block] = dy;
      before = time;
    }

    // Of the date after the one at hand: its nodes, its time, and the step to it.
    let next = { rows: 1, lowU: 0.0, stepU: 1.0, columns: 1, lowV: 0.0, stepV: 1.0 };
    let nextFrame = { xu: 1.0, xv: 0.0, yu: 0.0, yv: 1.0 };
    let nextTime = NO_EXERCISE_PRICE;
    let dx = 1.0;
    let dy = 1.0;
    let reachV = reach;
    const isNow = dateCount > 0 && dates[firstDate * EXERCISE_DATE_REALS] <= 0;
    const last = isNow ? 0 : -1;
    for (let k = dateCount - 1; k >= last; k--) {
      const isToday = k === last;
      const hasRight = k >= 0;
      const hasNext = nextTime < NO_EXERCISE_PRICE;
      const date = (firstDate + Math.max(k, 0)) * EXERCISE_DATE_REALS;
      const at = recordsAt + PLANE_RECORD * Math.max(k, 0) * block;
      const time = isToday ? 0.0 : dates[date];
      const wx = env.decayIntegral(a, terminal - time);
      const wy = env.decayIntegral(b, terminal - time);
      let covariance = { xx: 0.0, xy: 0.0, yy: 0.0 };
      let frame = { xu: 1.0, xv: 0.0, yu: 0.0, yv: 1.0 };
      let plane = { rows: 1, lowU: 0.0, stepU: 1.0, columns: 1, lowV: 0.0, stepV: 1.0 };
      if (!isToday) {
        covariance = { xx: work[at], xy: work[at + block], yy: work[at + 2 * block] };
        frame = {
          xu: work[at + 3 * block],
          xv: work[at + 4 * block],
          yu: work[at + 5 * block],
          yv: work[at + 6 * block],
        };
        // The next step's covariance as seen from here; without one, that of the step before counts.
        if (!hasNext) nextFrame = { xu: frame.xu, xv: frame.xv, yu: frame.yu, yv: frame.yv };
        const after = env.covarianceOfFrame({ frame: nextFrame, dx, dy });
        plane = env.planeNodes({ frame, covariance, next: after, wx, wy, density, reach, rows, columns });
      }
      const nodes = { count: plane.columns, low: plane.lowV, step: plane.stepV };

      for (let i = 0; i < plane.rows; i++) {
        const u = plane.lowU + gpu.real(i) * plane.stepU;
        for (let j = 0; j < plane.columns; j++) {
          const v = plane.lowV + gpu.real(j) * plane.stepV;
          let held = 0.0;
          if (hasNext) {
            const x = dx * (frame.xu * u + frame.xv * v);
            const y = dy * (frame.yu * u + frame.yv * v);
            const mean = env.within({ frame: nextFrame, x, y });
            held = env.planeSum({ room, plane: next, u: mean.u, v: mean.v, reach, reachV });
          }
          const node = origin + (i * plane.columns + j) * block;
          work[node + capacity * block] = held;
          work[node + 2 * capacity * block] = 0.0;
          work[node + 3 * capacity * block] = 0.0;
        }
      }

      const floor = hasRight ? dates[date + 3] : -NO_EXERCISE_PRICE;
      const cap = hasRight ? dates[date + 4] : NO_EXERCISE_PRICE;
      const hasFloor = floor > -NO_EXERCISE_PRICE;
      const hasCap = cap < NO_EXERCISE_PRICE;
      // Payments of the holder until the next date, and what is exchanged at exercise; the last payment is the price.
      for (let part = 0; part < 3; part++) {
        const isHeld = part === 0;
        const isThere = isHeld ? side === 0 : part === 1 ? hasFloor : hasCap;
        const payments = isThere ? flowCount + 1 : 0;
        const settlement = hasRight ? dates[date + (part === 2 ? 2 : 1)] : time;
        const bond = firstBond + flowCount + 2 * Math.max(k, 0) + (part === 2 ? 1 : 0);
        for (let p = 0; p < payments; p++) {
          const isPrice = p === flowCount;
          const flow = (firstFlow + Math.min(p, flowCount - 1)) * FLOW_REALS;
          const t = isPrice ? settlement : flows[flow];
          const until = isHeld ? nextTime : side === 0 ? settlement : NO_EXERCISE_PRICE;
          let amount = t > time && t <= until ? flows[flow + 1] : 0.0;
          if (isPrice) amount = isHeld ? 0.0 : part === 1 ? floor : cap;
          if (side !== 0) amount *= isPrice ? -side : side;
          if (amount !== 0) {
            const gx = env.decayIntegral(a, t - time) - wx;
            const gy = env.decayIntegral(b, t - time) - wy;
            const spread = gx * gx * covariance.xx + 2 * gx * gy * covariance.xy + gy * gy * covariance.yy;
            const log = bonds[isPrice ? bond : firstBond + p] - 0.5 * spread;
            const difference = gx * frame.xv + gy * frame.yv;
            const across = gx * frame.xu + gy * frame.yu;
            for (let i = 0; i < plane.rows; i++) {
              const logBond = log - across * (plane.lowU + gpu.real(i) * plane.stepU);
              const slot = (part + 1) * capacity + i * plane.columns;
              env.addPayment({ room, nodes, slot, amount, logBond, difference, variance: 0.0 });
            }
          }
        }
      }
      for (let i = 0; i < plane.rows; i++) {
        const from = i * plane.columns;
        env.applyExercise({ room, table, capacity, from, count: plane.columns, hasFloor, hasCap });
      }

      next = {
        rows: plane.rows,
        lowU: plane.lowU,
        stepU: plane.stepU,
        columns: plane.columns,
        lowV: plane.lowV,
        stepV: plane.stepV,
      };
      nextFrame = { xu: frame.xu, xv: frame.xv, yu: frame.yu, yv: frame.yv };
      nextTime = time;
      reachV = env.truncationWidth({ reach, growth: wx * frame.xv + wy * frame.yv });
      dx = isToday ? 1.0 : work[at + 7 * block];
      dy = isToday ? 1.0 : work[at + 8 * block];
    }
    output[l] = work[origin];
  },
});

/** A market with two Gaussian factors, r = x + y + α(t), fitted to discount factors (G2++). */
export interface PlaneMarket {
  /** The mean reversion and volatility of x, then of y, and their correlation. */
  readonly parameters: readonly [a: number, sigma: number, b: number, eta: number, rho: number];
  /** Returns ln P(0, t). */
  readonly logDiscount: (t: number) => number;
}

/** Most nodes of a date. */
const MOST_NODES = 2 ** 18;

/** The backward induction under Gaussian short rates of two factors. */
export const twoFactorInduction: BackwardInduction<PlaneMarket> = {
  kernel: planeKernel,
  record: PLANE_RECORD,
  microseconds: 0.5,
  packed: (markets) => ({ parameters: Float64Array.from(markets.flatMap(({ parameters }) => parameters)) }),
  sizesIn:
    (trades, markets, resolution) =>
    ({ trade, market }) => {
      const [rows, columns] = planeNeeded(trades[trade], markets[market], resolution).map(roundedNodeCount);
      return {
        room: { rows, columns },
        nodes: rows * columns,
        mostDates: roundedNodeCount(trades[trade].dates.length),
      };
    },
};

/** Checks that a claim does not need too many nodes. @throws SpecError the dates for which it does */
export function checkOnPlane(trade: ShortRateTrade, market: PlaneMarket, resolution: InductionResolution): void {
  const [rows, columns] = planeNeeded(trade, market, resolution);
  if (rows * columns > MOST_NODES)
    throw new SpecError(
      `dates of exercise too close to each other for how far away they are, or rho too close to ±1: ${rows} × ` +
        `${columns} nodes, at most ${MOST_NODES}; leave some of the dates out, or write hullWhite`,
    );
}

/** The most rows and columns of nodes at any date of a trade, by the functions of the kernel. */
function planeNeeded(
  { dates, flows }: ShortRateTrade,
  { parameters }: PlaneMarket,
  { density, reach }: InductionResolution,
): readonly [rows: number, columns: number] {
  const [a, , b] = parameters;
  const terminal = flows[flows.length - 1][0];
  const market = { parameters: Float64Array.from(parameters), start: 0 };
  let covariance = { xx: 0, xy: 0, yy: 0 };
  const points = dates.map(({ time }, k) => {
    const years = time - (k === 0 ? 0 : dates[k - 1].time);
    const [dx, dy] = [Math.exp(-a * years), Math.exp(-b * years)];
    const step = stepCovariance({ market, years });
    const { xx, xy, yy } = covariance;
    covariance = { xx: dx * dx * xx + step.xx, xy: dx * dy * xy + step.xy, yy: dy * dy * yy + step.yy };
    const [wx, wy] = [decayIntegral(a, terminal - time), decayIntegral(b, terminal - time)];
    return { time, dx, dy, wx, wy, covariance, frame: frameOf({ step, wx, wy }) };
  });
  let [rows, columns] = [3, 3];
  points.forEach(({ time, wx, wy, covariance: own, frame }, k) => {
    if (time <= 0) return;
    const { frame: following, dx, dy } = points[k + 1] ?? { frame, dx: 1, dy: 1 };
    const next = covarianceOfFrame({ frame: following, dx, dy });
    const capacity = { rows: 2 ** 20 + 1, columns: 2 ** 20 + 1 };
    const nodes = planeNodes({ frame, covariance: own, next, wx, wy, density, reach, ...capacity });
    rows = Math.max(rows, nodes.rows);
    columns = Math.max(columns, nodes.columns);
  });
  return [rows, columns];
}
