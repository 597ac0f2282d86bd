import { fn, real, write } from "../../../kernel/index.ts";
import { FAULT } from "./status.ts";

/**
 * Returns the function that classifies invalid coefficients by `FAULT`: a value that is not finite; a negative
 * coefficient of a second derivative along an axis; or a matrix of second derivatives that is not positive
 * semi-definite, 4·aᵢᵢ·aⱼⱼ < aᵢⱼ², for which the equation is ill posed. Its argument has the coefficients in the order
 * of `coefficientKeys`.
 */
export const coefficientFault = (axes: number, pairs: readonly (readonly [number, number])[]) =>
  fn({
    name: "coefficientFault",
    params: [write(real)],
    env: {
      ...FAULT,
      axes,
      each: Array.from({ length: axes }, (_, k) => k),
      pairs: pairs.map(([j, k], m) => ({ j, k, mixed: 2 * axes + 2 + m })),
    },
    body([c], gpu, env) {
      let fault = 0;
      let seconds = 0.0;
      let firsts = 0.0;
      let largest = 0.0;
      let least = 0.0;
      for (const k of env.each) {
        seconds += c[k];
        firsts += c[env.axes + k];
        largest = Math.max(largest, Math.abs(c[k]));
        least = Math.min(least, c[k]);
      }
      const unit = gpu.precision === "f32" ? 1e-5 : 1e-10;
      let indefinite = false;
      for (const { j, k, mixed } of env.pairs) {
        seconds += c[mixed];
        indefinite = indefinite || c[mixed] * c[mixed] > 4 * (1 + unit) * c[j] * c[k];
      }
      if (!Number.isFinite(seconds)) fault = fault | env.a;
      if (!Number.isFinite(firsts)) fault = fault | env.b;
      if (!Number.isFinite(c[2 * env.axes])) fault = fault | env.c;
      if (!Number.isFinite(c[2 * env.axes + 1])) fault = fault | env.d;
      if (fault === 0) {
        if (least < -unit * largest) fault = env.negative;
        else if (indefinite) fault = env.indefinite;
      }
      return fault;
    },
  });
