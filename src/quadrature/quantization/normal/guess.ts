/** First guesses for quantizers of N(0, I): random ones, and ones made of a smaller quantizer. */
import { normal32, philox4x32, seedWords } from "../../../numerics/random/index.ts";

/**
 * Returns `count` standard normal numbers of a stream: Philox with the key `seed`, its counter the index and the
 * stream.
 */
export function hostNormals(seed: number | bigint, stream: number, count: number): Float64Array {
  const numbers = new Float64Array(count);
  const { seedLow: x, seedHigh: y } = seedWords(seed);
  const key = { x, y };
  for (let k = 0; k < count; k += 4) {
    const { x, y, z, w } = philox4x32({ counter: { x: k >>> 2, y: 0, z: 0, w: stream }, key });
    [x, y, z, w].slice(0, count - k).forEach((word, i) => (numbers[k + i] = normal32(word)));
  }
  return numbers;
}

/**
 * Returns random points with the asymptotic density of optimal quantizers, φ^(d/(d + 2)): N(0, (1 + 2/d)·I). Source: P.
 * L. Zador (1982); S. Graf and H. Luschgy, Foundations of Quantization for Probability Distributions (2000), theorem
 * 7.5.
 */
export function randomGuess(size: number, dimension: number, seed: number | bigint, stream: number): Float64Array {
  const spread = Math.sqrt(1 + 2 / dimension);
  return hostNormals(seed, stream, size * dimension).map((x) => spread * x);
}

/**
 * Returns a first guess of `size` points from a smaller quantizer, by splitting the points of the heaviest cells into
 * close pairs.
 */
export function splitGuess(points: Float64Array, weights: Float64Array, dimension: number, size: number): Float64Array {
  const order = Array.from(weights, (_, i) => i).sort((a, b) => weights[b] - weights[a]);
  const guess = new Float64Array(size * dimension);
  guess.set(points);
  for (let i = weights.length; i < size; i++) {
    const from = order[(i - weights.length) % order.length] * dimension;
    const apart = hostNormals(size, i, dimension);
    for (let a = 0; a < dimension; a++) guess[i * dimension + a] = points[from + a] + 0.05 * apart[a];
  }
  return guess;
}
