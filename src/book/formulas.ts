import { BookError, KernelError } from "../errors.ts";
import { formulaMessage, formulaVariables } from "../kernel/index.ts";

/**
 * Reads a formula, so that one that cannot be read is an error of its place in the book. The message goes over several
 * lines, with a caret under the place in the formula.
 * @throws BookError
 */
export function checkFormula(text: string, variables: readonly string[], place: string): void {
  try {
    formulaVariables(text, variables);
  } catch (cause) {
    if (!(cause instanceof KernelError)) throw cause;
    throw new BookError(place, formulaMessage(cause), { cause });
  }
}
