/** The analysis of a user's function by lowering it, kept by its text: it is lowered once for all problems. */
import type * as NodeFs from "node:fs";
import {
  type FunctionResult,
  type FunctionSpec,
  type LiftedFunction,
  liftLiterals,
  type RealFunction,
  dependenceOfStores,
} from "../../../kernel/index.ts";
import { KernelError, type SourcePlace } from "../../../base/errors.ts";
import { keyOf, LruCache, memoizeBy } from "../../../base/memoize.ts";

/**
 * The number of iterations of loops in one call of a user's function after which the loop counts as endless. They take
 * at most a tenth of a second.
 */
export const LOOP_BUDGET = 1_000_000;

/** A function of the user, lowered to kernel code separately from the problem's other functions. */
export interface LoweredFunction extends LiftedFunction<FunctionResult> {
  /** Tells whether the function reads its k-th argument. */
  readonly readsArgument: (k: number) => boolean;
  /** Tells whether its result with the index `result` depends on its k-th argument. */
  readonly resultDepends: (result: number, k: number) => boolean;
}

/**
 * Lowers a function of the user to kernel code separately from the problem's other functions. `reads` are the names of
 * the results to analyse. @throws KernelError as `liftLiterals` does
 */
export function lowerFunction(fn: RealFunction<FunctionResult>, reads: readonly string[]): LoweredFunction {
  const lifted = liftLiterals<FunctionResult>(fn, reads, LOOP_BUDGET);
  const { ir } = lifted;
  const idOf = (k: number): number => ir.scalars.findIndex(({ name }) => name === `x${k}`);
  const readsArgument = eachOnce((k) => readsParam(ir.body, idOf(k)));
  const dependence = eachOnce((k) => dependenceOfStores(ir, idOf(k)));
  return { ...lifted, readsArgument, resultDepends: (result, k) => dependence(k).get(result) ?? false };
}

/** Tells whether scalar parameter `id` stands anywhere in a piece of lowered code. */
function readsParam(code: unknown, id: number): boolean {
  if (typeof code !== "object" || code === null) return false;
  const node = code as { readonly kind?: unknown; readonly id?: unknown };
  if (node.kind === "param" && node.id === id) return true;
  return Object.values(code).some((child) => readsParam(child, id));
}

/** Finds a value for each number when it is wanted first, and keeps it. */
function eachOnce<T>(find: (k: number) => T): (k: number) => T {
  const found = new Map<number, T>();
  return (k) => {
    if (!found.has(k)) found.set(k, find(k));
    return found.get(k)!;
  };
}

/** Returns a function that computes a value on its first call and caches it. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Functions that are remembered, and the length of the longest text. */
const MAX_FUNCTIONS = 256;
const MAX_TEXT = 2 ** 16;
const functions = new LruCache<string, unknown>(MAX_FUNCTIONS);

/**
 * Returns the cached result of `make` for something that a user gave at `path` of a problem. The key is the text of
 * `given` and of `state`. Functions of the kernel language depend on nothing else, so the result is a pure function of
 * the key. Failures are not cached.
 *
 * @param state the arguments and callable functions, as text
 */
export function memoizeLowered<T>(what: string, path: string, given: unknown, state: string, make: () => T): T {
  const text = textOf(given);
  if (text === undefined || text.length > MAX_TEXT) return make();
  return functions.getOrMake(`${what} ${path}\n${state}\n${text}`, make) as T;
}

/** A text by which functions, formulas, numbers and records of them differ; undefined for anything else. */
function textOf(given: unknown): string | undefined {
  if (typeof given === "function") return `function ${Function.prototype.toString.call(given)}`;
  if (typeof given === "string" || typeof given === "number") return `${typeof given} ${given}`;
  if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined;
  const parts = Object.entries(given).map(([name, part]) => [name, textOf(part)]);
  return parts.some(([, text]) => text === undefined) ? undefined : keyOf(parts);
}

/** Adapters of a function by their text. */
const adaptersOf = memoizeBy((_call: FunctionSpec) => new Map<string, FunctionSpec>());

/**
 * Returns the cached kernel function that `make` builds around `call`, keyed by `call` and `text`, so that kernels of
 * the same functions are recognised as equal.
 */
export function adapterOf<F extends FunctionSpec>(call: FunctionSpec, text: string, make: () => F): F {
  const known = adaptersOf(call);
  let adapter = known.get(text);
  if (adapter === undefined) known.set(text, (adapter = make()));
  return adapter as F;
}

/**
 * Returns an error whose message states the position in the user's source file. `called` has the stack of the call of
 * `solve`. The position is exact where the file that calls `solve` can be read and contains the text of the function
 * once. Otherwise it is the line and column in the function, with the call of `solve` as far as the stack trace shows
 * it; bundled code is located in its bundle.
 */
export function withSourcePosition(error: unknown, called: Error): unknown {
  if (!(error instanceof KernelError) || error.place?.what === undefined) return error;
  return new KernelError(`${positionText(error.place, called)}: ${error.place.what}`, error.place, { cause: error });
}

/**
 * Returns the text that states a position in a user's function: "terminal at /home/me/model.mjs:12:13", or "terminal,
 * line 1, column 9 (solve called at …)".
 */
export function positionText({ name, source, line, column }: SourcePlace, called: Error): string {
  const call = callSite(called.stack);
  const exact = call === undefined || source === undefined ? undefined : inFile(call.file, source, line, column);
  if (exact !== undefined) return `${name} at ${exact}`;
  const where = call === undefined ? "" : ` (solve called at ${call.file}:${call.line}:${call.column})`;
  return `${name}, line ${line}, column ${column}${where}`;
}

interface CallSite {
  readonly file: string;
  readonly line: string;
  readonly column: string;
}

/** "    at async solve (file:///home/me/model.mjs:12:13)"; "solve@https://me/model.js:12:13" elsewhere. */
const V8_FRAME = /^\s*at (?:async )?(?:.* \()?(.+?):(\d+):(\d+)\)?$/;
const OTHER_FRAME = /^(?:[^@]*@)?([^\s].*):(\d+):(\d+)$/;

/** The frame below the first of a stack that was made in `solve`. */
function callSite(stack = ""): CallSite | undefined {
  const frames = stack.split("\n").flatMap((frame) => {
    const match = V8_FRAME.exec(frame) ?? OTHER_FRAME.exec(frame);
    return match === null ? [] : [{ file: pathOf(match[1]), line: match[2], column: match[3] }];
  });
  return frames[1];
}

/** The path of a module on this machine, as Node writes it in stacks; any other address as it is. */
const pathOf = (address: string): string =>
  address.startsWith("file://") ? decodeURI(address).replace(/^file:\/\/(?:\/(?=[A-Za-z]:))?/, "") : address;

/**
 * Finds a text in a file; undefined where the file cannot be read (a page, a bundle that has gone) or does not have the
 * text, or twice.
 */
function inFile(file: string, text: string, line: number, column: number): string | undefined {
  const content = contentOf(file);
  const at = content.indexOf(text);
  if (at < 0 || content.includes(text, at + 1)) return undefined;
  const before = content.slice(0, at).split("\n");
  const shift = line === 1 ? before[before.length - 1].length : 0;
  return `${file}:${before.length + line - 1}:${column + shift}`;
}

function contentOf(file: string): string {
  // Not an import: bundlers for browsers would look for the module.
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const fs = process?.getBuiltinModule?.("node:fs") as typeof NodeFs | undefined;
  try {
    return fs?.readFileSync(file, "utf8") ?? "";
  } catch {
    return "";
  }
}
