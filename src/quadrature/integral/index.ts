/** American options with constant coefficients by the integral equation of their exercise boundary. */
export { IntegralEngine, PutValues, type Puts } from "./engine.ts";
export { TupleNumbers } from "./tuples.ts";
