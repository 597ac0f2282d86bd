/** Integers of the host as words of 32 bits, the lowest first, which is how tables carry them. */

const WORD = 0xffffffffn;

/** Returns the lowest `count` words of a number, the lowest first. */
export const wordsOf = (value: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, i) => Number((value >> BigInt(32 * i)) & WORD));

/** Returns the number that consists of these words, the lowest first. */
export const fromWords = (words: ArrayLike<number>): bigint =>
  Array.from(words).reduceRight((sum, word) => (sum << 32n) | BigInt(word >>> 0), 0n);

/** Returns value mod modulus, in 0 … modulus − 1 for negative values, too. */
export const modulo = (value: bigint, modulus: bigint): bigint => ((value % modulus) + modulus) % modulus;

/**
 * Returns xⁿ for an associative product, by repeated squaring: at most 2·log₂ n products. n is not negative, and `one`
 * is the neutral element.
 */
export function powerBySquaring<T>(x: T, n: bigint, one: T, product: (a: T, b: T) => T): T {
  let [result, square] = [one, x];
  for (let rest = n; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = product(result, square);
    if (rest > 1n) square = product(square, square);
  }
  return result;
}
