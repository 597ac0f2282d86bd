/** The analysis of a user's function by lowering it, kept by its text: it is lowered once for all problems. */
import {
  type FunctionResult,
  type FunctionSpec,
  type Lifted,
  liftLiterals,
  type RealFunction,
  storesThatDepend,
} from "../../../kernel/index.ts";
import { keyOf, LruCache } from "../../../base/memoize.ts";

/**
 * The number of iterations of loops in one call of a user's function after which the loop counts as endless. They take
 * at most a tenth of a second.
 */
export const LOOP_BUDGET = 1_000_000;

/** A function of the user, lowered to kernel code without the functions around it. */
export interface LoweredAlone extends Lifted<FunctionResult> {
  /** Tells whether the function reads its k-th argument. */
  readonly readsArgument: (k: number) => boolean;
  /** Tells whether its result with the index `result` depends on its k-th argument. */
  readonly resultDepends: (result: number, k: number) => boolean;
}

/**
 * Lowers a function of the user to kernel code without the functions around it. `reads` are the names of the results to
 * analyse. @throws KernelError as `liftLiterals` does
 */
export function loweredAlone(fn: RealFunction<FunctionResult>, reads: readonly string[]): LoweredAlone {
  const lifted = liftLiterals<FunctionResult>(fn, reads, LOOP_BUDGET);
  const { ir } = lifted;
  const idOf = (k: number): number => ir.scalars.findIndex(({ name }) => name === `x${k}`);
  const readsArgument = eachOnce((k) => readsParam(ir.body, idOf(k)));
  const dependence = eachOnce((k) => storesThatDepend(ir, idOf(k)));
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
