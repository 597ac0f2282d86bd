/** The constants that a kernel of paths is compiled for, apart from all numbers of trades. */
import type { PathModel } from "../model.ts";
import type { PathProduct } from "../product.ts";
import { keyOf } from "../../base/memoize.ts";

/** The source of random numbers: the generator Philox, or scrambled Sobol' points. @experimental */
export type Sampling = "philox" | "sobol";

/** The properties of a simulation that the code of its kernels depends on. */
export interface PathShape {
  readonly model: PathModel;
  readonly product: PathProduct;
  /** The control variate: a second product on the same paths, whose mean is known. */
  readonly control: PathProduct | undefined;
  /** The number of model steps between dates. */
  readonly substeps: number;
  readonly sampling: Sampling;
  /**
   * True with importance sampling: normal numbers are shifted, and paths are weighted by the ratio of the densities.
   * False by default.
   */
  readonly isShifted?: boolean;
}

/** The number of samples in a block, which one work item processes in turn and sums. */
export const BLOCK = 64;

/** Numbers at the head of a step's rows: when it begins, its length, and the discount factor to its end. */
const STEP_HEAD = 3;

/**
 * The numbers of rows of the parameter table. It has a column for each instance of each variant, and rows for the start
 * of the path, followed by the rows of each step.
 */
export interface Rows {
  /** The number of rows of the initial state. */
  readonly state: number;
  /** The number of rows of the product's parameters, without those of each step. */
  readonly product: number;
  /** The number of rows of the product's parameters in each step, which come last in it. */
  readonly dated: number;
  /** The place of the first of them among the rows of a step. */
  readonly datedAt: number;
  /** The number of rows of the control variate's parameters. */
  readonly control: number;
  /** The number of rows before those of the first step: initial state, and the parameters of product and control. */
  readonly head: number;
  /** The number of rows for each step. */
  readonly step: number;
  /** The number of rows of a step's coefficients. */
  readonly coefficients: number;
  /** The number of coefficients that each path copies. */
  readonly copied: number;
  /** The number of the model's parameters. */
  readonly modelParameters: number;
}

const count = (record: object): number => Object.keys(record).length;

/** Returns the numbers of rows of the parameter table of a shape. */
export function rowsOf({ model, product, control, isShifted }: PathShape): Rows {
  const modelParameters = count(model.parameters);
  const coefficients = model.coefficients?.count ?? modelParameters;
  const rows = {
    state: model.state,
    product: count(product.parameters) - (product.dated ?? 0),
    dated: product.dated ?? 0,
    control: control === undefined ? 0 : count(control.parameters),
  };
  const datedAt = STEP_HEAD + coefficients + (isShifted === true ? model.normals : 0);
  return {
    ...rows,
    head: rows.state + rows.product + rows.control,
    step: datedAt + rows.dated,
    datedAt,
    coefficients,
    copied: model.coefficients?.copied ?? coefficients,
    modelParameters,
  };
}

/** The numbers of random numbers that a step needs, and how Philox's blocks of four 32-bit integers provide them. */
export interface DrawShape {
  /** The number of normal numbers of the model. */
  readonly normals: number;
  /** The number of uniform numbers of the model. */
  readonly modelUniforms: number;
  /** The number of uniform numbers of the product. */
  readonly productUniforms: number;
  /** The number of random numbers of a step, normal and uniform. */
  readonly numbers: number;
  /** The number of Philox blocks for each group of steps. */
  readonly blocks: number;
  /** The number of successive steps that share one block. */
  readonly group: number;
}

/** Returns the random numbers that a step of a shape needs. */
export function drawsOf({ model, product }: PathShape): DrawShape {
  const productUniforms = product.uniforms ?? 0;
  const numbers = model.normals + model.uniforms + productUniforms;
  const shared = 4 % numbers === 0;
  return {
    normals: model.normals,
    modelUniforms: model.uniforms,
    productUniforms,
    numbers,
    blocks: shared ? 1 : Math.ceil(numbers / 4),
    group: shared ? 4 / numbers : 1,
  };
}

/** Returns the length with which a private array is declared, which is at least 1. */
export const arrayLength = (length: number): number => Math.max(1, length);

/**
 * Returns the values that the kernels of a shape depend on, as a cache key: functions and counts, but no parameters of
 * trades.
 */
export const cacheKeyParts = ({
  model,
  product,
  control,
  substeps,
  sampling,
  isShifted,
}: PathShape): readonly unknown[] => [
  ...modelParts(model),
  ...productParts(product),
  ...(control === undefined ? [] : productParts(control)),
  substeps,
  sampling,
  isShifted === true,
];

const modelParts = (m: PathModel): readonly unknown[] => [
  [m.assets, m.state, m.normals, m.uniforms, Object.keys(m.parameters).join(" ")].join(";"),
  m.coefficients?.count,
  m.coefficients?.copied,
  m.coefficients?.function,
  m.start,
  m.step,
  m.observe,
  m.logs,
  m.discount,
  m.variances,
  m.variancesAfterStep === true,
  m.score?.function,
];

const productParts = (p: PathProduct): readonly unknown[] => [
  [p.running, p.uniforms, p.monitoring, p.usesLogs, p.dated, Object.keys(p.parameters).join(" ")].join(";"),
  p.start,
  p.update,
  p.payoff,
  p.halfWidth,
  ...(p.right === undefined ? [] : [[p.right.side, p.right.stopped, p.right.paid].join(" ")]),
];

/** Returns the key of a kernel that depends on a shape and on `further` values. */
export const shapeKey = (shape: PathShape, ...further: readonly unknown[]): string =>
  keyOf([...cacheKeyParts(shape), ...further]);
