/** The names that formulas know in addition to the functions of the kernel language. */

/** The functions of `Math` that a formula calls by their bare names. */
export const FORMULA_FUNCTIONS = ["abs", "ceil", "floor", "max", "min", "round", "sign", "sqrt", "trunc"];

/** The constants that a formula may use, by name. */
export const FORMULA_CONSTANTS: Readonly<Record<string, number>> = { pi: Math.PI, PI: Math.PI, e: Math.E, E: Math.E };
