/** Finite differences of a short rate on one axis: the fit of its shift by state prices, and claims with rights. */
import { bool, fn, i32, kernel, type Kernel, read, real, record, write } from "../../kernel/index.ts";
import type { ShortRateDiffusion } from "./diffusions.ts";
import { diffusionFor, discountFor, GridArrays, slot } from "./grid-steps.ts";
import { correctKink, NO_EXERCISE_PRICE, InstanceArrays } from "../../quadrature/rates/index.ts";

/**
 * The number of integers of an instance: first stop, stops, first step, first parameter, nodes, first node, side, and
 * whether it is a sum.
 */
export const GRID_INTEGERS = 8;
/** The number of reals of a stop: time, steps since the last stop, σ over them, cash, floor, cap. */
const STOP_WIDTH = 6;
/**
 * The number of reals of a mesh before its model's parameters: the first coordinate ξ, the step, the `bend` and the
 * `centre` of x = centre + bend·sinh ξ, and the weights of the second and the third node from which the value at
 * today's rate is read.
 */
export const MESH_REALS = 6;
/** The number of arrays with one real a node. */
export const GRID_ARRAYS = 11;

/** Adds factor·max(g, 0) to the array at `to`, g at `slot`, corrected across the kinks of g. */
const addPositive = fn({
  name: "addPositive",
  params: { room: InstanceArrays, table: read(real), nodes: i32, to: i32, slot: i32, factor: real },
  env: { correctKink },
  body({ room, table, nodes, to, slot, factor }, gpu, { correctKink }) {
    const { work, origin, block } = room;
    const g = gpu.privateReal(8);
    let previous = 0.0;
    for (let j = 0; j < nodes; j++) {
      const value = work[origin + (slot + j) * block];
      work[origin + (to + j) * block] += factor * Math.max(value, 0);
      if (j > 3 && j < nodes - 4 && value > 0 !== previous > 0) {
        for (let i = 0; i < 8; i++) g[i] = work[origin + (slot + j - 4 + i) * block];
        correctKink({ room, table, g, to, at: j - 1, factor });
      }
      previous = value;
    }
  },
});

/** The stops of an instance, `count` of them from `first` on, and its first step. */
const Stops = record({ stops: read(real), first: i32, count: i32, step: i32 });

/** The steps to stop s from the one before it. */
const stepsTo = fn({
  name: "stepsTo",
  params: { of: Stops, s: i32 },
  env: { STOP_WIDTH },
  body({ of: { stops, first }, s }, gpu, { STOP_WIDTH }) {
    const stop = (first + s) * STOP_WIDTH;
    const before = s > 0 ? stops[stop - STOP_WIDTH] : 0.0;
    const count = gpu.i32(stops[stop + 1]);
    const years = count > 0 ? (stops[stop] - before) / gpu.real(count) : 0.0;
    return { count, years, before, sigma: stops[stop + 2] };
  },
});

/** The weight of node i of the three that the value at today's rate is read from. */
const Today = record({ node: i32, second: real, third: real });
const weightOf = fn({
  name: "weightOf",
  params: { today: Today, i: i32 },
  body: ({ today: { second, third }, i }) => (i === 0 ? 1 - second - third : i === 1 ? second : third),
});

/**
 * Returns the function that goes forwards with the state prices of today's rate to the last stop, and finds the level
 * of each step's rates by which a bond that pays after it has the curve's price. It returns the number of steps, and
 * whether all levels were found.
 */
const fitForwardsFor = (diffusion: ShortRateDiffusion) =>
  fn({
    name: "fitForwards",
    params: { grid: GridArrays, of: Stops, today: Today, logs: read(real), isFitted: bool },
    env: {
      ...slot,
      GRID_ARRAYS,
      isMultiplied: diffusion.isMultiplied,
      diffuse: diffusionFor(diffusion, true),
      discountAt: discountFor(diffusion),
      stepsTo,
      weightOf,
    },
    body({ grid, of, today, logs, isFitted }, _gpu, env) {
      const { room, nodes, capacity } = grid;
      const { work, origin, block } = room;
      const states = origin + env.STATE * capacity * block;
      const bases = origin + env.BASE * capacity * block;
      const levels = origin + env.GRID_ARRAYS * capacity * block;
      for (let j = 0; j < nodes; j++) work[states + j * block] = 0.0;
      for (let i = 0; i < 3; i++) work[states + (today.node + i) * block] = env.weightOf({ today, i });
      let level = 0.0;
      let forward = 0.0;
      let step = 0;
      let isMet = true;
      for (let s = 0; s < of.count; s++) {
        const steps = env.stepsTo({ of, s });
        const last = steps.count > 0 ? steps.count : -1;
        for (let k = 0; k <= last; k++) {
          env.diffuse({ grid, steps, k, at: env.STATE, vectors: 1 });
          if (k < last) {
            const { years } = steps;
            const log = logs[of.step + step];
            const price = Math.exp(log);
            // The level, to begin with: the last one, moved as the forward rate has.
            if (env.isMultiplied) level = step > 0 ? (level * (-log / years)) / forward : -log / years;
            else level = 1.0;
            forward = -log / years;
            let size = 1.0;
            for (let round = 0; round < 40 && size > 0; round++) {
              let sum = 0.0;
              let derivative = 0.0;
              for (let j = 0; j < nodes; j++) {
                const base = work[bases + j * block];
                const part = work[states + j * block] * env.discountAt({ base, level, years });
                sum += part;
                derivative += part * base;
              }
              if (env.isMultiplied) {
                const move = (sum - price) / (years * derivative);
                const next = Math.max(level + move, 0.25 * level);
                const now = Math.abs(next - level) / level;
                // Rounding keeps steps from becoming smaller at some point.
                size = now < 1e-14 || (round > 3 && now < 1e-2 && now >= size) ? 0.0 : now;
                level = next;
              } else {
                level = isFitted ? price / sum : price;
                size = 0.0;
              }
            }
            if (size > 0) isMet = false;
            work[levels + step * block] = level;
            step++;
            for (let j = 0; j < nodes; j++) {
              const base = work[bases + j * block];
              work[states + j * block] *= env.discountAt({ base, level, years }) / price;
            }
          }
        }
      }
      return { count: step, isMet };
    },
  });

/** What a claim's holder and issuer do at stop s, and its payment then. */
const decide = fn({
  name: "decide",
  params: { grid: GridArrays, of: Stops, s: i32, side: real, isSum: bool, table: read(real) },
  env: { ...slot, STOP_WIDTH, NO_EXERCISE_PRICE, addPositive },
  body({ grid, of: { stops, first }, s, side, isSum, table }, _gpu, env) {
    const { room, nodes, capacity } = grid;
    const { work, origin, block } = room;
    const stop = (first + s) * env.STOP_WIDTH;
    const cash = stops[stop + 3];
    const floor = stops[stop + 4];
    const cap = stops[stop + 5];
    const hasFloor = floor > -env.NO_EXERCISE_PRICE;
    const hasCap = cap < env.NO_EXERCISE_PRICE && floor < cap;
    // A floor above the cap is what the bond is worth, whatever it would be worth if held.
    const isForced = hasFloor && floor >= cap;
    // The arrays of factors, which no step needs any more, have what exercise and a call are worth beyond holding.
    const gains = env.SCRATCH * capacity;
    const excesses = env.WHOLE * capacity;
    for (let j = 0; j < nodes; j++) {
      if (isForced) work[origin + j * block] = floor;
      const value = work[origin + j * block];
      let gain = floor - value;
      if (side !== 0) gain = side * (work[origin + (env.CLAIM * capacity + j) * block] - floor) - (isSum ? 0.0 : value);
      work[origin + (gains + j) * block] = gain;
      work[origin + (excesses + j) * block] = value - cap;
    }
    if (hasFloor) env.addPositive({ room, table, nodes, to: 0, slot: gains, factor: 1.0 });
    if (hasCap) env.addPositive({ room, table, nodes, to: 0, slot: excesses, factor: -1.0 });
    const to = side !== 0 ? env.CLAIM * capacity : 0;
    for (let j = 0; j < nodes; j++) {
      const at = origin + (to + j) * block;
      work[at] = (isSum && hasFloor ? 0.0 : work[at]) + cash;
    }
  },
});

/**
 * Returns the function that goes backwards from the last stop with a claim and what it may be exchanged for, by the
 * `count` steps and levels of `fitForwards`, and returns the value at today's rate.
 */
const priceBackwardsFor = (diffusion: ShortRateDiffusion) =>
  fn({
    name: "priceBackwards",
    params: { grid: GridArrays, of: Stops, today: Today, count: i32, side: real, isSum: bool, table: read(real) },
    env: {
      ...slot,
      GRID_ARRAYS,
      decide,
      diffuse: diffusionFor(diffusion, false),
      discountAt: discountFor(diffusion),
      stepsTo,
      weightOf,
    },
    body({ grid, of, today, count, side, isSum, table }, _gpu, env) {
      const { room, nodes, capacity } = grid;
      const { work, origin, block } = room;
      const claims = origin + env.CLAIM * capacity * block;
      const bases = origin + env.BASE * capacity * block;
      const levels = origin + env.GRID_ARRAYS * capacity * block;
      for (let j = 0; j < nodes; j++) {
        work[origin + j * block] = 0.0;
        work[claims + j * block] = 0.0;
      }
      let step = count;
      for (let s = of.count - 1; s >= 0; s--) {
        env.decide({ grid, of, s, side, isSum, table });
        const steps = env.stepsTo({ of, s });
        const last = steps.count > 0 ? steps.count : -1;
        for (let k = 0; k <= last; k++) {
          env.diffuse({ grid, steps, k, at: env.VALUE, vectors: side !== 0 ? 2 : 1 });
          if (k < last) {
            step--;
            const level = work[levels + step * block];
            for (let j = 0; j < nodes; j++) {
              const discount = env.discountAt({ base: work[bases + j * block], level, years: steps.years });
              work[origin + j * block] *= discount;
              work[claims + j * block] *= discount;
            }
          }
        }
      }
      let value = 0.0;
      for (let i = 0; i < 3; i++) {
        const weight = env.weightOf({ today, i });
        value += weight * work[origin + (today.node + i) * block];
        if (isSum) value += weight * work[claims + (today.node + i) * block];
      }
      return value;
    },
  });

const gridParams = {
  count: i32,
  block: i32,
  capacity: i32,
  mostSteps: i32,
  isFitted: bool,
  instances: read(i32),
  stops: read(real),
  logs: read(real),
  parameters: read(real),
  table: read(real),
  work: write(real),
  output: write(real),
};

/**
 * Returns the kernel that computes the values of claims with exercise rights under a short rate r(x, t) that is fitted
 * to a curve on the mesh itself.
 *
 *   ∂V/∂t + L·V − r·V = 0,   L = ½·variance·∂²/∂x² + drift·∂/∂x
 *
 * L is replaced by central differences in the coordinate ξ, x = centre + bend·sinh ξ, also where the drift outweighs
 * the volatility: errors stay even there, and a weight below 0 only raises a pivot of the LU factors. A step of h years
 * is e^{½hL}·e^{−hr}·e^{½hL} (Strang 1968), whose outer halves are joined between stops where L does not depend on
 * time. Where it does, each step has the L of its middle (the exponential midpoint rule). Since e^{½hL} leaves
 * constants as they are, the price of a zero bond is a sum of state prices times e^{−hr}. State prices go forward by
 * the transposed steps (Jamshidian 1991), and in each step the level of the rates follows from the curve by Newton's
 * method. Claims then go back by the same steps. All bonds that mature at ends of steps have the curve's prices to
 * rounding. Errors are of the second order in h and in the step of ξ, and even: where both are halved, Richardson's
 * extrapolation raises the order to 4 and 6, since `correctKink` keeps the kinks of exercise from disturbing it.
 *
 * There is one work item for each instance. `stops` are the times of payments, exercise rights and steps of the curve;
 * `logs` has for each step ln P(0, t + h)/P(0, t), or without a fit −h times what is added to the rate. `output[l]` is
 * the value at time 0.
 * Source: Black & Karasinski (1991), Cox, Ingersoll & Ross (1985), Hull & White (1990).
 * Verified: test/pde/short-rates/grid.test.ts.
 */
export const gridKernel = (diffusion: ShortRateDiffusion): Kernel<typeof gridParams> =>
  kernel({
    name: `${diffusion.name} finite differences`,
    params: gridParams,
    env: {
      fitForwards: fitForwardsFor(diffusion),
      priceBackwards: priceBackwardsFor(diffusion),
      GRID_INTEGERS,
      MESH_REALS,
      GRID_ARRAYS,
    },
    body(given, gpu, env) {
      const { count, block, capacity, mostSteps, isFitted, instances, parameters, table, work } = given;
      const l = gpu.globalId();
      if (l >= count) return;
      const group = (l / block) | 0;
      const head = env.GRID_INTEGERS * l;
      const at = instances[head + 3];
      const mesh = {
        low: parameters[at],
        width: parameters[at + 1],
        bend: parameters[at + 2],
        centre: parameters[at + 3],
        start: at + env.MESH_REALS,
      };
      const origin = group * block * (env.GRID_ARRAYS * capacity + mostSteps) + (l - group * block);
      const grid = { room: { work, origin, block }, nodes: instances[head + 4], capacity, mesh, parameters };
      const of = { stops: given.stops, first: instances[head], count: instances[head + 1], step: instances[head + 2] };
      const today = { node: instances[head + 5], second: parameters[at + 4], third: parameters[at + 5] };
      const side = gpu.real(instances[head + 6]);
      const isSum = instances[head + 7] > 0;
      const fit = env.fitForwards({ grid, of, today, logs: given.logs, isFitted });
      const value = env.priceBackwards({ grid, of, today, count: fit.count, side, isSum, table });
      given.output[l] = fit.isMet ? value : NaN;
    },
  });
