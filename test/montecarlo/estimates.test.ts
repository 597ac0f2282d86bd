/** Greeks, accuracy, control variates, randomised points, and errors. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { fn } from "../../src/kernel/index.ts";
import {
  asian,
  basket,
  blackScholes,
  european,
  europeanControl,
  geometricBrownian,
  heston,
  lookback,
  monteCarlo,
  type MonteCarloSettings,
  pathModel,
  pathProduct,
  productParams,
  terminalPayoff,
  withBarriers,
} from "../../src/montecarlo/index.ts";
import { sensitivitiesOf, sensitivityVariants } from "../../src/montecarlo/sensitivities.ts";
import { normalCdf } from "../support/normal.ts";
import { equalDates, expectWithin } from "./support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());
const run = (settings: MonteCarloSettings) => monteCarlo({ device, paths: 2 ** 14, seed: 5, ...settings });

const spot = blackScholes({ spot: 100, rate: 0.05, yield: 0.01, volatility: 0.25 });
const call = european({ payoff: "call", strike: 105 });
const base = { model: spot, product: call, dates: [1] };

/** Of Black and Scholes, T = 1. */
function exactSensitivities(S = 100, K = 105, r = 0.05, q = 0.01, v = 0.25) {
  const d = (Math.log(S / K) + r - q) / v + 0.5 * v;
  const density = Math.exp(-0.5 * d * d) / Math.sqrt(2 * Math.PI);
  return {
    value: S * Math.exp(-q) * normalCdf(d) - K * Math.exp(-r) * normalCdf(d - v),
    delta: Math.exp(-q) * normalCdf(d),
    gamma: (Math.exp(-q) * density) / (S * v),
    vega: S * Math.exp(-q) * density,
    rho: K * Math.exp(-r) * normalCdf(d - v),
  };
}

describe("Greeks", () => {
  const exact = exactSensitivities();

  test.each([
    // A bump of 1 % has a bias of second order: h²/6 of the third derivative, h²/12 of the fourth.
    ["bump", ["delta", "gamma", "vega", "rho"], 2e-3],
    ["pathwise", ["delta", "vega", "rho"], 0],
    ["likelihood-ratio", ["delta", "gamma", "vega"], 0],
  ] as const)("by %s", async (sensitivityMethod, sensitivities, bias) => {
    const { sensitivities: found } = await run({ ...base, sensitivityMethod, sensitivities, paths: 2 ** 16 });
    for (const name of sensitivities) {
      expect(found[name].method).toBe(sensitivityMethod);
      expectWithin(found[name], exact[name], bias * exact[name]);
    }
  });

  test("of a digital option, whose payoff jumps: likelihood ratio and bumps", async () => {
    const digital = terminalPayoff({ payoff: "S1 > 105 ? 1 : 0", assets: 1, isDiscontinuous: true });
    const d = (Math.log(100 / 105) + 0.04) / 0.25 - 0.125;
    const delta = Math.exp(-0.05 - 0.5 * d * d) / Math.sqrt(2 * Math.PI) / 25;
    for (const sensitivityMethod of ["likelihood-ratio", "bump"] as const) {
      const { sensitivities } = await run({
        ...base,
        product: digital,
        sensitivityMethod,
        sensitivities: ["delta"],
        paths: 2 ** 16,
      });
      expectWithin(sensitivities["delta"], delta, 2e-3 * delta);
    }
    await expect(
      run({ ...base, product: digital, sensitivityMethod: "pathwise", sensitivities: ["delta"] }),
    ).rejects.toThrow(/payoff jumps/);
  });

  test("by likelihood ratio are the same alone as together", async () => {
    const settings = { ...base, sensitivityMethod: "likelihood-ratio" } as const;
    const together = await run({ ...settings, sensitivities: ["delta", "gamma", "vega"] });
    for (const name of ["gamma", "vega"])
      expect((await run({ ...settings, sensitivities: [name] })).sensitivities[name].value).toEqual(
        together.sensitivities[name].value,
      );
  });

  test("volatilities by step are shifted by a part of the smallest", () => {
    const model = blackScholes({ spot: 100, volatility: { byStep: [0.4, 0.1] } });
    const bumps = sensitivitiesOf(model, call, ["vega"], "bump");
    const paths = { model, product: call, control: undefined, dates: [0.5, 1] };
    const shifted = sensitivityVariants(paths, bumps, "f64").model.slice(1, 3);
    const steps = shifted.map(({ [bumps[0].parameter]: one }) => (one as { byStep: number[] }).byStep.map(Number));
    for (const [k, sign] of [1, -1].entries()) {
      expect(steps[k][0]).toBeCloseTo(0.4 + sign * 1e-3, 12);
      expect(steps[k][1]).toBeCloseTo(0.1 + sign * 1e-3, 12);
    }
  });

  test("of several assets, and of any parameter", async () => {
    const model = geometricBrownian({ spots: [100, 95], rate: 0.03, volatilities: [0.2, 0.3] });
    const product = basket({ payoff: "call", strike: 0, weights: [1, 2] });
    const { sensitivities } = await run({
      model,
      product,
      dates: [2],
      sensitivities: ["delta", "strike"],
      sensitivityMethod: "pathwise",
    });
    expectWithin(sensitivities["delta1"], 1);
    expectWithin(sensitivities["delta2"], 2);
    // d/dK of e^(−rT)(B − K): no scatter at all.
    expect(Math.abs(sensitivities["strike"].value[0] + Math.exp(-0.06))).toBeLessThan(1e-8);
  });

  test("a control variate serves Greeks, too", async () => {
    const product = asian({ payoff: "call", strike: 100 });
    const settings = { model: spot, product, dates: equalDates(4, 1), sensitivities: ["delta", "vega"] };
    const [plain, controlled] = [await run({ ...settings, control: "none" }), await run(settings)];
    expect(controlled.control).toBe("geometric average");
    for (const name of ["delta", "vega"]) {
      const [a, b] = [plain.sensitivities[name], controlled.sensitivities[name]];
      expect(b.standardError[0]).toBeLessThan(0.2 * a.standardError[0]);
      expect(Math.abs(a.value[0] - b.value[0])).toBeLessThan(3 * a.standardError[0]);
    }
  });
});

describe("accuracy", () => {
  test("paths are added until the error estimate is small enough, of each instance", async () => {
    const model = blackScholes({ spot: [50, 100, 200], volatility: 0.3 });
    const accuracy = 0.1;
    const result = await run({
      model,
      product: european({ payoff: "call", strike: 100 }),
      dates: [1],
      accuracy: { absolute: accuracy },
      paths: 1024,
    });
    expect(result.status).toEqual(["reached", "reached", "reached"]);
    result.errorEstimate.forEach((x) => expect(x).toBeLessThanOrEqual(accuracy));
    // Not many more than needed: 60² variance of the largest payoff over the squared standard error.
    expect(result.paths[2]).toBeLessThan(3 * ((1.96 * 62) / accuracy) ** 2);
    const relative = await run({
      model,
      product: european({ payoff: "call", strike: 100 }),
      dates: [1],
      accuracy: { relative: 0.01 },
    });
    relative.value.forEach((x, i) => expect(relative.errorEstimate[i]).toBeLessThanOrEqual(0.01 * x));
    expect(relative.paths[2]).toBe(relative.paths[0]);
    expect(relative.status).toEqual(["reached", "reached", "reached"]);
  });

  test("a limit of paths is a status", async () => {
    const result = await run({ ...base, accuracy: { absolute: 1e-4 }, paths: 1024, maxPaths: 4096 });
    expect(result.status).toEqual(["limit"]);
    expect(result.paths[0]).toBe(4096);
  });

  test("rounds give what one run of as many paths gives, but for rounding", async () => {
    const product = asian({ payoff: "call", strike: 100 });
    const settings = { model: spot, product, dates: equalDates(4, 1) };
    const added = await run({ ...settings, accuracy: { absolute: 0.004 }, paths: 1024 });
    const once = await run({ ...settings, paths: added.paths[0] });
    expect(added.paths[0]).toBeGreaterThan(1024);
    expect(Math.abs(added.value[0] - once.value[0])).toBeLessThan(1e-12);
  });

  test("a payoff that is not finite is a status, and ends nothing", async () => {
    const product = terminalPayoff({ payoff: "S1 > 100 ? 1/0 : S1", assets: 1 });
    const model = blackScholes({ spot: [100, 1], volatility: 0.2 });
    const result = await run({ model, product, dates: [1], accuracy: { absolute: 0.1 } });
    expect(result.status).toEqual(["not-finite", "reached"]);
  });

  test("progress reaches 1, and a signal ends a run", async () => {
    const shares: number[] = [];
    await run({ ...base, onProgress: ({ done, total }) => shares.push(done / total) });
    expect(shares.at(-1)).toBe(1);
    await expect(run({ ...base, signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
  });
});

describe("variance reduction", () => {
  test("reflections are exact for what is odd in them", async () => {
    // The logarithm of the last spot is linear in its normal number.
    const product = terminalPayoff({ payoff: "log(S1)", assets: 1 });
    const { value } = await run({
      model: blackScholes({ spot: 100, volatility: 0.2 }),
      product,
      dates: [1],
      antithetic: true,
    });
    expect(Math.abs(value[0] - (Math.log(100) - 0.02))).toBeLessThan(1e-12);
  });

  test("a control that is the product itself leaves no error", async () => {
    const control = europeanControl({ payoff: "call", strike: 105 }, 1);
    const { value, standardError } = await run({ ...base, control });
    expect(Math.abs(value[0] - exactSensitivities().value)).toBeLessThan(1e-9);
    expect(standardError[0]).toBeLessThan(1e-9);
  });

  test("a control of one's own, with a column as mean", async () => {
    // The forward, under Heston.
    const forward = pathProduct({
      name: "forward",
      running: 0,
      parameters: {},
      payoff: fn({ name: "forward", params: productParams.payoff, body: ({ spots }) => spots[0] }),
    });
    const model = heston({ spot: 100, rate: 0.02, v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.3, rho: -0.5 });
    const settings = { model, product: european({ payoff: "call", strike: 90 }), dates: [1], substeps: 8 };
    const control = { name: "forward", product: forward, mean: [100] };
    const [plain, controlled] = [await run({ ...settings, control: "none" }), await run({ ...settings, control })];
    expect(controlled.standardError[0]).toBeLessThan(0.5 * plain.standardError[0]);
    expect(Math.abs(controlled.value[0] - plain.value[0])).toBeLessThan(3 * plain.standardError[0]);
  });

  test("Sobol' points converge faster than the root of their number", async () => {
    const settings = {
      model: spot,
      product: asian({ payoff: "call", strike: 100 }),
      dates: equalDates(12, 1),
      control: "none",
      sampling: "sobol",
    } as const;
    const errors: number[] = [];
    for (const paths of [2 ** 11, 2 ** 17]) errors.push((await run({ ...settings, paths })).standardError[0]);
    // 64 times the paths: 8 by the root; the scatter of 32 scramblings is good to 13 %.
    expect(errors[0] / errors[1]).toBeGreaterThan(14);
  });

  test("an interval of 32 scramblings is Student's with 31 degrees of freedom", async () => {
    const { errorEstimate, standardError } = await run({ ...base, sampling: "sobol", scramblings: 32 });
    expect(errorEstimate[0] / standardError[0]).toBeCloseTo(2.0395, 3);
    const random = await run(base);
    expect(random.errorEstimate[0] / random.standardError[0]).toBeCloseTo(1.96, 3);
  });

  test("one step and many give the same law, with Sobol' points through the bridge", async () => {
    const exact = exactSensitivities().value;
    for (const dates of [[1], equalDates(7, 1), [0.01, 0.5, 0.51, 1]])
      expectWithin(await run({ ...base, dates, sampling: "sobol" }), exact);
  });
});

test("past fixings: an average of which half is known", async () => {
  const settings = { payoff: "call", strike: 100, past: { count: 2, mean: 104 } } as const;
  const model = blackScholes({ spot: 100, volatility: 1e-9 });
  const { value } = await run({ model, product: asian(settings), dates: [0.5, 1], paths: 64 });
  expect(Math.abs(value[0] - 2)).toBeLessThan(1e-6);
});

test("a continuous average begins at the start, and `includesStart` adds nothing to it", async () => {
  const average = (includesStart: boolean, control: "auto" | "none") =>
    run({
      model: blackScholes({ spot: 100, rate: 0.05, volatility: 0.2 }),
      product: asian({ payoff: "call", strike: 100, sampling: "continuous", includesStart }),
      dates: [1],
      substeps: 50,
      control,
    });
  const [plain, controlled, uncontrolled] = [
    await average(false, "auto"),
    await average(true, "auto"),
    await average(true, "none"),
  ];
  expect(controlled.value[0]).toBe(plain.value[0]);
  // Vecer's equation (2001) by central differences and Crank–Nicolson, 2,000 to 8,000 nodes: 5.7630 to 5.7631.
  expectWithin(controlled, 5.7631, 1e-3);
  expectWithin(uncontrolled, 5.7631, 1e-3);
});

test("dates of each instance", async () => {
  const dates = [0.25, 1].map((t) => Float64Array.of(t, 2 * t));
  const { value, standardError, errorEstimate } = await run({
    model: spot,
    product: european({ payoff: "call", strike: 105 }),
    dates,
  });
  expectWithin({ value, standardError, errorEstimate }, exactSensitivities().value);
  const two = await run({ model: spot, product: european({ payoff: "call", strike: 105 }), dates: [2], streams: [1] });
  expect(Math.abs(value[1] - two.value[0])).toBeLessThan(3 * Math.hypot(standardError[1], two.standardError[0]));
});

describe("errors say the place, what was expected, and the remedy", () => {
  const model = spot;
  test.each<[RegExp, () => unknown]>([
    [/^greeks: unknown; expected one of .*sensitivities/, () => run({ ...base, greeks: ["delta"] } as never)],
    [/^monteCarlo: got nothing, expected an object with model, product/, () => monteCarlo(undefined as never)],
    [/^model: got nothing, expected a model of paths/, () => run({ ...base, model: undefined as never })],
    [/^product: got nothing, expected a product on paths/, () => run({ ...base, product: undefined as never })],
    [/^sensitivities: got a string, expected a list/, () => run({ ...base, sensitivities: "delta" as never })],
    [/^control: got a string, expected a product/, () => run({ ...base, control: "geometric" as never })],
    [
      /^blackScholes\.yeild: unknown; expected one of spot/,
      () => blackScholes({ spot: 1, volatility: 1, yeild: 1 } as never),
    ],
    [/^european: payoff: got "C", expected "call" or "put"/, () => european({ payoff: "C" as never, strike: 1 })],
    [/^european\.strikes: unknown/, () => european({ payoff: "call", strike: 1, strikes: 2 } as never)],
    [/^asian: average: got "mean"/, () => asian({ payoff: "call", strike: 1, average: "mean" as never })],
    [
      /^withBarriers: barriers\[0\]\.type: got "up-and-away"/,
      () => withBarriers({ product: call, barriers: [{ type: "up-and-away" as never, level: 1 }] }),
    ],
    [
      /^withBarriers: monitoring: got "daily"/,
      () => withBarriers({ product: call, barriers: [{ type: "up-and-out", level: 1 }], monitoring: "daily" as never }),
    ],
    [/dates: got none/, () => run({ ...base, dates: [] })],
    [/dates\[1\]: got 0.5, expected more than 1/, () => run({ ...base, dates: [1, 0.5] })],
    [/dates\[0\]: got 0, expected more than 0/, () => run({ ...base, dates: [0] })],
    [/substeps: got 0/, () => run({ ...base, substeps: 0 })],
    [/paths: got 0.5/, () => run({ ...base, paths: 0.5 })],
    [/sampling: got "halton"/, () => run({ ...base, sampling: "halton" as never })],
    [/scramblings: got 1/, () => run({ ...base, sampling: "sobol", scramblings: 1 })],
    [/seed: got -1/, () => run({ ...base, seed: -1 })],
    [/^accuracy\.absolute: got 0, expected above 0/, () => run({ ...base, accuracy: { absolute: 0 } })],
    [/^accuracy: got neither, expected \{ absolute/, () => run({ ...base, accuracy: {} })],
    [/sensitivities: got "charm", expected one of delta, gamma/, () => run({ ...base, sensitivities: ["charm"] })],
    [/"gamma" pathwise/, () => run({ ...base, sensitivities: ["gamma"], sensitivityMethod: "pathwise" })],
    [
      /sensitivityMethod: got "adjoint"/,
      () => run({ ...base, sensitivities: ["delta"], sensitivityMethod: "adjoint" as never }),
    ],
    [
      /by likelihood ratio of the model "2 geo/,
      () =>
        run({
          ...base,
          model: geometricBrownian({ spots: [1, 1], volatilities: [1, 1] }),
          sensitivities: ["delta"],
          sensitivityMethod: "likelihood-ratio",
        }),
    ],
    [
      /streams: got 2, expected 3/,
      () => run({ ...base, product: european({ payoff: "call", strike: [1, 2, 3] }), streams: [1, 2] }),
    ],
    [
      /product.strike: got 2 numbers, expected 3/,
      () =>
        run({
          ...base,
          model: blackScholes({ spot: [1, 2, 3], volatility: 1 }),
          product: european({ payoff: "call", strike: [1, 2] }),
        }),
    ],
    [
      /needs 3 assets, the model/,
      () => run({ ...base, product: basket({ payoff: "call", strike: 1, weights: [1, 1, 1] }) }),
    ],
    [
      /byStep: got 2 columns, expected 1/,
      () => run({ ...base, model: blackScholes({ spot: 1, volatility: { byStep: [1, 2] } }) }),
    ],
    [/^blackScholes: spot: got -1, expected a positive number/, () => blackScholes({ spot: -1, volatility: 1 })],
    [/^blackScholes: spot: got nothing, expected a positive number/, () => blackScholes({ volatility: 1 } as never)],
    [
      /model.rate: got NaN, expected a finite number/,
      () => run({ ...base, model: blackScholes({ spot: 1, rate: NaN, volatility: 1 }) }),
    ],
    [/^blackScholes: volatility: got NaN/, () => blackScholes({ spot: 1, volatility: NaN })],
    [
      /correlation\[1\]\[0\]: got 2/,
      () =>
        geometricBrownian({
          spots: [1, 1],
          volatilities: [1, 1],
          correlation: [
            [1, 2],
            [2, 1],
          ],
        }),
    ],
    [
      /positive definite/i,
      () =>
        geometricBrownian({
          spots: [1, 1, 1],
          volatilities: [1, 1, 1],
          correlation: [
            [1, 0.9, 0.9],
            [0.9, 1, -0.9],
            [0.9, -0.9, 1],
          ],
        }),
    ],
    [/heston: sigma: got 0/, () => heston({ spot: 1, v0: 1, kappa: 1, theta: 1, sigma: 0, rho: 0 })],
    [/lookback: monitoring: got "daily"/, () => lookback({ payoff: "call", strike: 1, monitoring: "daily" as never })],
    [
      /asian: past: got past fixings/,
      () => asian({ payoff: "call", strike: 1, average: "geometric", past: { count: 1, mean: 1 } }),
    ],
    [
      /knock-outs and knock-ins/,
      () =>
        withBarriers({
          product: call,
          barriers: [
            { type: "up-and-in", level: 1 },
            { type: "up-and-out", level: 1 },
          ],
        }),
    ],
    [/barriers: got none/, () => withBarriers({ product: call, barriers: [] })],
    [
      /has no variances/,
      () =>
        run({
          ...base,
          model: { ...model, variances: undefined as never },
          product: lookback({ payoff: "call", strike: 1 }),
        }),
    ],
    [/pathModel: normals: got 0 and no uniforms/, () => pathModel({ ...model, normals: 0 })],
    [/pathProduct: running: got -1/, () => pathProduct({ ...call, running: -1 })],
    [
      /control.mean: got a column beside sensitivities/,
      () => run({ ...base, sensitivities: ["delta"], control: { name: "x", product: call, mean: 1 } }),
    ],
  ])("%s", async (message, act) => {
    await expect(async () => await act()).rejects.toThrow(message);
  });
});
