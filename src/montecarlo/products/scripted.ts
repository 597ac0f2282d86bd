/** Scripts as products of the path engine. */
import { ShapeError, SpecError } from "../../base/errors.ts";
import { memoize } from "../../base/memoize.ts";
import { functionFromSource, interpretWithin, kernel, lower, read, real, write } from "../../kernel/index.ts";
import { dateText, PAID, type Program } from "../../market/scripts/index.ts";
import type { Column } from "../parameters.ts";
import { type PathProduct, productParams } from "../product.ts";

/** The settings of `scripted`. */
export interface ScriptedSettings {
  readonly program: Program;
  /** The numbers carried to time 0, one column for each (`Program.running`); the first is what is known to be paid. */
  readonly running: readonly Column[];
  /** The numbers of the data, in the order of `Program.scalars`. */
  readonly scalars: readonly Column[];
  /** The numbers of each date, [columns][dates], in the order of `Program.columns`. */
  readonly dated: readonly (readonly Column[])[];
  /** The index of the carried number that is returned at the end of a path, in place of what was paid. */
  readonly reads?: Column;
  /** The number of model steps between dates, 1 by default. */
  readonly substeps?: number;
}

/**
 * Returns what a script pays along a path, as a product. All numbers of the data are columns, so that trades of one
 * program share a kernel.
 *
 * Accuracy: exact on the dates of the paths. Verified: test/montecarlo/scripted.test.ts.
 *
 * @throws ShapeError for columns that do not fit the program
 */
export function scripted(settings: ScriptedSettings): PathProduct {
  const { program, running, scalars, dated, reads, substeps = 1 } = settings;
  checkCount("running", running.length, program.running);
  checkCount("scalars", scalars.length, program.scalars.length);
  checkCount("dated", dated.length, program.columns.length);
  const named = (name: string, columns: readonly Column[]) =>
    columns.map((column, k) => [`${name}${k}`, column] as const);
  const bySteps = dated.map((dates) => ({ byStep: dates.flatMap((one) => Array<Column>(substeps).fill(one)) }));
  return {
    name: program.name,
    assets: program.assets,
    running: program.running,
    parameters: {
      ...Object.fromEntries([...named("running", running), ...named("data", scalars)]),
      ...(reads === undefined ? {} : { reads }),
      ...Object.fromEntries(bySteps.map((parameter, k) => [`dated${k}`, parameter])),
    },
    dated: dated.length,
    isDiscontinuous: program.jumps.length > 0,
    ...(program.rightAt === undefined
      ? {}
      : { right: { side: program.rightAt, stopped: program.rightAt + 1, paid: PAID } }),
    ...scriptFunctions(program),
    ...(reads === undefined ? {} : { payoff: carriedNumber(running.length + scalars.length) }),
  };
}

/** Returns the payoff that is a carried number, whose index is the parameter with a given place. */
const carriedNumber = memoize((place: number) =>
  functionFromSource<typeof productParams.payoff, number>({
    name: "carriedNumber",
    params: productParams.payoff,
    source: `({ running, p, discount }) => running[p[${place}] | 0] / discount`,
  }),
);

function checkCount(what: string, got: number, expected: number): void {
  if (got !== expected) throw new ShapeError(`scripted: ${what}: got ${got} columns, expected ${expected}`);
}

/** The kernel functions of a program, the same for equal programs. */
const scriptFunctions = memoize(
  (program: Program) => {
    const { rightAt } = program;
    // On the last date nothing comes that a right could wait for.
    const paid =
      rightAt === undefined
        ? `running[${PAID}]`
        : `(running[${rightAt}] * (running[${rightAt + 1}] - running[${PAID}]) > 0 ` +
          `? running[${rightAt + 1}] : running[${PAID}])`;
    return {
      start: functionFromSource<typeof productParams.start, void>({
        name: "scriptStart",
        params: productParams.start,
        source: `({ running, p }) => { for (let k = 0; k < ${program.running}; k++) running[k] = p[k]; }`,
      }),
      update: updateFunction(program),
      payoff: functionFromSource<typeof productParams.payoff, number>({
        name: "scriptPayoff",
        params: productParams.payoff,
        source: `({ running, discount }) => ${paid} / discount`,
      }),
    };
  },
  256,
  ({ key }) => key,
);

/** Returns the function that runs a date of a program, the same for equal programs. */
export const scriptUpdate = (program: Program) => scriptFunctions(program).update;

const updateFunction = (program: Program) =>
  functionFromSource<typeof productParams.update, void>({
    name: "scriptUpdate",
    params: productParams.update,
    source: `({ running, spots, p, q, discount }, gpu) => {\n${dateText(program)}\n}`,
  });

/** What the interpreter runs for one date. */
const dateKernel = memoize(
  (program: Program) => {
    const arrays = { running: write(real), spots: read(real), p: read(real), q: read(real) };
    return lower(
      kernel({
        name: "scriptDate",
        params: { ...arrays, discount: real, unused: write(real) },
        env: { update: scriptFunctions(program).update },
        body({ running, spots, p, q, discount, unused }, gpu, { update }) {
          const t = gpu.real(0);
          update({
            running,
            spots,
            p,
            q,
            logs: unused,
            before: unused,
            variances: unused,
            uniforms: unused,
            t,
            dt: t,
            date: 0,
            discount,
          });
        },
      }),
      "f64",
    );
  },
  256,
  ({ key }) => key,
);

/** One date of a script whose spots are known. */
export interface KnownDate {
  readonly spots: readonly number[];
  /** The numbers of the data (`ScriptedSettings.scalars`), and of the date (`Program.columns`). */
  readonly scalars: readonly number[];
  readonly dated: readonly number[];
}

/**
 * Returns the carried numbers after a date whose spots are known, given those before it. What is paid on the date
 * itself counts `discount` times. The kernel's interpreter runs the function that paths run.
 */
export function afterDate(
  program: Program,
  before: readonly number[],
  { spots, scalars, dated }: KnownDate,
  discount = 1,
): readonly number[] {
  const running = Float64Array.from(before);
  const p = Float64Array.from([...before, ...scalars, 0]);
  const given = { spots: Float64Array.from(spots), p, q: Float64Array.from([...dated, 0]) };
  const hasEnded = interpretWithin(
    dateKernel(program),
    { running, ...given, discount, unused: new Float64Array(1) },
    1e6,
  );
  if (!hasEnded) throw new SpecError(`script "${program.name}": cannot be run on ${spots.join(", ")}`);
  return [...running];
}
