/** Several assets, each with a local volatility of its own, and dividends on dates. */
import { fn, type KernelFunction, read, real, write } from "../../kernel/index.ts";
import { keyOf, memoize } from "../../base/memoize.ts";
import { END_OF_STEP, modelParams, type PathModel, Tables } from "../model.ts";
import type { Column, Parameter, ParameterFailure, Parameters } from "../parameters.ts";
import {
  type AssetVolatility,
  COMMON_COUNT,
  frozenFunction,
  isAbsorbed,
  numbersOf,
  COMMON_INDEX,
  shapeOf,
  tableOf,
  type VolatilityShape,
} from "./frozen.ts";
import { choleskyParameters, spotFailures } from "./gbm.ts";

/** An asset of `localDiffusions`. All parameters but the spot have a value for each step. */
export interface DiffusionAsset {
  readonly spot: Column;
  /** The growth factor exp(∫(r − q) dt) of the forward over the step. */
  readonly growth: Parameter;
  /** The share of the spot that dividends at the end of the step leave, and the cash that they take. */
  readonly kept: Parameter;
  readonly cash: Parameter;
  /** 1 where the diffusion is evaluated at the start of the step; 0 where that of the step before is kept. */
  readonly fresh: Parameter;
  /** The years for which a diffusion evaluated here is kept, and the growth to the middle of them. */
  readonly span: Parameter;
  readonly middle: Parameter;
  /** 1 where products see the spot at the end of the step; 0 where they still see the spot before. */
  readonly shown: Parameter;
  readonly volatility: AssetVolatility;
}

/** The settings of `localDiffusions`. */
export interface DiffusionSettings {
  readonly assets: readonly DiffusionAsset[];
  /** The mean rate over each step. */
  readonly rate: Parameter;
  /** The time at which each step ends, and the root of its length; 0 for a step that only pays dividends. */
  readonly ends: Parameter;
  readonly root: Parameter;
  readonly correlation: readonly (readonly Parameter[])[];
}

/** The numbers of the state of an asset, by place. */
const STATE = {
  spot: 0,
  /** The spot, b and b₁ where the diffusion was evaluated; since then: the Brownian motion, the years, the growth. */
  base: 1,
  b: 2,
  slope: 3,
  w: 4,
  years: 5,
  growth: 6,
  /** What products see: the spot; since they saw it before: the volatility then, the years then, the variance. */
  shown: 7,
  seen: 8,
  seenYears: 9,
  variance: 10,
} as const;
const STATES = 11;

/** A slope below this is as good as none, and the exponential of the step is still exact to rounding. */
const MIN_SLOPE = 1e-6;
/** The least part of a spot that a step leaves where volatility does not let it reach zero. */
const LEAST = 0.01;

const assetParams = {
  state: write(real),
  c: read(real),
  tables: Tables,
  increment: real,
  uniform: real,
} as const;

/**
 * A step of one asset. With the discounted spot Y, dY = b(Y, t) dW, and the line b + b₁·(Y − S) for its diffusion
 *
 *   Y = S + b/b₁·(exp(b₁·W − ½·b₁²·Δt) − 1).
 *
 * Where the spot is absorbed at zero, so is Y: W has reached the level at which Y is 0 with the probability of a
 * Brownian bridge. Y is a martingale for any step.
 */
const assetFunction = memoize(
  (shape: VolatilityShape, asset: number, at: number, table: number) =>
    fn({
      name: "stepAsset",
      params: assetParams,
      env: {
        frozen: frozenFunction(shape, { at, table }),
        ABSORBED: isAbsorbed(shape),
        AT: at,
        O: STATES * asset,
        P: COMMON_INDEX,
        N: STATE,
        MIN_SLOPE,
        LEAST,
      },
      body({ state, c, tables, increment, uniform }, _gpu, { frozen, ABSORBED, AT, O, P, N, MIN_SLOPE, LEAST }) {
        if (c[AT + P.fresh] > 0) {
          const now = state[O + N.spot];
          const S = Math.max(now, 1e-30);
          const line = frozen({ S, c, tables });
          state[O + N.base] = now;
          state[O + N.b] = now > 0 ? line.b : 0;
          state[O + N.slope] = Math.abs(line.slope) < MIN_SLOPE ? MIN_SLOPE : line.slope;
          state[O + N.w] = 0;
          state[O + N.years] = 0;
          state[O + N.growth] = 1;
          state[O + N.seen] = line.b / S;
          state[O + N.seenYears] = 0;
        }
        const root = c[0];
        const base = state[O + N.base];
        const b = state[O + N.b];
        const slope = state[O + N.slope];
        const before = state[O + N.w] - 0.5 * slope * state[O + N.years];
        const w = state[O + N.w] + increment;
        const years = state[O + N.years] + root * root;
        const moved = w - 0.5 * slope * years;
        const change = (b * Math.expm1(slope * moved)) / slope;
        let value = base + change;
        if (ABSORBED) {
          // exp(slope·level) = 1 − base·slope/b: there the line's process is at 0.
          const share = (base * slope) / Math.max(b, 1e-30);
          if (b > 0 && share < 1) {
            const level = Math.log1p(-share) / slope;
            const distance = Math.max(before - level, 0) * (moved - level);
            const touches = Math.exp((-2 * distance) / Math.max(root * root, 1e-30));
            if (moved <= level || uniform < touches) {
              value = 0;
              state[O + N.base] = 0;
              state[O + N.b] = 0;
            }
          }
        } else value = Math.max(value, LEAST * base);
        const growth = state[O + N.growth] * c[AT + P.growth];
        const spot = Math.max(growth * value * c[AT + P.kept] - c[AT + P.cash], 0);
        state[O + N.w] = w;
        state[O + N.years] = years;
        state[O + N.growth] = growth;
        state[O + N.spot] = spot;
        state[O + N.variance] = 0;
        if (c[AT + P.shown] > 0) {
          const sigma = value > 0 ? Math.max(b + slope * change, 0) / value : 0;
          state[O + N.variance] = state[O + N.seen] * sigma * (years - state[O + N.seenYears]);
          state[O + N.seen] = sigma;
          state[O + N.seenYears] = years;
          state[O + N.shown] = spot;
        }
      },
    }),
  256,
  (shape, ...places) => keyOf([shape, places]),
);

const chainParams = {
  state: write(real),
  normals: read(real),
  uniforms: read(real),
  c: read(real),
  tables: Tables,
} as const;
type Chain = KernelFunction<typeof chainParams, void>;

/** The numbers of a step before those of the assets: the root of its length, and the Cholesky factor. */
const headOf = (d: number): number => 1 + (d * (d + 1)) / 2;

/** The step of asset i and of those after it; `used` is the number of uniform numbers before, see `Layout`. */
function chainFrom(layout: Layout, i: number, used: number): Chain {
  const shape = layout.shapes[i];
  const uses = isAbsorbed(shape);
  const last = i === layout.shapes.length - 1;
  return fn({
    name: "stepAssets",
    params: chainParams,
    env: {
      one: assetFunction(shape, i, layout.at[i], layout.table[i]),
      rest: last ? undefined : chainFrom(layout, i + 1, used + (uses ? 1 : 0)),
      I: i,
      ROW: 1 + (i * (i + 1)) / 2,
      USES: uses,
      U: used,
    },
    body({ state, normals, uniforms, c, tables }, gpu, { one, rest, I, ROW, USES, U }) {
      let sum = gpu.real(0);
      for (let j = 0; j <= I; j++) sum += c[ROW + j] * normals[j];
      one({ state, c, tables, increment: c[0] * sum, uniform: USES ? uniforms[U] : gpu.real(1) });
      if (rest !== undefined) rest({ state, normals, uniforms, c, tables });
    },
  });
}

/** The places of the assets' numbers in the coefficients of a step. */
interface Layout {
  readonly shapes: readonly VolatilityShape[];
  readonly at: readonly number[];
  readonly table: readonly number[];
  readonly copied: number;
  readonly count: number;
}

const OWN_NUMBERS = { constant: 1, cev: 3, displaced: 3, formula: 2, table: 1 } as const;

function layoutOf(shapes: readonly VolatilityShape[]): Layout {
  let [copied, tables] = [headOf(shapes.length), 0];
  const at: number[] = [];
  const table: number[] = [];
  for (const { kind, nodes } of shapes) {
    at.push(copied);
    table.push(tables);
    copied += COMMON_COUNT + OWN_NUMBERS[kind];
    tables += 3 * nodes;
  }
  return { shapes, at, table, copied, count: copied + tables };
}

const functionsOf = memoize(
  (shapes: readonly VolatilityShape[]) => {
    const d = shapes.length;
    const layout = layoutOf(shapes);
    const { count, copied } = layout;
    return {
      coefficients: {
        count,
        copied,
        // The parameters after the spots, the rate, and the ends of steps.
        function: fn({
          name: "diffusionCoefficients",
          params: modelParams.coefficients,
          env: { COUNT: count, BEFORE: d + 2 },
          body({ p, c }, _gpu, { COUNT, BEFORE }) {
            for (let j = 0; j < COUNT; j++) c[j] = p[BEFORE + j];
          },
        }),
      },
      start: fn({
        name: "diffusionStart",
        params: modelParams.start,
        env: { D: d, STATES, N: STATE },
        body({ p, state }, _gpu, { D, STATES, N }) {
          for (let i = 0; i < D; i++) {
            for (let j = 0; j < STATES; j++) state[i * STATES + j] = 0;
            state[i * STATES + N.spot] = p[i];
            state[i * STATES + N.shown] = p[i];
          }
        },
      }),
      step: fn({
        name: "diffusionStep",
        params: modelParams.step,
        env: { chain: chainFrom(layout, 0, 0) },
        body({ state, normals, uniforms, c, tables }, _gpu, { chain }) {
          chain({ state, normals, uniforms, c, tables });
        },
      }),
      observe: fn({
        name: "diffusionObserve",
        params: modelParams.observe,
        env: { D: d, STATES, SHOWN: STATE.shown },
        body({ state, spots }, _gpu, { D, STATES, SHOWN }) {
          for (let i = 0; i < D; i++) spots[i] = state[i * STATES + SHOWN];
        },
      }),
      variances: fn({
        name: "diffusionVariances",
        params: modelParams.variances,
        env: { D: d, STATES, VARIANCE: STATE.variance },
        body({ state, variances }, _gpu, { D, STATES, VARIANCE }) {
          for (let i = 0; i < D; i++) variances[i] = state[i * STATES + VARIANCE];
        },
      }),
    };
  },
  64,
  (shapes) => keyOf(shapes),
);

/**
 * Returns the model of correlated assets, each with a local volatility of its own kind, in steps of any lengths:
 *
 *   dSᵢ = (r − qᵢ)·Sᵢ dt + σᵢ(Sᵢ, t)·Sᵢ dWᵢ,   S⁺ = max(S⁻·(1 − proportional) − cash, 0) on dates of dividends
 *
 * Over a step the diffusion of the discounted spot is a straight line in it, of which the step is solved exactly
 * (`stepAsset`): exact for constant and, without drift, for displaced volatilities. Steps of which `fresh` is 0 keep
 * the line of the step before, so that a copy has longer steps on the same random numbers.
 *
 * Accuracy: of weak order 2 in the step where σ is smooth and zero is not reached; the discounted spot is a martingale
 * for any step. Bridges of products are for ln S with the mean of the volatilities at both ends. Verified:
 * test/montecarlo/diffusions.test.ts.
 */
export function localDiffusions({ assets, rate, ends, root, correlation }: DiffusionSettings): PathModel {
  const d = assets.length;
  const failures: ParameterFailure[] = assets.flatMap(({ spot }, i) => spotFailures(`assets[${i}].spot`, spot));
  const factor = choleskyParameters(correlation, d, failures);
  const shapes = assets.map(({ volatility }) => shapeOf(volatility));
  const byAxisName = (name: string, all: readonly Parameter[]): Parameters =>
    Object.fromEntries(all.map((one, j) => [`${name}${j + 1}`, one]));
  return {
    name: `${d === 1 ? "a local volatility" : `${d} local volatilities`} in steps`,
    assets: d,
    state: STATES * d,
    normals: d,
    uniforms: shapes.filter(isAbsorbed).length,
    parameters: {
      ...byAxisName(
        "spot",
        assets.map(({ spot }) => spot),
      ),
      rate,
      [END_OF_STEP]: ends,
      root,
      ...factor,
      ...byAxisName("number", assets.flatMap(ownNumbers)),
      ...byAxisName(
        "table",
        assets.flatMap(({ volatility }) => tableOf(volatility)),
      ),
    },
    failures,
    ...functionsOf(shapes),
    variancesAfterStep: true,
  };
}

const ownNumbers = (asset: DiffusionAsset): readonly Parameter[] => [
  ...(Object.keys(COMMON_INDEX) as (keyof typeof COMMON_INDEX)[]).map((name) => asset[name]),
  ...numbersOf(asset.volatility),
];
