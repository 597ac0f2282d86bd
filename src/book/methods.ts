/** The numerical methods that a book may ask for; `auto` takes for each trade the cheapest method that prices it. */
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

export type MethodName = (typeof METHOD_NAMES)[number];
