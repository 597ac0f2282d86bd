/** The pairs of f32 that emulated doubles (`f32x2`) are, on the host. */

/**
 * Returns the pair nearest to `value`: its rounding to f32, and the rounding error rounded to f32; at least 48 bits.
 * Beyond f32's range the first is infinite; a second below 2⁻¹⁴⁹ is zero. −0 is (−0, 0).
 */
export function pairOf(value: number): readonly [high: number, low: number] {
  const high = Math.fround(value);
  return [high, Number.isFinite(high) ? Math.fround(value - high) : 0];
}

/** Returns the pairs of `values`, each as two neighbouring elements. */
export function toPairs(values: ArrayLike<number>): Float32Array {
  const pairs = new Float32Array(2 * values.length);
  for (let i = 0; i < values.length; i++) {
    const high = Math.fround(values[i]);
    pairs[2 * i] = high;
    if (Number.isFinite(high)) pairs[2 * i + 1] = values[i] - high;
  }
  return pairs;
}

/** Returns the sums of pairs, exact but for the rounding to f64. */
export function fromPairs(pairs: Float32Array): Float64Array {
  const values = new Float64Array(pairs.length / 2);
  for (let i = 0; i < values.length; i++) {
    const high = pairs[2 * i];
    const low = pairs[2 * i + 1];
    values[i] = low === 0 ? high : high + low; // so that −0 stays what it is
  }
  return values;
}
