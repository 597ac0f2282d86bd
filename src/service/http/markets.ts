/** A store of markets under the hash of their contents. */
import { createHash } from "node:crypto";
import { type BookHeader, readHeader } from "../../book/index.ts";

/** A cached market with its SHA-256 hash. `header` is a book without trades. */
export interface KeptMarket {
  readonly hash: string;
  readonly header: BookHeader;
}

/** The cache of the most recently used markets, which requests name by their hashes. */
export class Markets {
  readonly #kept = new Map<string, KeptMarket>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get count(): number {
    return this.#kept.size;
  }

  /** Returns a market by its hash; undefined if it is not in the cache. */
  get(hash: string): KeptMarket | undefined {
    const market = this.#kept.get(hash);
    if (market === undefined) return undefined;
    this.#kept.delete(hash);
    this.#kept.set(hash, market);
    return market;
  }

  /** Reads a book without trades and puts its market into the cache. @throws BookError */
  keep(written: Readonly<Record<string, unknown>>): KeptMarket {
    const hash = createHash("sha256").update(JSON.stringify(written)).digest("hex");
    const known = this.get(hash);
    if (known !== undefined) return known;
    const market = { hash, header: readHeader(written) };
    this.#kept.set(hash, market);
    while (this.#kept.size > this.#max) this.#kept.delete(this.#kept.keys().next().value as string);
    return market;
  }
}
