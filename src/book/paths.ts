/** Where values are in a book, and their validation. */
import type * as z from "zod";
import { BookError, KernelError } from "../base/errors.ts";
import { formatPath } from "./names.ts";
import { formulaMessage, formulaVariables } from "../kernel/index.ts";
import { REFUSED, type Schema } from "./schema/schema.ts";

/**
 * Returns the path of the value that a problem of validation is about. For an unknown field, it is the path of that
 * field.
 */
export function pathOf(issue: z.core.$ZodIssue): PropertyKey[] {
  return issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0]] : issue.path;
}

/**
 * Checks the syntax of a formula in a book. The error message has several lines, with a caret under the position in the
 * formula. `path` is the position of the formula in the book. @throws BookError
 */
export function checkFormula(text: string, variables: readonly string[], path: string): void {
  try {
    formulaVariables(text, variables);
  } catch (cause) {
    if (!(cause instanceof KernelError)) throw cause;
    throw new BookError(path, formulaMessage(cause), { cause });
  }
}

/**
 * A function that returns the position of a value in a book for error messages, such as `trades[3].strike`. Its
 * arguments are the value's path inside the entry that is being read.
 */
export type PathOf = (...path: PropertyKey[]) => string;

/**
 * Returns the function that formats positions inside an entry of a JSON book: `trades[3]`, and `trades[3].strike`
 * inside it.
 */
export function inBook(...prefix: PropertyKey[]): PathOf {
  return (...path) => formatPath([...prefix, ...path]);
}

/**
 * Returns the function that formats positions inside a row of a stream or a table: `line 17`, and `line 17: strike`
 * inside it.
 */
export function inRow(where: string): PathOf {
  return (...path) => (path.length === 0 ? where : `${where}: ${formatPath(path)}`);
}

/** Returns the function that formats positions inside a member of the entry that `pathOf` formats. */
export function inside(pathOf: PathOf, ...prefix: PropertyKey[]): PathOf {
  return (...path) => pathOf(...prefix, ...path);
}

/**
 * Validates a value by a schema and returns the converted value. @throws BookError with the path of the first problem,
 * and all problems in the message
 */
export function accept<T>(schema: Schema<T, unknown>, value: unknown, pathOf: PathOf): T {
  const accepted = schema.read(value);
  if (accepted !== REFUSED) return accepted;
  const result = schema.zod.safeParse(value);
  if (result.success) return result.data;
  throw asBookError(result.error, pathOf);
}

/** The maximum number of problems that one message lists. Further problems are only counted. */
const MAX_PROBLEMS = 5;

function asBookError(error: z.ZodError, at: PathOf): BookError {
  const [first, ...others] = error.issues;
  const listed = others.slice(0, MAX_PROBLEMS - 1).map((issue) => `; ${at(...pathOf(issue))}: ${issue.message}`);
  const left = others.length - listed.length;
  return new BookError(at(...pathOf(first)), first.message + listed.join("") + (left > 0 ? `; and ${left} more` : ""));
}
