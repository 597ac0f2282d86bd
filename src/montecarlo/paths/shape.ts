/** The constants that a kernel of paths is compiled for, apart from all numbers of trades. */
import type { PathModel } from "../model.ts";
import type { PathProduct } from "../product.ts";
import { keyOf, remembered } from "../../remembered.ts";

/** The source of random numbers. */
export type Sampling = "philox" | "sobol";

/** The constants of a kernel of paths. */
export interface PathShape {
  readonly model: PathModel;
  readonly product: PathProduct;
  /** The control variate: a second product on the same paths with a known mean. */
  readonly control: PathProduct | undefined;
  /** The number of model steps between dates. */
  readonly substeps: number;
  readonly sampling: Sampling;
  /** True where normal numbers are shifted, and paths weighted by the ratio of the densities; false by default. */
  readonly isShifted?: boolean;
}

/** The number of samples that a work item processes in turn and sums first. */
export const BLOCK = 64;

/** Numbers at the head of a step's rows: when it begins, its length, and the discount factor to its end. */
const STEP_HEAD = 3;

/** The rows of the table of a shape, each with a number for all columns (instances of all variants). */
export interface Rows {
  readonly state: number;
  readonly product: number;
  readonly control: number;
  /** The number of rows before those of the steps. */
  readonly head: number;
  /** The number of rows of a step. */
  readonly step: number;
  readonly coefficients: number;
  readonly modelParameters: number;
}

const count = (record: object): number => Object.keys(record).length;

/** Returns the rows of the table of a shape. */
export function rowsOf({ model, product, control, isShifted }: PathShape): Rows {
  const modelParameters = count(model.parameters);
  const coefficients = model.coefficients?.count ?? modelParameters;
  const rows = {
    state: model.state,
    product: count(product.parameters),
    control: control === undefined ? 0 : count(control.parameters),
  };
  return {
    ...rows,
    head: rows.state + rows.product + rows.control,
    step: STEP_HEAD + coefficients + (isShifted === true ? model.normals : 0),
    coefficients,
    modelParameters,
  };
}

/** The random numbers of a step, and their distribution over Philox's blocks of four words. */
export interface DrawShape {
  readonly normals: number;
  readonly modelUniforms: number;
  readonly productUniforms: number;
  /** The number of random numbers of all kinds. */
  readonly numbers: number;
  /** The number of blocks of Philox per group of steps. */
  readonly blocks: number;
  readonly group: number;
}

/** Returns the random numbers of a step of a shape. */
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

/** Returns the length of a private array, which has at least one element. */
export const room = (length: number): number => Math.max(1, length);

/** Returns the parts on which a shape's kernels depend: functions and counts, but no numbers of trades. */
export const partsOf = ({ model, product, control, substeps, sampling, isShifted }: PathShape): readonly unknown[] => [
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
  m.coefficients?.function,
  m.start,
  m.step,
  m.observe,
  m.logs,
  m.discount,
  m.variances,
  m.score?.function,
];

const productParts = (p: PathProduct): readonly unknown[] => [
  [p.running, p.uniforms, p.monitoring, p.usesLogs, Object.keys(p.parameters).join(" ")].join(";"),
  p.start,
  p.update,
  p.payoff,
];

/** Returns a cached function that makes the kernel of a shape and further parts. */
export function kernelOf<S extends PathShape, K>(
  make: (shape: S) => K,
  further: (shape: S) => readonly unknown[] = () => [],
): (shape: S) => K {
  return remembered(make, 64, (shape) => keyOf([...partsOf(shape), ...further(shape)]));
}
