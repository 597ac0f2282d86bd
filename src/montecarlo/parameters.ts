/** Numbers of a batch: one for all instances, one for each, and for each date; as the table that kernels read. */
import { type FeynkacError, ShapeError, SpecError } from "../base/errors.ts";
import { typeInWords } from "../base/argument-checks.ts";

/** One number for all instances, or one for each. @experimental */
export type Column = number | ArrayLike<number>;

/** A parameter: a column, or one for each step of the time grid, piecewise constant in time. @experimental */
export type Parameter = Column | { readonly byStep: readonly Column[] };

/** The parameters by name; kernel functions read them as `p[0]`, `p[1]`, … in this order. @experimental */
export interface Parameters {
  readonly [name: string]: Parameter;
}

/** Tells whether a parameter is given by step. */
export const isByStep = (parameter: Parameter): parameter is { readonly byStep: readonly Column[] } =>
  typeof parameter === "object" && "byStep" in parameter;

const lengthOf = (column: Column): number => (typeof column === "number" ? 1 : column.length);

/**
 * The number of layout entries of a parameter: parameter j of instance i at step k is at offset + k·stepStride +
 * i·instanceStride in `values`.
 */
export const LAYOUT_NUMBERS = 3;

/** The parameters in the layout that kernels read. */
export interface ParameterTable {
  /** The parameters, followed by their tangents in each direction in the same layout. */
  readonly values: Float64Array;
  /** The length of the parameters' values in `values`, without tangents. */
  readonly length: number;
  /** The layout, [parameters, 3]: offset, step stride, instance stride. */
  readonly layout: Int32Array;
}

/** Returns the columns of a parameter: itself, or one for each step. */
export const columnsOf = (parameter: Parameter): readonly Column[] =>
  isByStep(parameter) ? parameter.byStep : [parameter];

/**
 * Returns the number of instances: the length of the arrays among all parameters, 1 if there are only numbers. @throws
 * ShapeError | SpecError
 */
export function instancesOf(groups: Readonly<Record<string, Parameters>>): number {
  let instances = 1;
  let owner = "";
  for (const [group, parameters] of Object.entries(groups))
    for (const [name, parameter] of Object.entries(parameters))
      for (const column of columnsOf(parameter)) {
        const length = lengthOf(column);
        if (typeof column !== "number" && length === 0)
          throw new ShapeError(`${group}.${name}: got an empty array, expected a number, or one for each instance`);
        if (length === 1) continue;
        if (instances > 1 && length !== instances)
          throw new ShapeError(
            `${group}.${name}: got ${length} numbers, expected ${instances} as ${owner} has, one for each instance`,
          );
        [instances, owner] = [length, `${group}.${name}`];
      }
  return instances;
}

/**
 * Packs the finite parameters of some instances: all instances of the first variant, then those of the next. Variants
 * are the same parameters with some of them shifted. `tangents` says for each direction how fast the parameters of the
 * first variant move; those that it does not name stay. @throws ShapeError a number of steps that differs from the time
 * grid's
 */
export function tableOf(
  group: string,
  variants: readonly Parameters[],
  steps: number,
  members: Uint32Array,
  tangents: readonly Parameters[] = [],
): ParameterTable {
  const names = Object.keys(variants[0]);
  const layout = new Int32Array(Math.max(1, names.length) * LAYOUT_NUMBERS);
  const parts: Float64Array[][] = [];
  let offset = 0;
  names.forEach((name, j) => {
    const values = variants.map((parameters) => parameters[name]);
    const moves = tangents.map((parameters) => parameters[name] ?? 0);
    const all = [...values, ...moves];
    const count = all.some(isByStep) ? steps : 1;
    const wrong = all.find((one) => isByStep(one) && one.byStep.length !== steps);
    if (wrong !== undefined)
      throw new ShapeError(
        `${group}.${name}: byStep: got ${columnsOf(wrong).length} columns, expected ${steps}, one per step`,
      );
    const wide =
      all.some((one) => columnsOf(one).some((column) => lengthOf(column) > 1)) ||
      values.some((one) =>
        columnsOf(one).some((column, k) => columnAt(column, 0) !== columnAt(stepOf(values[0], k), 0)),
      );
    const each = wide ? members.length : 1;
    const width = wide ? each * variants.length : 1;
    layout.set([offset, count > 1 ? width : 0, wide ? 1 : 0], j * LAYOUT_NUMBERS);
    const packed = (some: readonly Parameter[]): Float64Array => {
      const part = new Float64Array(count * width);
      for (let k = 0; k < count; k++)
        for (let v = 0; v < Math.min(some.length, width / each); v++) {
          const column = stepOf(some[v], k);
          const at = k * width + v * each;
          for (let i = 0; i < each; i++) part[at + i] = columnAt(column, wide ? members[i] : 0);
        }
      return part;
    };
    parts.push([packed(values), ...moves.map((one) => packed([one]))]);
    offset += count * width;
  });
  const length = Math.max(1, offset);
  const values = new Float64Array(length * (1 + tangents.length));
  let at = 0;
  for (const part of parts) {
    part.forEach((numbers, d) => values.set(numbers, d * length + at));
    at += part[0].length;
  }
  return { values, layout, length };
}

/** Returns the column of a parameter for a step. */
export const stepOf = (parameter: Parameter, k: number): Column =>
  isByStep(parameter) ? parameter.byStep[parameter.byStep.length === 1 ? 0 : k] : parameter;

/** Returns the number of an instance in a column. */
export const columnAt = (column: Column, i: number): number =>
  typeof column === "number" ? column : column[column.length === 1 ? 0 : i];

/** Returns the column of the values of `f`, applied to the numbers of other columns instance by instance. */
export function mapColumns(columns: readonly Column[], f: (...numbers: number[]) => number): Column {
  const width = Math.max(...columns.map(lengthOf));
  if (width === 1) return f(...columns.map((column) => columnAt(column, 0)));
  return Float64Array.from({ length: width }, (_, i) => f(...columns.map((column) => columnAt(column, i))));
}

/** A number of a column that is out of its bounds, by which instances fail. @experimental */
export interface ParameterFailure {
  /** The instance that fails; undefined for all, where the column has one number. */
  readonly instance: number | undefined;
  readonly error: FeynkacError;
}

/**
 * Returns the failures of the instances whose numbers do not satisfy `is`. @throws SpecError where a number that is not
 * in a column does not, or where the parameter is neither
 */
export function failuresOf(
  path: string,
  parameter: Parameter,
  expected: string,
  is: (x: number) => boolean,
): readonly ParameterFailure[] {
  return columnsOf(parameter).flatMap((column: Column) => {
    if (typeof column === "number" && is(column)) return [];
    if (typeof column === "object" && column !== null) return failuresIn(path, column, expected, is);
    throw new SpecError(
      `${path}: got ${typeof column === "number" ? column : typeInWords(column)}, expected ${expected}`,
    );
  });
}

function failuresIn(
  path: string,
  column: ArrayLike<number>,
  expected: string,
  is: (x: number) => boolean,
): ParameterFailure[] {
  const failures: ParameterFailure[] = [];
  for (let i = 0; i < column.length; i++)
    if (!is(column[i])) {
      const error = new SpecError(`${path}[${i}]: got ${column[i]}, expected ${expected}`);
      failures.push({ instance: column.length === 1 ? undefined : i, error });
    }
  return failures;
}
