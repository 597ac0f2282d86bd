/**
 * The diffusion of one asset over a step, as a function of its spot at the start: a straight line b + b₁·(Y − S), of
 * which the step is solved exactly (`diffusions.ts`).
 *
 * b is the mean of the diffusion over the step, with the curvature term of the weak Taylor scheme of order 2 (P.
 * Kloeden and E. Platen, Numerical Solution of Stochastic Differential Equations (1992), section 14.2, for dY = b(Y, t)
 * dW):
 *
 *   b + ½·b_t·Δt + ¼·b²·b″·Δt
 */
import { fn, formula, type KernelFunction, read, real } from "../../kernel/index.ts";
import { keyOf, memoize } from "../../base/memoize.ts";
import { Tables } from "../model.ts";
import type { Column, Parameter } from "../parameters.ts";

/**
 * The volatility of one asset. `added` is added to σ, and the sum is bounded below by 0.
 *
 * * `constant`: σ of each step.
 * * `cev`: σ(S) = sigma·S^(beta − 1), absorbed at zero.
 * * `displaced`: σ(S) = sigma·(S + shift)/S, absorbed at zero.
 * * `formula`: σ(S, t) as text, at the `time` of each step.
 * * `table`: σ of each step, cubic between spots by its values and slopes there, and flat outside.
 */
export type AssetVolatility =
  | { readonly kind: "constant"; readonly sigma: Parameter }
  | { readonly kind: "cev"; readonly sigma: Column; readonly beta: Column; readonly added: Column }
  | { readonly kind: "displaced"; readonly sigma: Column; readonly shift: Column; readonly added: Column }
  | { readonly kind: "formula"; readonly expression: string; readonly time: Parameter; readonly added: Column }
  | {
      readonly kind: "table";
      readonly spots: readonly Column[];
      readonly volatility: readonly Parameter[];
      readonly slopes: readonly Parameter[];
      readonly added: Column;
    };

/**
 * The properties of a volatility on which kernels depend: its kind, its formula, and the number of spots of its table.
 */
export type VolatilityShape = Readonly<{ kind: AssetVolatility["kind"]; expression: string; nodes: number }>;

/** Returns the shape of a volatility. */
export const shapeOf = (volatility: AssetVolatility): VolatilityShape => ({
  kind: volatility.kind,
  expression: volatility.kind === "formula" ? volatility.expression : "",
  nodes: volatility.kind === "table" ? volatility.spots.length : 0,
});

/** The numbers of a volatility that each path copies, in the order in which `frozenFunction` reads them. */
export function numbersOf(volatility: AssetVolatility): readonly Parameter[] {
  switch (volatility.kind) {
    case "constant":
      return [volatility.sigma];
    case "cev":
      return [volatility.sigma, volatility.beta, volatility.added];
    case "displaced":
      return [volatility.sigma, volatility.shift, volatility.added];
    case "formula":
      return [volatility.added, volatility.time];
    case "table":
      return [volatility.added];
    default:
      return volatility satisfies never;
  }
}

/** The numbers of a table: its spots, then the volatility and its slope at each of them. */
export const tableOf = (volatility: AssetVolatility): readonly Parameter[] =>
  volatility.kind === "table"
    ? [...volatility.spots, ...volatility.spots.flatMap((_, k) => [volatility.volatility[k], volatility.slopes[k]])]
    : [];

/** Tells whether the spot may reach zero, where it stays. */
export const isAbsorbed = ({ kind }: Pick<VolatilityShape, "kind">): boolean => kind === "cev" || kind === "displaced";

/** The index of each number that all assets have before those of their volatility. */
export const COMMON_INDEX = {
  /** exp(∫(r − q)) over the step. */
  growth: 0,
  /** The share of the spot that a proportional dividend leaves at the end of the step, and the cash dividend there. */
  kept: 1,
  cash: 2,
  /** 1 where the diffusion is evaluated at the start of the step, 0 where that of the step before is kept. */
  fresh: 3,
  /** The years for which the diffusion is kept, and the growth to the middle of them. */
  span: 4,
  middle: 5,
  /** 1 where products see the spot, 0 where they still see that of the step before. */
  shown: 6,
} as const;
/** The number of these numbers. */
export const COMMON_COUNT = 7;

const sigmaParams = { S: real, c: read(real), tables: Tables } as const;
type Sigma = KernelFunction<typeof sigmaParams, number>;

/** The positions of an asset's numbers among the coefficients, and of its table among the tables. */
export interface CoefficientPositions {
  readonly at: number;
  readonly table: number;
}

const formulaSigma = (expression: string, { at }: CoefficientPositions): Sigma =>
  fn({
    name: "formulaSigma",
    params: sigmaParams,
    env: { sigma: formula(expression, ["S", "t"], "volatility"), OWN: at + COMMON_COUNT },
    body({ S, c }, _gpu, { sigma, OWN }) {
      return Math.max(sigma(S, c[OWN + 1]) + c[OWN], 0);
    },
  });

/** The cubic between two spots, by halving. Cost: log₂ of the number of spots reads, and 6 more. */
const tableSigma = (nodes: number, { at, table }: CoefficientPositions): Sigma =>
  fn({
    name: "tableSigma",
    params: sigmaParams,
    env: { N: nodes, LEVELS: Math.ceil(Math.log2(nodes)), OWN: at + COMMON_COUNT, FIRST: table },
    body({ S, c, tables: { values, first, stride } }, gpu, { N, LEVELS, OWN, FIRST }) {
      const origin = first + FIRST * stride;
      let left = gpu.i32(0);
      for (let level = 0; level < LEVELS; level++) {
        const next = left + (1 << (LEVELS - 1 - level));
        if (next < N && S >= values[origin + Math.min(next, N - 1) * stride]) left = next;
      }
      const right = Math.min(left + 1, N - 1);
      const from = values[origin + left * stride];
      const width = values[origin + right * stride] - from;
      const one = origin + (N + 2 * left) * stride;
      const other = origin + (N + 2 * right) * stride;
      const u = width > 0 ? Math.max((S - from) / width, 0) : 0;
      const sigma = values[one];
      const rise = values[other] - sigma;
      const before = values[one + stride] * width;
      const after = values[other + stride] * width;
      const cubic = sigma + u * (before + u * (3 * rise - 2 * before - after + u * (before + after - 2 * rise)));
      return Math.max(cubic + c[OWN], 0);
    },
  });

const frozenParams = { S: real, c: read(real), tables: Tables } as const;
/** The kernel function that returns b and b₁ at a spot S > 0. */
export type FrozenFunction = KernelFunction<typeof frozenParams, { b: number; slope: number }>;

/**
 * The line through the diffusion a standard deviation of the step above and below. Where σ bends or jumps within the
 * step, it sees the mean of it.
 */
const secant = (sigma: Sigma, { at }: CoefficientPositions): FrozenFunction =>
  fn({
    name: "secant",
    params: frozenParams,
    env: { sigma, SPAN: at + COMMON_INDEX.span, MIDDLE: at + COMMON_INDEX.middle },
    body({ S, c, tables }, _gpu, { sigma, SPAN, MIDDLE }) {
      const m = c[MIDDLE];
      const here = S * sigma({ S: S * m, c, tables });
      const reach = Math.min(Math.max(here * Math.sqrt(c[SPAN]), 1e-4 * S), 0.5 * S);
      const up = (S + reach) * sigma({ S: (S + reach) * m, c, tables });
      const down = (S - reach) * sigma({ S: (S - reach) * m, c, tables });
      const curved = 0.25 * (up - 2 * here + down);
      return { b: here + Math.min(Math.max(curved, -0.5 * here), 0.5 * here), slope: (0.5 * (up - down)) / reach };
    },
  });

const constantLine = ({ at }: CoefficientPositions): FrozenFunction =>
  fn({
    name: "constantLine",
    params: frozenParams,
    env: { OWN: at + COMMON_COUNT },
    body({ S, c }, _gpu, { OWN }) {
      return { b: c[OWN] * S, slope: c[OWN] };
    },
  });

const displacedLine = ({ at }: CoefficientPositions): FrozenFunction =>
  fn({
    name: "displacedLine",
    params: frozenParams,
    env: { OWN: at + COMMON_COUNT, MIDDLE: at + COMMON_INDEX.middle },
    body({ S, c }, _gpu, { OWN, MIDDLE }) {
      const slope = c[OWN] + c[OWN + 2];
      const b = slope * S + (c[OWN] * c[OWN + 1]) / c[MIDDLE];
      return { b: Math.max(b, 0), slope: b > 0 ? slope : 0 };
    },
  });

/** b = v·S with v = σ·S^(β − 1), b′ = β·v, b″ = β·(β − 1)·v/S. */
const cevLine = ({ at }: CoefficientPositions): FrozenFunction =>
  fn({
    name: "cevLine",
    params: frozenParams,
    env: { OWN: at + COMMON_COUNT, SPAN: at + COMMON_INDEX.span, MIDDLE: at + COMMON_INDEX.middle },
    body({ S, c }, _gpu, { OWN, SPAN, MIDDLE }) {
      const beta = c[OWN + 1];
      const v = c[OWN] * Math.pow(S * c[MIDDLE], beta - 1);
      const total = Math.max(v + c[OWN + 2], 0);
      const curved = 0.25 * total * beta * (beta - 1) * v * c[SPAN];
      const b = total * S * (1 + Math.min(Math.max(curved, -0.5), 0.5));
      return { b, slope: total > 0 ? beta * v + c[OWN + 2] : 0 };
    },
  });

/**
 * Returns the kernel function that linearises the diffusion about a spot. It is the same for equal shapes and
 * positions.
 */
export const frozenFunction = memoize(
  ({ kind, expression, nodes }: VolatilityShape, places: CoefficientPositions): FrozenFunction => {
    switch (kind) {
      case "constant":
        return constantLine(places);
      case "cev":
        return cevLine(places);
      case "displaced":
        return displacedLine(places);
      case "formula":
        return secant(formulaSigma(expression, places), places);
      case "table":
        return secant(tableSigma(nodes, places), places);
      default:
        return kind satisfies never;
    }
  },
  256,
  (shape, places) => keyOf([shape, places]),
);
