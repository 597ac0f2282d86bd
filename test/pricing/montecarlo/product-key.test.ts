/** Which trades share a kernel of paths. */
import { expect, test } from "vitest";
import { productKey } from "../../../src/pricing/methods/montecarlo/product.ts";

const terms = (asset: number | undefined, type = "up-and-out") =>
  ({
    payoff: { kind: "vanilla", right: "call", strike: 100 },
    barriers: [{ type, asset, level: 120, rebate: 0, rebateAt: "hit", monitoring: { kind: "continuous" } }],
    assets: [0, 1].map(() => ({ volatility: { kind: "heston" } })),
    correlations: [
      [1, 0],
      [0, 1],
    ],
    expiry: 1,
    times: [1],
  }) as never;

test("barriers on different assets, or of different types, are different products", () => {
  const keys = [terms(0), terms(1), terms(undefined), terms(0, "down-and-out")].map(productKey);
  expect(new Set(keys).size).toBe(4);
  expect(productKey(terms(1))).toBe(keys[1]);
});
