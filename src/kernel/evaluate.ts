import { KernelRuntimeError } from "../errors.ts";
import { interpret, type InterpreterArguments } from "./interpret/index.ts";
import type { KernelIR } from "./ir.ts";

/**
 * Runs one item of a kernel on the host within a number of loop rounds, changing the arrays among `args`, and returns
 * whether it finished. It is slow, and meant for code that plain JavaScript could not stop.
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
