import { KernelError, SpecError } from "../../../base/errors.ts";
import { formula, formulaMessage } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { shownType } from "../../../base/argument-checks.ts";
import type { Quantity } from "./equation.ts";

/** The values of the parameters of one batch entry, in the order of `Batch.names`. */
export type ParameterValues = readonly number[];

/** The names of the parameters, and their values for each entry of the batch. */
export interface Batch {
  readonly names: readonly string[];
  readonly entries: readonly ParameterValues[];
}

/**
 * Returns the batch that the parameters define: one entry for each element of their arrays. @throws SpecError arrays of
 * different lengths, no arrays
 */
export function batchOf(parameters: Readonly<Record<string, number | readonly number[]>>): Batch {
  const names = Object.keys(parameters);
  let size: number | undefined;
  for (const name of names) {
    const value = parameters[name];
    if (typeof value === "number") continue;
    if (!Array.isArray(value) && !ArrayBuffer.isView(value))
      throw new SpecError(`parameters.${name}: got ${shownType(value)}, expected a number or an array of numbers`);
    const { length } = value;
    if (length === 0 || (size !== undefined && size !== length))
      throw new SpecError(
        `parameters.${name}: ${length} values${size === undefined ? "" : `, others have ${size}`}; expected as many as the batch has entries`,
      );
    size = length;
  }
  const entry = (l: number): number[] =>
    names.map((name) => {
      const given = parameters[name];
      return typeof given === "number" ? given : given[l];
    });
  return { names, entries: Array.from({ length: size ?? 1 }, (_, l) => entry(l)) };
}

/** Checks the parameters of the entry with index `l`. @throws SpecError a parameter that is not a number */
export function checkParameters({ names, entries }: Batch, l: number): void {
  const bad = entries[l].findIndex((value) => !Number.isFinite(value));
  if (bad < 0) return;
  const place = entries.length === 1 ? "" : `[${l}]`;
  const got: unknown = entries[l][bad];
  throw new SpecError(
    `parameters.${names[bad]}${place}: got ${typeof got === "number" ? got : shownType(got)}, expected a finite number`,
  );
}

/**
 * Returns the SpecError that `f` throws for one entry, which fails that entry and not the batch; undefined if it throws
 * none. Other errors are rethrown.
 */
export function entryError(f: () => unknown): SpecError | undefined {
  try {
    f();
    return undefined;
  } catch (error) {
    if (error instanceof SpecError) return error;
    throw error;
  }
}

/** Returns a function that evaluates a quantity of the user for an entry. A formula is parsed only once. */
export function quantityOf(
  path: string,
  quantity: Quantity,
  names: readonly string[],
): (entry: ParameterValues) => number {
  const evaluate = evaluatorOf(path, quantity, names);
  return (entry) => {
    const value = evaluate(entry);
    if (!Number.isFinite(value))
      throw new SpecError(`${path}: ${value} for ${shown(names, entry)}; expected a finite number`);
    return value;
  };
}

const formulaOf = memoize((text: string, names: readonly string[]) => formula(text, names), 256);

function evaluatorOf(path: string, quantity: Quantity, names: readonly string[]): (entry: ParameterValues) => number {
  if (typeof quantity === "number") return () => quantity;
  if (typeof quantity !== "string")
    throw new SpecError(`${path}: got ${shownType(quantity)}, expected a number or a formula of the parameters`);
  try {
    const evaluate = formulaOf(quantity, names);
    return (entry) => evaluate(...entry);
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    throw new SpecError(`${path}: ${formulaMessage(error)}`, { cause: error });
  }
}

/** Formats parameters for a message: "sigma = 0.2, r = 0.05". */
export function shown(names: readonly string[], entry: ParameterValues): string {
  return names.length === 0 ? "no parameters" : names.map((name, k) => `${name} = ${entry[k]}`).join(", ");
}

/** The parameters of an entry by name. */
export const parametersOf = ({ names, entries }: Batch, index: number): Readonly<Record<string, number>> =>
  Object.fromEntries(names.map((name, k) => [name, entries[index][k]]));
