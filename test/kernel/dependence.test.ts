import { expect, test } from "vitest";
import { kernel, lower, real, dependenceOfStores, write } from "../../src/kernel/index.ts";

test("what is stored depends on a parameter by its value, by control flow, through locals and loops", () => {
  const ir = lower(
    kernel({
      params: { x: real, y: real, out: write(real) },
      body({ x, y, out }) {
        let chosen = y;
        if (x > 0) chosen = 2;
        let sum = 0.0;
        for (let k = 0; k < 100; k++) {
          sum += y;
          if (sum > x) break;
        }
        out[0] = y * y;
        out[1] = x + y;
        out[2] = chosen;
        out[3] = sum;
        out[4] = Math.exp(y) * 3;
        if (y > 1) out[5] = y;
        if (x > 1) out[6] = y;
      },
    }),
    "f64",
  );
  const scalar = (name: string): number => ir.scalars.findIndex((one) => one.name === name);
  const onX = dependenceOfStores(ir, scalar("x"));
  expect([0, 1, 2, 3, 4, 5, 6].map((k) => onX.get(k))).toEqual([false, true, true, true, false, false, true]);
  const onY = dependenceOfStores(ir, scalar("y"));
  expect([0, 1, 2, 3, 4, 5, 6].map((k) => onY.get(k))).toEqual([true, true, true, true, true, true, true]);
});
