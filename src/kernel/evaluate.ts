import { KernelRuntimeError } from "../errors.ts";
import { interpret, type InterpreterArguments } from "./interpret/index.ts";
import type { KernelIR } from "./ir.ts";

/**
 * Runs one item of a kernel on the host within so many rounds of its loops, changing the arrays among `args`: slow,
 * and for code that plain JavaScript could
 * not stop. Whether it came to its end.
 */
export function runWithin(ir: KernelIR, args: InterpreterArguments, rounds: number): boolean {
  try {
    interpret(ir, args, { items: 1 }, { maxIterations: rounds, races: false });
    return true;
  } catch (error) {
    if (error instanceof KernelRuntimeError) return false;
    throw error;
  }
}
