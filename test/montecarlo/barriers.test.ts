/** Barriers of paths against Reiner and Rubinstein (1991): which asset is monitored, when a rebate is paid. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import {
  blackScholes,
  european,
  geometricBrownian,
  monteCarlo,
  terminalPayoff,
  withBarriers,
} from "../../src/montecarlo/index.ts";
import { reinerRubinstein } from "../market/models/reiner-rubinstein.ts";
import { equalDates, expectWithin } from "./support.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

test("one on the second asset is monitored with its volatility", async () => {
  const model = geometricBrownian({ spots: [100, 100], rate: 0.05, volatilities: [0.1, 0.4] });
  const product = withBarriers({
    product: terminalPayoff({ payoff: "max(S2 - 100, 0)", assets: 2 }),
    barriers: [{ type: "up-and-out", level: 150, asset: 1 }],
    monitoring: "continuous",
  });
  const found = await monteCarlo({ device, model, product, dates: [1], paths: 2 ** 16, seed: 5 });
  expectWithin(found, reinerRubinstein(100, 100, 150, 0, 0.05, 0, 0.4, 1, true, true, true, false));
});

test("a rebate at the breach is discounted from the middle of the step that it falls in", async () => {
  const product = withBarriers({
    product: european({ payoff: "call", strike: 100 }),
    barriers: [{ type: "up-and-out", level: 120 }],
    monitoring: "continuous",
    rebate: 10,
    rebateAt: "breach",
  });
  const model = blackScholes({ spot: 100, rate: 0.2, volatility: 0.3 });
  const found = await monteCarlo({ device, model, product, dates: equalDates(4, 1), paths: 2 ** 17, seed: 5 });
  const exact = reinerRubinstein(100, 100, 120, 10, 0.2, 0, 0.3, 1, true, true, true, false);
  // Within a step the hits are not spread evenly: 0.2 % of the rebate.
  expectWithin(found, exact, 0.02);
  expect(found.standardError[0]).toBeLessThan(0.02);
});
