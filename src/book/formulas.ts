import { BookError, KernelError } from "../base/errors.ts";
import { formulaMessage, formulaVariables } from "../kernel/index.ts";

/**
 * Checks the syntax of a formula in a book. The error message has several lines, with a caret under the position in the
 * formula. `place` is the position of the formula in the book. @throws BookError
 */
export function checkFormula(text: string, variables: readonly string[], place: string): void {
  try {
    formulaVariables(text, variables);
  } catch (cause) {
    if (!(cause instanceof KernelError)) throw cause;
    throw new BookError(place, formulaMessage(cause), { cause });
  }
}
