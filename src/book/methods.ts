/** The numerical methods that a book may name. "auto" chooses the cheapest suitable method for each trade. */
export const METHOD_NAMES = [
  "auto",
  "closed-form",
  "deterministic",
  "integral",
  "fdm",
  "adi",
  "sparse-grid",
  "montecarlo",
  "quantization",
  "convolution",
] as const;

/** The name of a numerical method for pricing. */
export type MethodName = (typeof METHOD_NAMES)[number];
