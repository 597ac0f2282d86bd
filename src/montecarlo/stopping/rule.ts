/** The exercise rule of a regression: its continuation value at a state, for all kernels that follow it. */
import { fn, i32, read, real, record, write } from "../../kernel/index.ts";
import { Path, payoffAtPathEnd } from "../paths/advance.ts";
import type { PathShape } from "../paths/shape.ts";
import { arrayLength, shapeKey } from "../paths/shape.ts";
import type { BasisShape } from "./basis.ts";

/** The shape of paths with the basis of an exercise rule. */
export interface StoppingShape extends PathShape {
  readonly basis: BasisShape;
  readonly single: boolean;
}

const dueParams = { path: Path, time: real, discount: real } as const;

/**
 * Returns the kernel function that computes what stopping a path at a date is worth, discounted to time 0: `due` is
 * what it adds to what the path has `paid`, and `side` tells who may stop it. An option has paid nothing, and its
 * holder may stop where the payoff is positive.
 */
export function dueFunction({ product: { right, payoff } }: PathShape) {
  if (right === undefined)
    return fn({
      name: "dueOfOption",
      params: dueParams,
      env: { payoff: payoffAtPathEnd(payoff) },
      body({ path, time, discount }, gpu, env) {
        const due = discount * env.payoff({ path, end: { time, discount } });
        return { due, paid: gpu.real(0), side: due > 0 ? gpu.real(1) : gpu.real(0) };
      },
    });
  return fn({
    name: "dueOfRight",
    params: dueParams,
    env: { SIDE: right.side, STOPPED: right.stopped, PAID: right.paid },
    body({ path }, _gpu, { SIDE, STOPPED, PAID }) {
      const { running } = path;
      return { due: running[STOPPED] - running[PAID], paid: running[PAID], side: running[SIDE] };
    },
  });
}

/** Returns the values on which the code of kernels with a basis depends, as parts of a cache key. */
export const basisParts = (basis: BasisShape | undefined): readonly unknown[] =>
  basis === undefined
    ? []
    : [[basis.variables, basis.count, basis.standardised].join(" "), basis.variablesOf, basis.basis];

/** Returns the key of a kernel of a stopping shape. */
export const stoppingKey = (shape: StoppingShape): string => shapeKey(shape, shape.single, basisParts(shape.basis));

/**
 * The coefficients of an exercise rule, [dates, functions, instances], and the scales of variables, [dates, variables,
 * 2, instances]: the subtracted mean, and the factor.
 */
export const Rule = record({ betas: read(real), scales: read(real), instances: i32, instance: i32, date: i32 });

/** Returns the function that scales the variables `x` of a state, and sets the values of the basis there. */
export function scaledBasis(basis: BasisShape) {
  return fn({
    name: "scaledBasis",
    params: { rule: Rule, payoff: real, x: write(real), values: write(real) },
    env: { basis: basis.basis, F: basis.variables },
    body({ rule, payoff, x, values }, _gpu, { basis, F }) {
      for (let f = 0; f < F; f++) {
        const at = 2 * (rule.date * F + f) * rule.instances + rule.instance;
        x[f] = (x[f] - rule.scales[at]) * rule.scales[at + rule.instances];
      }
      basis({ x, payoff, basis: values });
    },
  });
}

/**
 * Returns the kernel function that computes the continuation value from the values of the basis, discounted to time 0.
 */
export function continuationFromBasis(basis: BasisShape) {
  return fn({
    name: "continuedBy",
    params: { rule: Rule, values: read(real) },
    env: { B: basis.count },
    body({ rule, values }, gpu, { B }) {
      let sum = gpu.real(0);
      for (let j = 0; j < B; j++) sum += rule.betas[(rule.date * B + j) * rule.instances + rule.instance] * values[j];
      return sum;
    },
  });
}

/** Returns the kernel function that computes the continuation value at a state of a path, discounted to time 0. */
export function continuationFunction(basis: BasisShape) {
  return fn({
    name: "continuation",
    params: { rule: Rule, path: Path, payoff: real },
    env: {
      variablesOf: basis.variablesOf,
      scaledBasis: scaledBasis(basis),
      continuedBy: continuationFromBasis(basis),
      B: basis.count,
      X_ROOM: arrayLength(basis.variables),
    },
    body({ rule, path, payoff }, gpu, env) {
      const x = gpu.privateReal(env.X_ROOM);
      const values = gpu.privateReal(env.B);
      env.variablesOf({ spots: path.spots, running: path.running, state: path.state, x });
      env.scaledBasis({ rule, payoff, x, values });
      return env.continuedBy({ rule, values });
    },
  });
}
