/**
 * The default target errors of values by method, relative to the spot: to the largest of several, and for swings to
 * that of all units.
 */
export const TARGET_ERRORS = {
  integral: 1e-5,
  fdm: 1e-5,
  adi: 1e-4,
  "sparse-grid": 1e-3,
  montecarlo: 1e-3,
  quantization: 1e-3,
  convolution: 1e-3,
} as const;
