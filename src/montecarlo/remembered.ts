/** Kernels and kernel functions that are made once, so that devices find what they compiled by its identity. */
import { LastUsed } from "../last-used.ts";

/** Objects by number: two parts are the same only if they are the same object. */
const numbers = new WeakMap<object, number>();
let count = 0;

function keyOf(part: unknown): string {
  if ((typeof part !== "object" && typeof part !== "function") || part === null)
    return `${typeof part} ${String(part)}`;
  let number = numbers.get(part);
  if (number === undefined) numbers.set(part, (number = count++));
  return `#${number}`;
}

/**
 * Remembers what `make` makes: the same again for the same parts, which are numbers, texts and objects; of the 64 last
 * used.
 */
export function rememberedBy<A, R>(make: (of: A) => R): (parts: readonly unknown[], of: A) => R {
  const made = new LastUsed<string, R>(64);
  return (parts, of) => made.getOrMake(parts.map(keyOf).join(", "), () => make(of));
}

/** Remembers what `make` makes of `parts`: the same again for the same parts. */
export function remembered<A extends readonly unknown[], R>(make: (...parts: A) => R): (...parts: A) => R {
  const made = rememberedBy((parts: A) => make(...parts));
  return (...parts) => made(parts, parts);
}
