/** American options with constant coefficients by the integral equation of their exercise boundary. */
export { IntegralEngine, type PutFamily, PutValues, type Puts } from "./engine.ts";
export { PUT_INPUTS } from "./pairs.ts";
export { TupleNumbers } from "./tuples.ts";
