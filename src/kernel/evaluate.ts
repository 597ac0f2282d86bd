import { KernelRuntimeError } from "../base/errors.ts";
import { interpret, type InterpreterArguments } from "./interpret/index.ts";
import type { KernelIR } from "./ir.ts";

/**
 * Interprets one work item of a kernel on the host and changes the arrays among `args`. Returns true if it ends without
 * an error at run time and no loop exceeds `maxIterations` iterations, otherwise false. It is slow, and meant for user
 * code that might not terminate as plain JavaScript.
 */
export function interpretWithin(ir: KernelIR, args: InterpreterArguments, maxIterations: number): boolean {
  try {
    interpret(ir, args, { items: 1 }, { maxIterations, races: false });
    return true;
  } catch (error) {
    if (error instanceof KernelRuntimeError) return false;
    throw error;
  }
}
