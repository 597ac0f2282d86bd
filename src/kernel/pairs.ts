/** Conversions on the host between numbers and the pairs of f32 of emulated doubles (`f32x2`). */

/**
 * Returns the pair of f32 (f32x2) nearest to `value`: its rounding to f32, and the rounding error, itself rounded to
 * f32. The pair has at least 48 significant bits. Beyond the range of f32, `high` is infinite. A rounding error below
 * 2⁻¹⁴⁹ becomes zero. −0 gives (−0, 0).
 */
export function pairOf(value: number): readonly [high: number, low: number] {
  const high = Math.fround(value);
  return [high, Number.isFinite(high) ? Math.fround(value - high) : 0];
}

/** Converts numbers to pairs of f32 (f32x2). The two parts of each pair are neighbouring elements of the result. */
export function toPairs(values: ArrayLike<number>): Float32Array {
  const pairs = new Float32Array(2 * values.length);
  for (let i = 0; i < values.length; i++) {
    const high = Math.fround(values[i]);
    pairs[2 * i] = high;
    if (Number.isFinite(high)) pairs[2 * i + 1] = values[i] - high;
  }
  return pairs;
}

/** Converts pairs of f32 (f32x2) to numbers: the sum of the two parts of each pair, rounded to f64. */
export function fromPairs(pairs: Float32Array): Float64Array {
  const values = new Float64Array(pairs.length / 2);
  for (let i = 0; i < values.length; i++) {
    const high = pairs[2 * i];
    const low = pairs[2 * i + 1];
    values[i] = low === 0 ? high : high + low; // so that −0 stays what it is
  }
  return values;
}
