/** Caches for the results of pure functions, whose arguments are compared by content. */

/**
 * A map that keeps only its most recently used entries, at most `max` of them. `dropped` is called with each value that
 * is removed.
 */
export class LruCache<K, V> {
  readonly #max: number;
  readonly #dropped: (value: V) => void;
  /** The entries in the order of their last use, the least recent one first. */
  readonly #entries = new Map<K, V>();

  constructor(max: number, dropped: (value: V) => void = () => {}) {
    this.#max = max;
    this.#dropped = dropped;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#max) return;
    const [[oldest, old]] = this.#entries;
    this.#entries.delete(oldest);
    this.#dropped(old);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  /** Returns the value of `key`. If there is none, it is made by `make` and added. */
  getOrMake(key: K, make: (key: K) => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    this.set(key, made);
    return made;
  }

  /** Returns the values, the least recently used first. */
  values(): Iterable<V> {
    return this.#entries.values();
  }
}

/**
 * The maximum length of a key. For longer ones, the cache would need too much memory, and the result is computed again.
 */
const MAX_KEY = 2 ** 18;

/**
 * Returns a version of a pure function that caches its most recent results.
 *
 * @param make the function.
 * @param max the maximum number of results that are kept.
 * @param key returns a text that is equal only for arguments with the same result.
 */
export function memoize<A extends readonly unknown[], R>(
  make: (...of: A) => R,
  max = 64,
  key: (...of: A) => string = (...of) => keyOf(of),
): (...of: A) => R {
  const made = new LruCache<string, R>(max);
  return (...of) => {
    const text = key(...of);
    return text.length > MAX_KEY ? make(...of) : made.getOrMake(text, () => make(...of));
  };
}

/** Returns a version of a pure function of one object that keeps each result for as long as its argument lives. */
export function memoizeBy<A extends object, R extends object | string | number | boolean>(
  make: (of: A) => R,
): (of: A) => R {
  const made = new WeakMap<A, R>();
  return (of) => {
    let known = made.get(of);
    if (known === undefined) made.set(of, (known = make(of)));
    return known;
  };
}

/**
 * Returns a text that is equal for two values only if they are equal. Plain objects and arrays are compared by their
 * contents, all other objects by identity.
 *
 * @param functionKey returns the text of a function; by default functions are compared by identity.
 */
export function keyOf(value: unknown, functionKey: (f: object) => string = identityOf): string {
  if (typeof value === "function") return functionKey(value);
  if (typeof value !== "object" || value === null)
    return `${typeof value} ${Object.is(value, -0) ? "-0" : String(value)}`;
  if (!Array.isArray(value) && ![Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null))
    return identityOf(value);
  const parts = Object.entries(value).map(([name, part]) => `${name} ${keyOf(part, functionKey)}`);
  return `${Array.isArray(value) ? "array" : "record"} ${parts.map((part) => `${part.length} ${part}`).join("\n")}`;
}

const numbers = new WeakMap<object, number>();
let count = 0;

/** A text that is the same for an object at each call, and different for every other object. */
function identityOf(object: object): string {
  let number = numbers.get(object);
  if (number === undefined) numbers.set(object, (number = count++));
  return `object ${number}`;
}
