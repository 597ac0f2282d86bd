/** The reference interpreter of kernels. */
export type { InterpreterArguments } from "./arguments.ts";
export { interpret, type InterpreterOptions } from "./interpret.ts";
