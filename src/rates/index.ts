/** Short-rate models: claims with rights on dates by backward recursion. */
export { type Fineness, ShortRateEngine } from "./engine.ts";
export type { ExerciseDate, GaussianMarket, ShortRateInstance, ShortRateTrade } from "./terms.ts";
