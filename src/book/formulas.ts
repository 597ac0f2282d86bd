import { BookError, KernelError } from "../errors.ts";
import { formulaMessage, formulaVariables } from "../kernel/index.ts";

/**
 * Checks a formula in a book, so that an unreadable one is an error at its place. The message has several lines, with a
 * caret under the place in the formula. @throws BookError
 */
export function checkFormula(text: string, variables: readonly string[], place: string): void {
  try {
    formulaVariables(text, variables);
  } catch (cause) {
    if (!(cause instanceof KernelError)) throw cause;
    throw new BookError(place, formulaMessage(cause), { cause });
  }
}
