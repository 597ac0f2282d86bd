/** Steps of the finite differences of a short rate on one axis: its generator, diffusion, discounts. */
import { fn, i32, read, real, record } from "../../kernel/index.ts";
import { InstanceArrays } from "../../quadrature/rates/index.ts";
import type { ShortRateDiffusion } from "./diffusions.ts";

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

/** A mesh in a launch's parameters, see `MESH_REALS`, and where the model's begin. */
const Mesh = record({ low: real, width: real, bend: real, centre: real, start: i32 });
/** The arrays of an instance on the nodes of its mesh. Array number k (`slot`) starts at k·`capacity`. */
export const GridArrays = record({
  room: InstanceArrays,
  nodes: i32,
  capacity: i32,
  mesh: Mesh,
  parameters: read(real),
});
/** A number of equal steps from the time `before` on, over which σ is constant. */
export const EqualSteps = record({ count: i32, years: real, before: real, sigma: real });

/** The numbers of an instance's arrays, each with one real a node; its levels follow them. */
export const slot = {
  VALUE: 0,
  CLAIM: 1,
  STATE: 2,
  SCRATCH: 3,
  /** The rate without the level that fits it to the curve. */
  BASE: 4,
  /** The diagonals of L below and above the main one. */
  DOWN: 5,
  UP: 6,
  /** The pivots of LU factors and their upper diagonals, of a whole step and of half of one. */
  WHOLE: 7,
  HALF: 9,
} as const;

/** Makes the LU factors of 1 − g·L in the array number `to` and the next one. */
const factorise = fn({
  name: "factorise",
  params: { grid: GridArrays, to: i32, g: real },
  env: slot,
  body({ grid: { room, nodes, capacity }, to, g }, _gpu, { DOWN, UP }) {
    const { work, origin, block } = room;
    let above = 0.0;
    for (let j = 0; j < nodes; j++) {
      const lower = g * work[origin + (DOWN * capacity + j) * block];
      const upper = g * work[origin + (UP * capacity + j) * block];
      const pivot = 1 / (1 + lower + upper + lower * above);
      above = -upper * pivot;
      work[origin + (to * capacity + j) * block] = pivot;
      work[origin + ((to + 1) * capacity + j) * block] = above;
    }
  },
});

/**
 * The vector v in the array number `at` becomes e^{hL}·v to the fourth order in h, or that of the transposed matrix:
 * four solves with one factor, g = γh. Constants stay what they are to rounding. Cost: 4 times 10 operations a node.
 */
const propagateFor = (isAdjoint: boolean) =>
  fn({
    name: "propagate",
    params: { grid: GridArrays, factors: i32, g: real, at: i32 },
    env: { ...SCHEME, ...slot, isAdjoint },
    body({ grid: { room, nodes, capacity }, factors, g, at }, _gpu, env) {
      const { work, origin, block } = room;
      const vector = at * capacity;
      const scratch = env.SCRATCH * capacity;
      const down = env.DOWN * capacity;
      const pivots = factors * capacity;
      const aboves = pivots + capacity;
      for (let i = 0; i < 4; i++) {
        const from = i === 0 ? vector : scratch;
        let coefficient = env.C1;
        if (i === 1) coefficient = env.C2;
        if (i === 2) coefficient = env.C3;
        if (i === 3) coefficient = env.C4;
        let before = 0.0;
        for (let j = 0; j < nodes; j++) {
          const v = work[origin + (from + j) * block];
          if (env.isAdjoint) {
            if (j > 0) before = v - work[origin + (aboves + j - 1) * block] * before;
            else before = v;
          } else {
            const lower = g * work[origin + (down + j) * block];
            before = (v + lower * before) * work[origin + (pivots + j) * block];
          }
          work[origin + (scratch + j) * block] = before;
        }
        let after = 0.0;
        for (let j = nodes - 1; j >= 0; j--) {
          const here = origin + (scratch + j) * block;
          if (env.isAdjoint) {
            const lower = j < nodes - 1 ? g * work[origin + (down + j + 1) * block] : 0.0;
            after = (work[here] + lower * after) * work[origin + (pivots + j) * block];
          } else after = work[here] - work[origin + (aboves + j) * block] * after;
          work[here] = after;
          const sum = origin + (vector + j) * block;
          work[sum] = (i === 0 ? 0.0 : work[sum]) + coefficient * after;
        }
      }
    },
  });

/** Assembles L and the rates at the nodes, from the functions of a model at a time t. */
const assembleFor = ({ coefficients, rate }: ShortRateDiffusion) =>
  fn({
    name: "assemble",
    params: { grid: GridArrays, sigma: real, t: real },
    env: { ...slot, coefficients, rate },
    body({ grid: { room, nodes, capacity, mesh, parameters }, sigma, t }, gpu, env) {
      const { work, origin, block } = room;
      const { low, width, bend, centre, start } = mesh;
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
        work[origin + (env.DOWN * capacity + j) * block] = j === 0 ? 0.0 : down;
        work[origin + (env.UP * capacity + j) * block] = j === nodes - 1 ? 0.0 : up;
        work[origin + (env.BASE * capacity + j) * block] = env.rate({ parameters, start, sigma, x, t, step: width });
      }
    },
  });

/**
 * Returns the kernel function that applies the diffusion between two discounts, e^{hL} or its transpose (`isAdjoint`),
 * to the `vectors` arrays that begin with number `at`. `k` counts the diffusions from 0 to `count`: in the direction of
 * time if `isAdjoint`, otherwise backwards. The first and the last are half a step, e^{½hL}. If L depends on time, each
 * of the others consists of two half steps, the second half of one step and the first half of the next.
 */
export const diffusionFor = (diffusion: ShortRateDiffusion, isAdjoint: boolean) =>
  fn({
    name: isAdjoint ? "diffuseForwards" : "diffuseBackwards",
    params: { grid: GridArrays, steps: EqualSteps, k: i32, at: i32, vectors: i32 },
    env: {
      ...slot,
      GAMMA: SCHEME.GAMMA,
      isTimed: diffusion.isTimed,
      isAdjoint,
      assemble: assembleFor(diffusion),
      factorise,
      propagate: propagateFor(isAdjoint),
    },
    body({ grid, steps: { count, years, before, sigma }, k, at, vectors }, gpu, env) {
      const g = env.GAMMA * years;
      const isEnd = k === 0 || k === count;
      const isHalf = env.isTimed || isEnd;
      const halves = env.isTimed && !isEnd ? 2 : 1;
      for (let half = 0; half < halves; half++) {
        if (env.isTimed ? k < count && half === halves - 1 : k === 0) {
          const middle = (gpu.real(env.isAdjoint ? k : count - 1 - k) + 0.5) * years;
          env.assemble({ grid, sigma, t: before + middle });
          if (!env.isTimed) env.factorise({ grid, to: env.WHOLE, g });
          env.factorise({ grid, to: env.HALF, g: 0.5 * g });
        }
        for (let v = 0; v < vectors; v++)
          env.propagate({ grid, factors: isHalf ? env.HALF : env.WHOLE, g: isHalf ? 0.5 * g : g, at: at + v });
      }
    },
  });

/**
 * Returns the kernel function that computes the discount factor of a step at a node. `level` is α, which multiplies the
 * rate `base`, or the factor e^{−αh} of discount factors if α is added to the rate.
 */
export const discountFor = ({ isMultiplied }: ShortRateDiffusion) =>
  fn({
    name: "discountAt",
    params: { base: real, level: real, years: real },
    env: { isMultiplied },
    body: ({ base, level, years }, _gpu, { isMultiplied }) =>
      isMultiplied ? Math.exp(-years * level * base) : level * Math.exp(-years * base),
  });
