/** Functions of the normal distribution from the kernel library, callable on the host in f64. */
import { fn, real } from "../../kernel/index.ts";

/** Returns the standard normal distribution function, computed on the host in f64. */
export const hostNormalCdf: (x: number) => number = fn({
  name: "hostNormalCdf",
  params: [real],
  body: ([x], gpu) => gpu.normalCdf(x),
});
