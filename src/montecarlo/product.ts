/** The interface of products for the path engine: a running state that each date updates, and a payoff. */
import { i32, type KernelFunction, read, real, write } from "../kernel/index.ts";
import type { ParameterFailure, Parameters } from "./parameters.ts";

const startParams = { running: write(real), spots: read(real), p: read(real) } as const;
const updateParams = {
  running: write(real),
  spots: read(real),
  logs: read(real),
  before: read(real),
  variances: read(real),
  uniforms: read(real),
  p: read(real),
  q: read(real),
  t: real,
  dt: real,
  date: i32,
  discount: real,
} as const;
const payoffParams = { running: read(real), spots: read(real), p: read(real), t: real, discount: real } as const;

/**
 * The parameters of the kernel functions of a product, for `fn`.
 *
 * @example
 * import { productParams } from "feynkac/montecarlo";
 *
 * console.log(Object.keys(productParams.payoff).join(" ")); // running spots p t discount
 * @experimental
 */
export const productParams: {
  readonly start: typeof startParams;
  readonly update: typeof updateParams;
  readonly payoff: typeof payoffParams;
} = { start: startParams, update: updateParams, payoff: payoffParams };

/** A product's payoff, as a kernel function. @experimental */
export type PayoffFunction = KernelFunction<typeof payoffParams, number>;

/**
 * The early rights of a product that pays as it goes: indices of running numbers that `update` sets at each date.
 * `side` is 1 where the holder may end the product, −1 where the issuer may, and 0 where nobody may; `stopped` is what
 * it has then paid in all, and `paid` what it has paid if it goes on, both discounted to time 0.
 * @experimental
 */
export interface EarlyRight {
  readonly side: number;
  readonly stopped: number;
  readonly paid: number;
}

/**
 * A product of the path engine, whose payoff is a function of the path. `running` numbers carry the needed information
 * on the path from date to date; `p` are its parameters.
 * @experimental
 */
export interface PathProduct {
  readonly name: string;
  /** The number of reals of the running state; 0 for a payoff of the last spots alone. */
  readonly running: number;
  /** The parameters, read as `p` by all functions; constant in time, but for `dated` ones. */
  readonly parameters: Parameters;
  /**
   * The number of the last parameters that are given by step; 0 by default. `update` reads those of its step as `q`,
   * and they are not among `p`.
   */
  readonly dated?: number;
  /** The numbers out of bounds in columns of parameters: simulations leave their instances out. None by default. */
  readonly failures?: readonly ParameterFailure[];
  /** The minimum number of spots; that of the model by default. */
  readonly assets?: number;
  /** Sets the running state at time 0; zeros by default. */
  readonly start?: KernelFunction<typeof startParams, void>;
  /**
   * Updates the running state at each date, after the model's step. `t` and `dt` are those of the step's end, `before`
   * the spots at its start, `discount` the discount factor to its end. `logs` are the logarithms of the spots if
   * `usesLogs` is true.
   */
  readonly update?: KernelFunction<typeof updateParams, void>;
  /**
   * Returns the payoff at the last date, not discounted. To pay earlier, add cash·discount to `running` and divide by
   * `discount` here.
   */
  readonly payoff: PayoffFunction;
  /** The early rights that `longstaffSchwartz` decides on; `payoff` alone decides on those of the last date. */
  readonly right?: EarlyRight;
  /**
   * Returns half the distance of the bounds of a payoff that a path leaves open, not discounted; `payoff` returns their
   * middle. Undefined where paths determine the payoff.
   */
  readonly halfWidth?: PayoffFunction | undefined;
  /**
   * The times of monitoring: dates by default; with "steps" `update` runs after each step of the model; with "bridge"
   * it also receives `variances` of ln S over the step, for Brownian bridges between `before` and `spots`.
   */
  readonly monitoring?: "steps" | "bridge";
  /** The number of independent uniform numbers of each update, in (0, 1). */
  readonly uniforms?: number;
  /**
   * The parameters that `payoff` alone reads, by name; none by default. Copies that differ in these alone share the
   * path of the simulation that they are copies of.
   */
  readonly payoffParameters?: readonly string[];
  /** True where `update` reads `logs`; false by default. */
  readonly usesLogs?: boolean;
  /**
   * False for a payoff that is a continuous function of the path, whose first sensitivities are then derivatives along
   * paths. True where it jumps, so that those are wrong and rejected. Sensitivities are differences where neither is
   * said.
   */
  readonly isDiscontinuous?: boolean;
}
