/** Backward recursion of claims with rights on dates, under a Gaussian short rate. */
import { bool, fn, i32, kernel, read, real, record, write } from "../../kernel/index.ts";
import { decayIntegral, stepVariance, gaussianSum } from "./gaussian.ts";
import { correctKink, InstanceArrays } from "./kink.ts";
import {
  EXERCISE_DATE_REALS,
  FLOW_REALS,
  INSTANCE_INTEGERS,
  MARKET_INTEGERS,
  MAX_LOG_CHANGE,
  NO_EXERCISE_PRICE,
  TRADE_INTEGERS,
} from "./terms.ts";

/** The number of arrays of node values: the value, the continuation value, the floor and the cap. */
export const NODE_ARRAYS = 4;
/**
 * The number of reals kept for a date: the variance of x, the variance of the step before it, and the decay over that
 * step.
 */
export const DATE_REALS = 3;

/** Uniform nodes y_j = low + j·step. */
const Nodes = record({ count: i32, low: real, step: real });

/**
 * Adds amount·exp(α + β·y) on all nodes to the array at `slot`: a payment at T, in units of the numeraire P(t, T*),
 *
 *   P(t, T)/P(t, T*) = P(0, T)/P(0, T*)·exp(−G·y − ½·G²·Var(y)),   G = B(t, T) − B(t, T*)
 *
 * with y = x under the measure of T*, for which E[y] = 0. `logBond` is ln P(0, T), and the factor 1/P(0, T*) is
 * omitted, because the value has it, too.
 */
export const addPayment = fn({
  name: "addPayment",
  params: {
    room: InstanceArrays,
    nodes: Nodes,
    slot: i32,
    amount: real,
    logBond: real,
    difference: real,
    variance: real,
  },
  body({ room: { work, origin, block }, nodes, slot, amount, logBond, difference, variance }) {
    const exponent = logBond - 0.5 * difference * difference * variance - difference * nodes.low;
    const ratio = Math.exp(-difference * nodes.step);
    let value = amount * Math.exp(exponent);
    for (let j = 0; j < nodes.count; j++) {
      work[origin + (slot + j) * block] += value;
      value *= ratio;
    }
  },
});

/**
 * Returns the nodes at a date, `step` apart. They extend to `reach` deviations on both sides, and to where payments of
 * weight G move x.
 */
export const dateNodes = fn({
  name: "dateNodes",
  params: { variance: real, width: real, difference: real, reach: real, capacity: i32 },
  body({ variance, width, difference, reach, capacity }, gpu) {
    const half = reach * Math.sqrt(variance) + Math.abs(difference) * variance;
    const most = gpu.real(capacity - 1);
    const wanted = 2 * Math.ceil(half / Math.max(width, 1e-30));
    const spaces = Math.min(Math.max(wanted, 2), most);
    const step = wanted > most ? (2 * half) / most : width;
    return { count: gpu.i32(spaces) + 1, low: -0.5 * spaces * step, step };
  },
});

/**
 * Returns the number of standard deviations to either side at which the integral over a step is truncated. It is
 * `reach`, increased where payments grow exponentially: e^{g·z} times the normal density is centred at z = g, where g
 * is `growth`. A shift of up to ½ is ignored, because its effect is as small as what `reach` already cuts off.
 */
export const truncationWidth = fn({
  name: "truncationWidth",
  params: { reach: real, growth: real },
  body: ({ reach, growth }) => reach + Math.max(Math.abs(growth) - 0.5, 0),
});

/** One of three values at a node, held, floor and cap, less another: `more` and `less` are their arrays, from 1 on. */
const differenceAt = fn({
  name: "differenceAt",
  params: { room: InstanceArrays, capacity: i32, j: i32, more: i32, less: i32 },
  body({ room: { work, origin, block }, capacity, j, more, less }) {
    const here = origin + j * block;
    return work[here + more * capacity * block] - work[here + less * capacity * block];
  },
});

/**
 * Applies exercise at `count` nodes of a line that starts at `from`:
 *
 *   V = max(min(held, cap), floor),
 *
 * each kink corrected: that of held and cap, and that of held and floor, where the floor is below the cap; that of
 * floor and cap, which are settled at different times, where both are below what is held.
 */
export const applyExercise = fn({
  name: "applyExercise",
  params: {
    room: InstanceArrays,
    table: read(real),
    capacity: i32,
    from: i32,
    count: i32,
    hasFloor: bool,
    hasCap: bool,
  },
  env: { correctKink, differenceAt },
  body({ room, table, capacity, from, count, hasFloor, hasCap }, gpu, { correctKink, differenceAt }) {
    const { work, origin, block } = room;
    const g = gpu.privateReal(8);
    for (let j = from; j < from + count; j++) {
      const here = origin + j * block;
      let best = work[here + capacity * block];
      if (hasCap) best = Math.min(best, work[here + 3 * capacity * block]);
      if (hasFloor) best = Math.max(best, work[here + 2 * capacity * block]);
      work[here] = best;
    }
    const HELD = 1;
    const FLOOR = 2;
    const CAP = 3;
    for (let part = 0; part < 3; part++) {
      const isThere = part === 0 ? hasCap : part === 1 ? hasFloor : hasFloor && hasCap;
      const more = part === 0 ? CAP : part === 1 ? HELD : FLOOR;
      const less = part === 0 ? HELD : part === 1 ? FLOOR : CAP;
      // A kink of two counts where the third decides nothing: floor < cap, or both of them below what is held.
      const above = part === 2 ? HELD : CAP;
      const below = part === 2 ? CAP : FLOOR;
      const end = isThere ? from + count - 4 : 0;
      let previous = 0.0;
      for (let j = from + 3; j < end; j++) {
        const difference = differenceAt({ room, capacity, j, more, less });
        if (j > from + 3 && difference > 0 !== previous > 0) {
          const share = previous / (previous - difference);
          const before = differenceAt({ room, capacity, j: j - 1, more: above, less: below });
          const after = differenceAt({ room, capacity, j, more: above, less: below });
          if (!(hasFloor && hasCap) || before + share * (after - before) > 0) {
            for (let i = 0; i < 8; i++) g[i] = differenceAt({ room, capacity, j: j - 4 + i, more, less });
            correctKink({ room, table, g, to: 0, at: j - 1, factor: part === 0 ? -1.0 : 1.0 });
          }
        }
        previous = difference;
      }
    }
  },
});

/**
 * The kernel parameters that the backward inductions in one and in two factors share: sizes, the data of trades and
 * markets, working memory and output.
 */
export const inductionParams = {
  count: i32,
  block: i32,
  mostDates: i32,
  density: real,
  reach: real,
  instances: read(i32),
  trades: read(i32),
  flows: read(real),
  dates: read(real),
  parameters: read(real),
  bonds: read(real),
  table: read(real),
  work: write(real),
  output: write(real),
} as const;

const sizes = {
  NODE_ARRAYS,
  TRADE_INTEGERS,
  FLOW_REALS,
  EXERCISE_DATE_REALS,
  INSTANCE_INTEGERS,
  NO_EXERCISE_PRICE,
} as const;
/** The functions, and the sizes of records, that the kernels of backward induction in one and in two factors use. */
export const inductionEnv = { ...sizes, addPayment, decayIntegral, applyExercise, truncationWidth } as const;

/**
 * The kernel that computes the values of bonds with calls and puts, and of Bermudan options on payments, under a
 * Gaussian short rate.
 *
 * Under the measure of the last payment T* values in units of P(t, T*) are martingales, so that no discounting is left.
 * From one exercise date to the one before,
 *
 *   hold(y) = ∫ V(z)·N(z; e^{−aΔ}·y, v) dz + payments between,   V = max(floor, min(hold, cap))
 *
 * with x as y, Gaussian with mean 0. Payments are exact in closed form. They depend on the curve only through its
 * discount factors, so that a claim without exercise rights is repriced to rounding. The integral is the trapezoidal
 * rule on nodes that are uniform at each date, `density` in a deviation of the shorter one of the two steps at that
 * date: it converges exponentially, and the kinks of exercise are corrected to high order (`correctKink`). No step of
 * time is needed but the dates.
 *
 * Source: Hull & White (1990); Jamshidian (1989) for the measure; Andersen & Piterbarg, *Interest Rate Modeling*
 * (2010), 11.A.
 *
 * There is one work item for each instance, whose trade and market are in `instances`. `output[l]` is the value at time
 * 0. `work` has `NODE_ARRAYS·capacity + DATE_REALS·mostDates` reals for each item, and those of `block` items are
 * interleaved. Cost: a node at a date takes 8·reach·density operations and 2 for each payment.
 */
export const inductionKernel = kernel({
  name: "short-rate recursion",
  params: { ...inductionParams, capacity: i32, markets: read(i32) },
  env: { ...inductionEnv, gaussianSum, dateNodes, stepVariance, DATE_REALS, MARKET_INTEGERS, MAX_LOG_CHANGE },
  body(given, gpu, env) {
    const { count, block, capacity, mostDates, density, reach, table, work, output } = given;
    const { instances, trades, flows, dates, markets, parameters, bonds } = given;
    const l = gpu.globalId();
    if (l >= count) return;
    const { FLOW_REALS, EXERCISE_DATE_REALS, DATE_REALS, NO_EXERCISE_PRICE } = env;
    const size = env.NODE_ARRAYS * capacity + DATE_REALS * mostDates;
    const group = (l / block) | 0;
    const room = { work, origin: group * block * size + (l - group * block), block };
    const origin = room.origin;
    const HELD = capacity;
    const FLOOR = 2 * capacity;
    const CAP = 3 * capacity;
    const recordsAt = origin + env.NODE_ARRAYS * capacity * block;

    const trade = instances[env.INSTANCE_INTEGERS * l] * env.TRADE_INTEGERS;
    const firstFlow = trades[trade];
    const flowCount = trades[trade + 1];
    const firstDate = trades[trade + 2];
    const dateCount = trades[trade + 3];
    const side = gpu.real(trades[trade + 4]);
    const head = instances[env.INSTANCE_INTEGERS * l + 1] * env.MARKET_INTEGERS;
    const market = { parameters, start: markets[head], pieces: markets[head + 1] };
    const firstBond = instances[env.INSTANCE_INTEGERS * l + 2];
    const a = parameters[market.start];
    const terminal = flows[(firstFlow + flowCount - 1) * FLOW_REALS];

    let before = 0.0;
    let variance = 0.0;
    for (let k = 0; k < dateCount; k++) {
      const time = dates[(firstDate + k) * EXERCISE_DATE_REALS];
      const decay = Math.exp(-a * (time - before));
      const step = env.stepVariance({ market, t: before, s: time });
      variance = decay * decay * variance + step;
      work[recordsAt + DATE_REALS * k * block] = variance;
      work[recordsAt + (DATE_REALS * k + 1) * block] = step;
      work[recordsAt + (DATE_REALS * k + 2) * block] = decay;
      before = time;
    }

    // Of the date after the one at hand: its nodes, its time, the decay, the deviation and the reach of the step to it.
    let next = { count: 1, low: 0.0, step: 1.0 };
    let nextTime = NO_EXERCISE_PRICE;
    let decay = 1.0;
    let deviation = 0.0;
    let stepReach = reach;
    const isNow = dateCount > 0 && dates[firstDate * EXERCISE_DATE_REALS] <= 0;
    const last = isNow ? 0 : -1;
    for (let k = dateCount - 1; k >= last; k--) {
      const isToday = k === last;
      const hasRight = k >= 0;
      const date = (firstDate + Math.max(k, 0)) * EXERCISE_DATE_REALS;
      const record = recordsAt + DATE_REALS * Math.max(k, 0) * block;
      const time = isToday ? 0.0 : dates[date];
      const variance = isToday ? 0.0 : work[record];
      const before = isToday ? 0.0 : Math.sqrt(work[record + block]);
      const hasNext = nextTime < NO_EXERCISE_PRICE;
      const weight = env.decayIntegral(a, terminal - time);
      const shortest = hasNext ? Math.min(before, deviation / decay) : before;
      const width = Math.min(shortest, env.MAX_LOG_CHANGE / Math.max(Math.abs(weight), 1e-30)) / density;
      const nodes = env.dateNodes({ variance, width, difference: weight, reach, capacity });
      for (let j = 0; j < nodes.count; j++) {
        const mean = decay * (nodes.low + gpu.real(j) * nodes.step);
        let held = 0.0;
        if (hasNext) {
          const centre = (mean - next.low) / next.step;
          held = env.gaussianSum({
            room,
            from: 0,
            nodes: next.count,
            centre,
            deviation: deviation / next.step,
            reach: stepReach,
          });
        }
        work[origin + (HELD + j) * block] = held;
        work[origin + (FLOOR + j) * block] = 0.0;
        work[origin + (CAP + j) * block] = 0.0;
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
        for (let i = 0; i < payments; i++) {
          const isPrice = i === flowCount;
          const flow = (firstFlow + Math.min(i, flowCount - 1)) * FLOW_REALS;
          const t = isPrice ? settlement : flows[flow];
          const until = isHeld ? nextTime : side === 0 ? settlement : NO_EXERCISE_PRICE;
          let amount = t > time && t <= until ? flows[flow + 1] : 0.0;
          if (isPrice) amount = isHeld ? 0.0 : part === 1 ? floor : cap;
          if (side !== 0) amount *= isPrice ? -side : side;
          if (amount !== 0) {
            const logBond = bonds[isPrice ? bond : firstBond + i];
            const difference = env.decayIntegral(a, t - time) - weight;
            env.addPayment({ room, nodes, slot: HELD + part * capacity, amount, logBond, difference, variance });
          }
        }
      }

      env.applyExercise({ room, table, capacity, from: 0, count: nodes.count, hasFloor, hasCap });
      next = { count: nodes.count, low: nodes.low, step: nodes.step };
      nextTime = time;
      deviation = before;
      stepReach = env.truncationWidth({ reach, growth: weight * before });
      decay = isToday ? 1.0 : work[record + 2 * block];
    }
    output[l] = work[origin + block];
  },
});
