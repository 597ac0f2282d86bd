/** Random numbers from a seed: the same on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /**
   * Uniform on [0, 1). Mulberry32 (T. Ettinger, 2017): a Weyl sequence, mixed; its period of 2³² is far beyond what a
   * run draws.
   */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  uniform(from: number, to: number): number {
    return from + (to - from) * this.next();
  }

  logUniform(from: number, to: number): number {
    return Math.exp(this.uniform(Math.log(from), Math.log(to)));
  }

  /** Standard normal, by Box and Muller. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  /** 0 … count − 1. */
  integer(count: number): number {
    return Math.floor(count * this.next());
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  choice<T>(options: readonly T[]): T {
    return options[this.integer(options.length)];
  }

  /** `count` numbers in increasing order. */
  sorted(count: number, draw: () => number): number[] {
    return Array.from({ length: count }, draw).sort((a, b) => a - b);
  }
}
