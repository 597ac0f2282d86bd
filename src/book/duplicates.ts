/** Detects repeated ids. Needs at most 16 bytes per id. */
const MAX_IDS = 1 << 22;

/**
 * A set of trade ids, of which it stores 64-bit hashes only, because a book may have millions. Two different ids among
 * the first four million collide with a probability of 5e-7. Beyond four million, repeated ids are not noticed.
 */
export class SeenIds {
  #count = 0;

  /** The number of ids in the set. */
  get count(): number {
    return this.#count;
  }

  /** Tells whether an id is in the set. */
  has(id: string): boolean {
    const [first, second] = hashOfId(id);
    return this.#slots[this.#find(first, second) + 1] !== 0;
  }

  /** Pairs of 32-bit hashes, open addressing with linear probing; the pair (0, 0) is an empty place. */
  #slots = new Uint32Array(2 * 1024);

  /** Adds an id, and tells whether it was in the set before. */
  seenBefore(id: string): boolean {
    return this.seenHashBefore(...hashOfId(id));
  }

  /** Does the same as `seenBefore` for an id whose hash (`hashOfId`) is known. */
  seenHashBefore(first: number, second: number): boolean {
    const slot = this.#find(first, second);
    if (this.#slots[slot + 1] !== 0) return true;
    if (this.#count >= MAX_IDS) return false;
    this.#put(slot, first, second);
    if (++this.#count * 4 > this.#slots.length) this.#grow();
    return false;
  }

  /** The pair's place, or the empty place where it belongs. */
  #find(first: number, second: number): number {
    const mask = this.#slots.length / 2 - 1;
    let place = first & mask;
    while (
      this.#slots[2 * place + 1] !== 0 &&
      (this.#slots[2 * place] !== first || this.#slots[2 * place + 1] !== second)
    ) {
      place = (place + 1) & mask;
    }
    return 2 * place;
  }

  #put(slot: number, first: number, second: number): void {
    this.#slots[slot] = first;
    this.#slots[slot + 1] = second;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(2 * old.length);
    for (let i = 0; i < old.length; i += 2) {
      if (old[i + 1] !== 0) this.#put(this.#find(old[i], old[i + 1]), old[i], old[i + 1]);
    }
  }
}

/**
 * Returns two 32-bit multiplicative hashes of an id's UTF-16 code units. They are mixed at the end, so that their low
 * bits depend on all bits. The second is never 0.
 */
export function hashOfId(text: string): [number, number] {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 15);
  }
  return [mix(a), mix(b) || 1];
}

function mix(value: number): number {
  let x = value ^ (value >>> 16);
  x = Math.imul(x, 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}
