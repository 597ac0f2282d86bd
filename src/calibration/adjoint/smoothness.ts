/**
 * Smooth functions on a grid of times and log-spots, as B·z with independent z on the nodes. Tikhonov's regularisation
 * prefers functions with small z. Along an axis with lumped masses h and stiffness K,
 *
 *   B = 2·√ℓ·(diag(h) + ℓ²·K)⁻¹·diag(√h),
 *
 * so that B·z has about the variance of z everywhere and the correlation (1 + r/ℓ)·e^(−r/ℓ) at a distance r (Matérn's
 * of order 3/2). It is applied along the spots of each time and along the times of each spot.
 */

/**
 * A square root B of the covariance along one axis, and its transpose. Both act in place on every `stride`-th number of
 * an array from index `at` on.
 */
export interface CovarianceRoot {
  /** Replaces numbers x by B·x. */
  readonly apply: (x: Float64Array, at: number, stride: number) => void;
  /** Replaces numbers x by Bᵀ·x. */
  readonly transposed: (x: Float64Array, at: number, stride: number) => void;
}

/**
 * Returns the square root B of the covariance along an axis with these nodes. `length` is the correlation length in
 * units of the nodes.
 */
export function covarianceRootAlong(nodes: ArrayLike<number>, length: number): CovarianceRoot {
  const n = nodes.length;
  const mass = Float64Array.from(
    { length: n },
    (_, j) => 0.5 * (nodes[Math.min(j + 1, n - 1)] - nodes[Math.max(j - 1, 0)]),
  );
  const weight = mass.map((h) => 2 * Math.sqrt(length * h));
  const coupling = Float64Array.from({ length: n }, (_, j) =>
    j < n - 1 ? (length * length) / (nodes[j + 1] - nodes[j]) : 0,
  );
  const [inverse, factor] = [new Float64Array(n), new Float64Array(n)];
  for (let j = 0; j < n; j++) {
    const before = j > 0 ? coupling[j - 1] : 0;
    factor[j] = j > 0 ? -before * inverse[j - 1] : 0;
    inverse[j] = 1 / (mass[j] + before + coupling[j] + factor[j] * before);
  }
  const solve = (x: Float64Array, at: number, stride: number): void => {
    for (let j = 1; j < n; j++) x[at + j * stride] -= factor[j] * x[at + (j - 1) * stride];
    x[at + (n - 1) * stride] *= inverse[n - 1];
    for (let j = n - 2; j >= 0; j--)
      x[at + j * stride] = x[at + j * stride] * inverse[j] - factor[j + 1] * x[at + (j + 1) * stride];
  };
  const scale = (x: Float64Array, at: number, stride: number): void => {
    for (let j = 0; j < n; j++) x[at + j * stride] *= weight[j];
  };
  return {
    apply: (x, at, stride) => {
      scale(x, at, stride);
      solve(x, at, stride);
    },
    transposed: (x, at, stride) => {
      solve(x, at, stride);
      scale(x, at, stride);
    },
  };
}
