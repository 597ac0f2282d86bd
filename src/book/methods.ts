/** The numerical methods that a book may name; `auto` takes the cheapest method for each trade. */
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

/** The name of a numerical method. */
export type MethodName = (typeof METHOD_NAMES)[number];
