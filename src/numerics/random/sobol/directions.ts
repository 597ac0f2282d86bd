/** Direction numbers of Sobol' sequences, unpacked from joe-kuo.ts, which is loaded on demand. */

/** The number of bits of a coordinate, which is also the number of direction numbers of a dimension. */
export const SOBOL_BITS = 32;
/** The number of dimensions for which there are direction numbers. */
export const MAX_DIMENSIONS = 21_201;

/** The package's bytes, once they are decoded. */
let unpacked: Uint8Array | undefined;

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * Returns the direction numbers V[0 … 31] of the first `dimensions` dimensions, one dimension after another: with the
 * polynomial xˢ + a₁·xˢ⁻¹ + … + 1 and the initial numbers m₁ … m_s of a dimension,
 *
 *   V[k] = m(k+1)·2³¹⁻ᵏ for k < s;  V[k] = V[k−s] ⊕ (V[k−s] >> s) ⊕ a₁·V[k−1] ⊕ … ⊕ a(s−1)·V[k−s+1] else
 *
 * Source: P. Bratley and B. L. Fox, Algorithm 659, ACM TOMS 14 (1988); numbers of Joe and Kuo (2008).
 */
export async function sobolDirections(dimensions: number): Promise<Uint32Array> {
  const { DIMENSIONS, PACKED } = await import("./joe-kuo.ts");
  const packed = (unpacked ??= bytesOf(PACKED));
  const rows = new Uint32Array(dimensions * SOBOL_BITS);
  for (let k = 0; k < SOBOL_BITS; k++) rows[k] = 2 ** (31 - k);
  let [polynomial, bit] = [1, 8 * (DIMENSIONS - 1)];
  const take = (count: number): number => {
    let value = 0;
    for (let i = 0; i < count; i++, bit++) value |= ((packed[bit >> 3] >> (bit & 7)) & 1) << i;
    return value;
  };
  for (let dimension = 1; dimension < dimensions; dimension++) {
    polynomial += 2 * packed[dimension - 1];
    const degree = 31 - Math.clz32(polynomial);
    const initial = Array.from({ length: degree }, (_, i) => 2 * take(i) + 1);
    rows.set(recurrence(polynomial, degree, initial), dimension * SOBOL_BITS);
  }
  return rows;
}

function recurrence(polynomial: number, degree: number, initial: readonly number[]): Uint32Array {
  const v = new Uint32Array(SOBOL_BITS);
  for (let k = 0; k < SOBOL_BITS; k++) {
    if (k < degree) {
      v[k] = initial[k] << (31 - k);
      continue;
    }
    v[k] = v[k - degree] ^ (v[k - degree] >>> degree);
    for (let j = 1; j < degree; j++) if (((polynomial >> (degree - j)) & 1) === 1) v[k] ^= v[k - j];
  }
  return v;
}
