import { SpecError } from "../../../base/errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { isList, shownType } from "../../../base/argument-checks.ts";
import type { AnyProblem } from "../problem/equation.ts";
import { batchOf, type ParameterValues } from "../problem/quantity.ts";
import type { Columns } from "./columns.ts";

/** The solutions of an entry with one parameter bumped up and down by `step`. */
export interface Moved<Entry> {
  readonly name: string;
  readonly step: number;
  readonly up: Entry;
  readonly down: Entry;
}

/** The error of an entry, the only thing read here. */
interface Failing {
  readonly error: SpecError | undefined;
}

/**
 * The move of a parameter, relative to it: the difference is wrong by its square, and by what rounding leaves of the
 * value over it.
 */
const STEP: Readonly<Record<Precision, number>> = { f64: 1e-3, f32x2: 1e-3, f32: 1e-2 };

/** A problem with bumped copies of the user's entries, which follow them in the batch. */
export interface MovedProblem {
  readonly problem: AnyProblem;
  /** Returns the user's own entries, each with its bumped copies. */
  readonly apart: <E extends Failing & { beside(moved: readonly Moved<E>[]): E }>(
    entries: readonly E[],
  ) => readonly E[];
  /** Returns the index of the user's own entry of which an entry is a copy. */
  readonly ownerOf: (index: number) => number;
  /** Returns the arrays of the user's own entries, with their derivatives by parameters. */
  readonly ownColumns: (columns: Columns) => OwnColumns;
}

/** The solutions of the user's own entries as arrays, with derivatives by parameters. */
export interface OwnColumns extends Columns {
  readonly sensitivities: Readonly<Record<string, Float64Array>>;
}

/**
 * Returns a problem with bumped copies for its sensitivities. @throws SpecError a sensitivity to something that is not
 * a parameter
 */
export function movedProblem(problem: AnyProblem): MovedProblem {
  const { sensitivities: wanted = [], parameters = {} } = problem;
  isList("sensitivities", wanted, "names of parameters");
  if (wanted.length === 0)
    return {
      problem,
      apart: (entries) => entries,
      ownerOf: (index) => index,
      ownColumns: (columns) => ({ ...columns, sensitivities: {} }),
    };
  const { names, entries } = batchOf(parameters);
  wanted.forEach((name: unknown, k) => {
    if (typeof name !== "string" || !names.includes(name))
      throw new SpecError(
        `sensitivities[${k}]: got ${typeof name === "string" ? `"${name}"` : shownType(name)}, ` +
          `expected one of ${names.join(", ")}`,
      );
  });
  const part = STEP[problem.precision ?? "f64"];
  const stepOf = (value: number): number => part * (Math.abs(value) || 1);
  const moves = entries.flatMap((entry) =>
    wanted.flatMap((name) => {
      const k = names.indexOf(name);
      const step = stepOf(entry[k]);
      return [step, -step].map((by): ParameterValues => entry.with(k, entry[k] + by));
    }),
  );
  const all = [...entries, ...moves];
  const own = entries.length;
  // After the user's own entries, for each of them and each name: up, then down.
  const upOf = (l: number, j: number): number => own + 2 * (l * wanted.length + j);
  const stepsOf = (l: number): readonly number[] => wanted.map((name) => stepOf(entries[l][names.indexOf(name)]));
  return {
    problem: { ...problem, parameters: Object.fromEntries(names.map((name, k) => [name, all.map((one) => one[k])])) },
    apart: (solved) =>
      solved.slice(0, own).map((entry, l) => {
        const steps = stepsOf(l);
        return entry.beside(
          wanted.map((name, j) => {
            const at = upOf(l, j);
            return { name, step: steps[j], up: solved[at], down: solved[at + 1] };
          }),
        );
      }),
    ownerOf: (index) => (index < own ? index : Math.floor((index - own) / (2 * wanted.length))),
    ownColumns: ({ status, derivatives, theta, errorEstimate }) => {
      const [value] = derivatives;
      const sensitivities = wanted.map(() => new Float64Array(own).fill(Number.NaN));
      for (let l = 0; l < own; l++) {
        if (status[l] !== "ok") continue;
        const valueOf = (index: number): number | undefined => (status[index] === "ok" ? value[index] : undefined);
        stepsOf(l).forEach((step, j) => {
          const at = upOf(l, j);
          sensitivities[j][l] = differenceOf(value[l], step, valueOf(at), valueOf(at + 1));
        });
      }
      return {
        status: status.slice(0, own),
        derivatives: derivatives.map((column) => column.slice(0, own)),
        theta: theta.slice(0, own),
        errorEstimate: errorEstimate?.slice(0, own),
        sensitivities: Object.fromEntries(wanted.map((name, j) => [name, sensitivities[j]])),
      };
    },
  };
}

/** The warnings about bumped copies that could not be solved. */
export const warningsOf = (moved: readonly Moved<Failing>[]): readonly string[] =>
  moved.flatMap(({ name, up, down }) =>
    [up, down].flatMap(({ error }) =>
      error === undefined ? [] : [`sensitivities.${name}: not from both sides, since ${error.message}`],
    ),
  );

/** A central difference; one-sided where one bump has no value, and NaN where neither has. */
function differenceOf(here: number, step: number, above: number | undefined, below: number | undefined): number {
  const width = (above === undefined ? 0 : step) + (below === undefined ? 0 : step);
  return width === 0 ? Number.NaN : ((above ?? here) - (below ?? here)) / width;
}

/**
 * Computes derivatives by parameters as differences of the numbers that `read` returns for the bumped copies; `here` is
 * that of the entry itself.
 */
export function derivativesBy<Entry extends Failing>(
  moved: readonly Moved<Entry>[],
  here: number,
  read: (entry: Entry) => number,
): Readonly<Record<string, number>> {
  const valueOf = (entry: Entry): number | undefined => {
    try {
      return read(entry);
    } catch (error) {
      if (error instanceof SpecError) return undefined;
      throw error;
    }
  };
  return Object.fromEntries(
    moved.map(({ name, step, up, down }) => [name, differenceOf(here, step, valueOf(up), valueOf(down))]),
  );
}
