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
