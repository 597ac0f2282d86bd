import { KernelRuntimeError } from "../base/errors.ts";
import { interpret, type InterpreterArguments } from "./interpret/index.ts";
import type { KernelIR } from "./ir.ts";

/**
 * Interprets one work item of a kernel on the host and changes the arrays among `args`. Returns false if a loop
 * exceeded `rounds` iterations or the kernel made another error at run time, otherwise true. It is slow, and meant for
 * user code that might not terminate as plain JavaScript.
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
