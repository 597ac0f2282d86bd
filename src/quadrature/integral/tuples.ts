/** A numbering of tuples of one length, in the order in which they are added; equal tuples have the same number. */
export class TupleNumbers {
  readonly #length: number;
  #size = 0;
  /** The tuples, one after another. */
  #values: Float64Array;
  /** Numbers of tuples plus 1 by their hash, open addressing with linear probing; 0 is an empty place. */
  #places: Int32Array;
  /** The tuple that is looked for, and its words. */
  readonly #sought: Float64Array;
  readonly #words: Uint32Array;

  constructor(length: number) {
    this.#length = length;
    this.#values = new Float64Array(length * 64);
    this.#places = new Int32Array(2 * 64);
    this.#sought = new Float64Array(length);
    this.#words = new Uint32Array(this.#sought.buffer);
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the number of the tuple that begins at an index of some numbers; −1 if it has none. */
  find(numbers: ArrayLike<number>, from = 0): number {
    return this.#places[this.#placeOf(numbers, from)] - 1;
  }

  /** Returns the number of the tuple that begins at an index of some numbers, assigning the next one if it has none. */
  add(numbers: ArrayLike<number>, from = 0): number {
    const place = this.#placeOf(numbers, from);
    if (this.#places[place] > 0) return this.#places[place] - 1;
    const number = this.#size++;
    this.#values.set(this.#sought, number * this.#length);
    this.#places[place] = number + 1;
    if (2 * this.#size >= this.#places.length) this.#grow();
    return number;
  }

  /** The place at which a tuple stands, or belongs. */
  #placeOf(numbers: ArrayLike<number>, from: number): number {
    for (let i = 0; i < this.#length; i++) this.#sought[i] = numbers[from + i] + 0; // −0 is 0
    let hash = 0x811c9dc5;
    for (let i = 0; i < this.#words.length; i++) {
      hash = Math.imul(hash ^ this.#words[i], 0x01000193);
      hash ^= hash >>> 15;
    }
    const mask = this.#places.length - 1;
    let place = hash & mask;
    while (this.#places[place] > 0 && !this.#isSoughtAt(this.#places[place] - 1)) place = (place + 1) & mask;
    return place;
  }

  #isSoughtAt(number: number): boolean {
    const first = number * this.#length;
    for (let i = 0; i < this.#length; i++) if (!Object.is(this.#values[first + i], this.#sought[i])) return false;
    return true;
  }

  #grow(): void {
    const values = new Float64Array(2 * this.#values.length);
    values.set(this.#values);
    this.#values = values;
    this.#places = new Int32Array(2 * this.#places.length);
    for (let number = 0; number < this.#size; number++) {
      const first = number * this.#length;
      this.#places[this.#placeOf(values, first)] = number + 1;
    }
  }
}
