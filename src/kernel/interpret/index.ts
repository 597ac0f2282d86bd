/** The reference interpreter of kernels. */
export type { HostNumbers, InterpreterArguments, InterpreterSize } from "./arguments.ts";
export { interpret, type InterpreterOptions } from "./interpret.ts";
