/** Finite differences of a short rate on one axis: the fit of its shift by state prices, and claims with rights. */
import { bool, fn, i32, kernel, type Kernel, read, real, record, write } from "../../kernel/index.ts";
import type { Diffusion } from "./diffusions.ts";
import { correctKink, NO_PRICE, Room } from "../../quadrature/rates/index.ts";

/**
 * The number of integers of an instance: first stop, stops, first step, first parameter, nodes, first node, side, and
 * whether it is a sum.
 */
export const GRID_WIDTH = 8;
/** The number of reals of a stop: time, steps since the last stop, σ over them, cash, floor, cap. */
export const STOP_WIDTH = 6;
/**
 * The number of reals of a mesh before its model's parameters: the first coordinate ξ, the step, the `bend` and the
 * `centre` of x = centre + bend·sinh ξ, and the weights of the second and the third node from which the value at
 * today's rate is read.
 */
export const MESH_WIDTH = 6;
/** The number of arrays with one real a node. */
export const GRID_ARRAYS = 11;

/**
 * e^z is Σ cᵢ/(1 − γz)ⁱ, i = 1 … 4, to the fourth order. With this γ the sum lies between 0 and 1 on the negative axis,
 * where the eigenvalues of a generator are, and vanishes at infinity, so that kinks are damped. The cᵢ are those that
 * match the series of e^z up to z³; γ is the second root of the condition for z⁴ (Nørsett's polynomial of degree 4).
 */
const SCHEME = {
  GAMMA: 0.2204284102592123,
  C1: 2.380819610272455,
  C2: -8.998478159283504,
  C3: 10.317877190828517,
  C4: -2.700218641817467,
};

/** The LU factors of 1 − g·L on the nodes, L tridiagonal: pivots and the upper diagonal, from `slot` on. */
const Factor = record({ slot: i32, g: real });
/** Nodes of an instance. L's lower diagonal is at `down`, and its upper one `capacity` after that. */
const Axis = record({ nodes: i32, capacity: i32, down: i32 });

const factorise = fn({
  name: "factorise",
  params: { room: Room, axis: Axis, factor: Factor },
  body({ room: { work, origin, block }, axis: { nodes, capacity, down }, factor: { slot, g } }) {
    let above = 0.0;
    for (let j = 0; j < nodes; j++) {
      const lower = g * work[origin + (down + j) * block];
      const upper = g * work[origin + (down + capacity + j) * block];
      const pivot = 1 / (1 + lower + upper + lower * above);
      above = -upper * pivot;
      work[origin + (slot + j) * block] = pivot;
      work[origin + (slot + capacity + j) * block] = above;
    }
  },
});

/**
 * The vector v at `slot` becomes e^{hL}·v to the fourth order in h, or that of the transposed matrix: four solves with
 * one factor, g = γh. Constants stay what they are to rounding. Cost: 4 times 10 operations a node.
 */
const propagate = fn({
  name: "propagate",
  params: { room: Room, axis: Axis, factor: Factor, slot: i32, scratch: i32, isAdjoint: bool },
  env: { SCHEME_C1: SCHEME.C1, SCHEME_C2: SCHEME.C2, SCHEME_C3: SCHEME.C3, SCHEME_C4: SCHEME.C4 },
  body({ room: { work, origin, block }, axis, factor, slot, scratch, isAdjoint }, _gpu, env) {
    const { nodes, capacity, down } = axis;
    const pivots = factor.slot;
    const aboves = factor.slot + capacity;
    for (let i = 0; i < 4; i++) {
      const from = i === 0 ? slot : scratch;
      let coefficient = env.SCHEME_C1;
      if (i === 1) coefficient = env.SCHEME_C2;
      if (i === 2) coefficient = env.SCHEME_C3;
      if (i === 3) coefficient = env.SCHEME_C4;
      let before = 0.0;
      for (let j = 0; j < nodes; j++) {
        const v = work[origin + (from + j) * block];
        if (isAdjoint) {
          if (j > 0) before = v - work[origin + (aboves + j - 1) * block] * before;
          else before = v;
        } else {
          const lower = factor.g * work[origin + (down + j) * block];
          before = (v + lower * before) * work[origin + (pivots + j) * block];
        }
        work[origin + (scratch + j) * block] = before;
      }
      let after = 0.0;
      for (let j = nodes - 1; j >= 0; j--) {
        const here = origin + (scratch + j) * block;
        if (isAdjoint) {
          const lower = j < nodes - 1 ? factor.g * work[origin + (down + j + 1) * block] : 0.0;
          after = (work[here] + lower * after) * work[origin + (pivots + j) * block];
        } else {
          after = work[here] - work[origin + (aboves + j) * block] * after;
        }
        work[here] = after;
        const sum = origin + (slot + j) * block;
        work[sum] = (i === 0 ? 0.0 : work[sum]) + coefficient * after;
      }
    }
  },
});

/** Adds factor·max(g, 0) to the array at `to`, g at `slot`, corrected across the kinks of g. */
const addPositive = fn({
  name: "addPositive",
  params: { room: Room, table: read(real), nodes: i32, to: i32, slot: i32, factor: real },
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

/**
 * The discount of a step at a node. `level` is α, which multiplies the rate `base`, or the factor e^{−αh} of discounts
 * where α is added to it.
 */
const discountAt = fn({
  name: "discountAt",
  params: { base: real, level: real, years: real, isMultiplied: bool },
  body: ({ base, level, years, isMultiplied }) =>
    isMultiplied ? Math.exp(-years * level * base) : level * Math.exp(-years * base),
});

/** A mesh in a launch's parameters, see `MESH_WIDTH`, and where the model's begin. */
const Mesh = record({ low: real, width: real, bend: real, centre: real, start: i32 });

/** Assembles L and the rates at the nodes, from the functions of a model at a time t. */
const assembleFor = ({ coefficients, rate }: Diffusion) =>
  fn({
    name: "assemble",
    params: { room: Room, axis: Axis, mesh: Mesh, parameters: read(real), base: i32, sigma: real, t: real },
    env: { coefficients, rate },
    body(
      { room: { work, origin, block }, axis, mesh: { low, width, bend, centre, start }, parameters, base, sigma, t },
      gpu,
      env,
    ) {
      const { nodes, capacity } = axis;
      for (let j = 0; j < nodes; j++) {
        const xi = low + gpu.real(j) * width;
        const isBent = bend > 0;
        const offset = isBent ? bend * Math.sinh(xi) : xi;
        const x = centre + offset;
        const { drift, half } = env.coefficients({ parameters, start, sigma, x, t, step: width });
        const slope = isBent ? bend * Math.cosh(xi) : 1.0;
        const spread = half / (slope * slope * width * width);
        const shift = (0.5 * (drift - (isBent ? (half * offset) / (slope * slope) : 0.0))) / (slope * width);
        let down = spread - shift;
        let up = spread + shift;
        // Both ends reflect. Where the volatility vanishes there, the drift alone leads inside.
        if (j === 0) up = up < 0 || down < 0 ? Math.max(2 * shift, 0) : down + up;
        if (j === nodes - 1) down = up < 0 || down < 0 ? Math.max(-2 * shift, 0) : down + up;
        work[origin + (axis.down + j) * block] = j === 0 ? 0.0 : down;
        work[origin + (axis.down + capacity + j) * block] = j === nodes - 1 ? 0.0 : up;
        work[origin + (base + j) * block] = env.rate({ parameters, start, sigma, x, t, step: width });
      }
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
 * Returns the kernel of values of claims with rights under a short rate r(x, t) that is fitted to a curve on the mesh
 * itself.
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
 * One item an instance. `stops` are the times of payments, rights and steps of the curve; `logs` has for each step
 * ln P(0, t + h)/P(0, t), or without a fit −h times what is added to the rate. `output[l]` is the value at time 0.
 * Source: Black & Karasinski (1991), Cox, Ingersoll & Ross (1985), Hull & White (1990).
 * Verified: test/pde/short-rates/grid.test.ts.
 */
export const gridKernel = (diffusion: Diffusion): Kernel<typeof gridParams> =>
  kernel({
    name: `${diffusion.name} finite differences`,
    params: gridParams,
    env: {
      addPositive,
      assemble: assembleFor(diffusion),
      discountAt,
      factorise,
      propagate,
      isMultiplied: diffusion.isMultiplied,
      isTimed: diffusion.isTimed,
      GAMMA: SCHEME.GAMMA,
      GRID_WIDTH,
      STOP_WIDTH,
      MESH_WIDTH,
      GRID_ARRAYS,
      NO_PRICE,
    },
    body(
      { count, block, capacity, mostSteps, isFitted, instances, stops, logs, parameters, table, work, output },
      gpu,
      env,
    ) {
      const { isMultiplied, STOP_WIDTH } = env;
      const l = gpu.globalId();
      if (l >= count) return;
      const group = (l / block) | 0;
      const origin = group * block * (env.GRID_ARRAYS * capacity + mostSteps) + (l - group * block);
      const room = { work, origin, block };
      const CLAIM = capacity;
      const STATE = 2 * capacity;
      const SCRATCH = 3 * capacity;
      const BASE = 4 * capacity;
      const DOWN = 5 * capacity;
      const WHOLE = 7 * capacity;
      const HALF = 9 * capacity;
      const LEVELS = env.GRID_ARRAYS * capacity;

      const head = env.GRID_WIDTH * l;
      const firstStop = instances[head];
      const stopCount = instances[head + 1];
      const firstStep = instances[head + 2];
      const mesh = instances[head + 3];
      const nodes = instances[head + 4];
      const firstNode = instances[head + 5];
      const side = gpu.real(instances[head + 6]);
      const isSum = instances[head + 7] > 0;
      const low = parameters[mesh];
      const width = parameters[mesh + 1];
      const bend = parameters[mesh + 2];
      const centre = parameters[mesh + 3];
      const second = parameters[mesh + 4];
      const third = parameters[mesh + 5];
      const nodesAt = { low, width, bend, centre, start: mesh + env.MESH_WIDTH };
      const axis = { nodes, capacity, down: DOWN };

      for (let j = 0; j < nodes; j++) {
        work[origin + j * block] = 0.0;
        work[origin + (CLAIM + j) * block] = 0.0;
        work[origin + (STATE + j) * block] = 0.0;
      }
      work[origin + (STATE + firstNode) * block] = 1 - second - third;
      work[origin + (STATE + firstNode + 1) * block] = second;
      work[origin + (STATE + firstNode + 2) * block] = third;

      // Forward with the state prices to the last stop, then back with the claims; `s` is the stop that a part ends at.
      let level = 0.0;
      let forward = 0.0;
      let step = 0;
      let flag = 0;
      for (let turn = 0; turn < 2 * stopCount; turn++) {
        const isBack = turn >= stopCount;
        const s = isBack ? 2 * stopCount - 1 - turn : turn;
        const stop = (firstStop + s) * STOP_WIDTH;
        const time = stops[stop];
        const before = s > 0 ? stops[stop - STOP_WIDTH] : 0.0;
        const steps = gpu.i32(stops[stop + 1]);
        const sigma = stops[stop + 2];
        const years = steps > 0 ? (time - before) / gpu.real(steps) : 0.0;
        if (isBack) {
          const floor = stops[stop + 4];
          const cap = stops[stop + 5];
          const hasFloor = floor > -env.NO_PRICE;
          const hasCap = cap < env.NO_PRICE && floor < cap;
          // A floor above the cap is what the bond is worth, whatever it would be worth if held.
          const isForced = hasFloor && floor >= cap;
          for (let j = 0; j < nodes; j++) {
            if (isForced) work[origin + j * block] = floor;
            const value = work[origin + j * block];
            let gain = floor - value;
            if (side !== 0) gain = side * (work[origin + (CLAIM + j) * block] - floor) - (isSum ? 0.0 : value);
            work[origin + (SCRATCH + j) * block] = gain;
            work[origin + (WHOLE + j) * block] = value - cap;
          }
          if (hasFloor) env.addPositive({ room, table, nodes, to: 0, slot: SCRATCH, factor: 1.0 });
          if (hasCap) env.addPositive({ room, table, nodes, to: 0, slot: WHOLE, factor: -1.0 });
          const cash = stops[stop + 3];
          const to = side !== 0 ? CLAIM : 0;
          for (let j = 0; j < nodes; j++) {
            const at = origin + (to + j) * block;
            work[at] = (isSum && hasFloor ? 0.0 : work[at]) + cash;
          }
        }
        if (steps > 0) {
          const whole = { slot: WHOLE, g: env.GAMMA * years };
          const halfStep = { slot: HALF, g: 0.5 * env.GAMMA * years };
          if (!env.isTimed) {
            env.assemble({ room, axis, mesh: nodesAt, parameters, base: BASE, sigma, t: 0.5 * (before + time) });
            env.factorise({ room, axis, factor: whole });
            env.factorise({ room, axis, factor: halfStep });
          }
          const isAdjoint = !isBack;
          for (let k = 0; k <= steps; k++) {
            const isEnd = k === 0 || k === steps;
            const isHalf = env.isTimed || isEnd;
            const factor = { slot: isHalf ? HALF : WHOLE, g: isHalf ? halfStep.g : whole.g };
            // In time each step has its own L: the second half of the step before, then the first half of this one.
            const halves = env.isTimed && !isEnd ? 2 : 1;
            for (let half = 0; half < halves; half++) {
              if (env.isTimed && k < steps && half === halves - 1) {
                const middle = (gpu.real(isBack ? steps - 1 - k : k) + 0.5) * years;
                env.assemble({ room, axis, mesh: nodesAt, parameters, base: BASE, sigma, t: before + middle });
                env.factorise({ room, axis, factor: halfStep });
              }
              env.propagate({ room, axis, factor, slot: isBack ? 0 : STATE, scratch: SCRATCH, isAdjoint });
              if (isBack && side !== 0) env.propagate({ room, axis, factor, slot: CLAIM, scratch: SCRATCH, isAdjoint });
            }
            if (k < steps && isBack) {
              step--;
              level = work[origin + (LEVELS + step) * block];
              for (let j = 0; j < nodes; j++) {
                const base = work[origin + (BASE + j) * block];
                const discount = env.discountAt({ base, level, years, isMultiplied });
                work[origin + j * block] *= discount;
                work[origin + (CLAIM + j) * block] *= discount;
              }
            }
            if (k < steps && !isBack) {
              const log = logs[firstStep + step];
              const price = Math.exp(log);
              // The level, to begin with: the last one, moved as the forward rate has.
              if (isMultiplied) level = step > 0 ? (level * (-log / years)) / forward : -log / years;
              else level = 1.0;
              forward = -log / years;
              let size = 1.0;
              for (let round = 0; round < 40 && size > 0; round++) {
                let sum = 0.0;
                let derivative = 0.0;
                for (let j = 0; j < nodes; j++) {
                  const base = work[origin + (BASE + j) * block];
                  const state = work[origin + (STATE + j) * block];
                  const part = state * env.discountAt({ base, level, years, isMultiplied });
                  sum += part;
                  derivative += part * base;
                }
                if (isMultiplied) {
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
              if (size > 0) flag = 1;
              work[origin + (LEVELS + step) * block] = level;
              step++;
              for (let j = 0; j < nodes; j++) {
                const base = work[origin + (BASE + j) * block];
                work[origin + (STATE + j) * block] *= env.discountAt({ base, level, years, isMultiplied }) / price;
              }
            }
          }
        }
      }
      const node = origin + firstNode * block;
      let value = 0.0;
      for (let i = 0; i < 3; i++) {
        const weight = i === 0 ? 1 - second - third : i === 1 ? second : third;
        value += weight * work[node + i * block];
        if (isSum) value += weight * work[node + (CLAIM + i) * block];
      }
      output[l] = flag > 0 ? NaN : value;
    },
  });
