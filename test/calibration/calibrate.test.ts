/** Models that a user writes, fitted to the closed forms' prices. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { calibrate } from "../../src/calibration/index.ts";
import { hestonSlice } from "../../src/calibration/heston-slices.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { fn } from "../../src/kernel/index.ts";
import { european, modelParams, pathModel } from "../../src/montecarlo/index.ts";
import { hostNormalCdf } from "../../src/market/models/index.ts";

/** Calls under dS = r·S dt + 2.5·S^0.45 dW, S = 100, r = 3 %, by SciPy's noncentral chi-square distribution. */
const CEV = { sigma: 2.5, beta: 0.45 } as const;
const STRIKES = [70, 85, 100, 115, 130];
const CEV_PRICES: Readonly<Record<number, readonly number[]>> = {
  0.5: [31.0766995975, 17.0039101191, 6.3330317484, 1.3819315875, 0.1654341336],
  2: [35.1038397097, 23.3337912981, 14.0093056119, 7.534021377, 3.6198829654],
};
const cevQuotes = Object.entries(CEV_PRICES).flatMap(([T, prices]) =>
  STRIKES.map((K, i) => ({ parameters: { K, T: Number(T) }, at: 100, price: prices[i] })),
);
const cev = {
  axes: { S: { from: 0, to: 350, nodes: 151, points: ["K"] } },
  parameters: { K: 100, T: 1, r: 0.03, sigma: 5, beta: 0.3 },
  equation: ({ S, r, sigma, beta }: Readonly<Record<"S" | "r" | "sigma" | "beta", number>>) => ({
    SS: 0.5 * sigma ** 2 * S ** (2 * beta),
    S: r * S,
    V: -r,
  }),
  terminal: "max(S - K, 0)",
  expiry: "T",
  extrapolate: "both",
} as const;

/** Calls in Heston's model with spot 100 and no rates, by its characteristic function. */
const HESTON = { v0: 0.05, kappa: 2, theta: 0.04, sigma: 0.5, rho: -0.6 } as const;
function hestonCall(K: number, T: number): number {
  const k = Math.log(K / 100);
  const deviation = hestonSlice(Object.values(HESTON), T, 1).volatility(k) * Math.sqrt(T);
  const high = -k / deviation + 0.5 * deviation;
  return 100 * hostNormalCdf(high) - K * hostNormalCdf(high - deviation);
}

/** Heston's model by Euler's scheme with full truncation, as a user may write it. */
const euler = pathModel({
  name: "my Heston",
  assets: 1,
  state: 2,
  normals: 2,
  uniforms: 0,
  parameters: { spot: 100, ...HESTON, v0: 0.09, sigma: 0.9, rho: 0 },
  start: fn({
    params: modelParams.start,
    body({ p, state }) {
      state[0] = Math.log(p[0]);
      state[1] = p[1];
    },
  }),
  step: fn({
    params: modelParams.step,
    body({ state, normals, c, dt }) {
      const v = Math.max(state[1], 0);
      const root = Math.sqrt(v * dt);
      state[0] = state[0] - 0.5 * v * dt + root * normals[0];
      const turned = c[5] * normals[0] + Math.sqrt(1 - c[5] * c[5]) * normals[1];
      state[1] = state[1] + c[2] * (c[3] - v) * dt + c[4] * root * turned;
    },
  }),
  observe: fn({
    params: modelParams.observe,
    body({ state, spots }) {
      spots[0] = Math.exp(state[0]);
    },
  }),
});

describe("calibrate", () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ backend: "cpu", threads: 1 });
  });
  afterAll(() => device[Symbol.dispose]());

  it("recovers a user's equation of constant elasticity of variance from all starts", async () => {
    const bounds = { sigma: [0.1, 50], beta: [0.05, 1] } as const;
    const launches: number[] = [];
    const fit = await calibrate(cev, cevQuotes, {
      device,
      bounds,
      restarts: 1,
      seed: 3,
      onProgress: (progress) => launches.push(progress.done),
    });
    expect(fit.status).toBe("converged");
    expect(fit.starts).toHaveLength(2);
    expect(launches.at(-1)).toBe(launches.length);
    // The finite differences are within 2e-5 of the prices.
    expect(fit.rmse).toBeLessThan(2e-5);
    expect(Math.abs(fit.parameters.beta - CEV.beta)).toBeLessThan(1e-4);
    expect(Math.abs(fit.parameters.sigma - CEV.sigma)).toBeLessThan(1e-3);
    expect(fit.standardErrors.beta).toBeLessThan(1e-4);
  });

  it("holds a parameter at its bound, and says so", async () => {
    const fit = await calibrate({ ...cev, parameters: { ...cev.parameters, sigma: 1, beta: 0.7 } }, cevQuotes, {
      device,
      bounds: { sigma: [0.1, 50], beta: [0.6, 1] },
    });
    expect(fit.parameters.beta).toBe(0.6);
    expect(fit.standardErrors.beta).toBeNaN();
    expect(fit.message).toBe("at a bound: beta");
  });

  it("recovers a user's equation on two axes", async () => {
    const quotes = [0.5, 1].flatMap((T) =>
      [80, 100, 120].map((K) => ({ parameters: { K, T }, at: { S: 100, v: HESTON.v0 }, price: hestonCall(K, T) })),
    );
    const fit = await calibrate(
      {
        axes: {
          S: { from: 0, to: 400, nodes: 81, points: ["K"] },
          v: { from: 0, to: 1, nodes: 41, points: [HESTON.v0] },
        },
        parameters: { K: 100, T: 1, kappa: HESTON.kappa, theta: HESTON.theta, sigma: 0.3, rho: -0.2 },
        equation: ({ S, v, kappa, theta, sigma, rho }) => ({
          SS: 0.5 * v * S ** 2,
          Sv: rho * sigma * v * S,
          vv: 0.5 * sigma ** 2 * v,
          v: kappa * (theta - v),
        }),
        terminal: "max(S - K, 0)",
        expiry: "T",
        steps: 24,
      },
      quotes,
      { device, bounds: { sigma: [0.05, 2], rho: [-0.95, 0.95] } },
    );
    expect(fit.status).toBe("converged");
    // The mesh leaves errors of 0.01 in prices.
    expect(fit.rmse).toBeLessThan(0.01);
    expect(Math.abs(fit.parameters.sigma - HESTON.sigma)).toBeLessThan(0.02);
    expect(Math.abs(fit.parameters.rho - HESTON.rho)).toBeLessThan(0.02);
  });

  it("recovers a user's path model within the standard errors of its paths", async () => {
    const quotes = [0.5, 1].flatMap((T) =>
      [80, 90, 100, 115].map((strike) => ({ parameters: { strike }, dates: [T], price: hestonCall(strike, T) })),
    );
    const product = european({ payoff: "call", strike: 100 });
    const problem = { model: euler, product, dates: [1], substeps: 16, paths: 2 ** 12, antithetic: true };
    const fit = await calibrate(problem, quotes, {
      device,
      bounds: { v0: [0.001, 1], sigma: [0.05, 2], rho: [-0.95, 0.95] },
      seed: 5n,
    });
    expect(fit.status).toBe("converged");
    for (const name of ["v0", "sigma", "rho"] as const) {
      expect(fit.standardErrors[name]).toBeLessThan({ v0: 0.003, sigma: 0.1, rho: 0.15 }[name]);
      expect(Math.abs(fit.parameters[name] - HESTON[name])).toBeLessThan(4 * fit.standardErrors[name]);
    }
    for (const { error, errorEstimate } of fit.quotes) expect(Math.abs(error)).toBeLessThan(2 * errorEstimate!);
  });

  it("never calls a fit what has not converged, nor what no price depends on", async () => {
    const bounds = { sigma: [0.1, 50], beta: [0.05, 1] } as const;
    const fit = await calibrate(cev, cevQuotes, { device, bounds, maxIterations: 2 });
    expect(fit.status).toBe("not converged");
    const unused = { ...cev, parameters: { ...cev.parameters, nu: 1 } };
    const { status, message } = await calibrate(unused, cevQuotes, { device, bounds: { nu: [0, 6] } });
    expect([status, message]).toEqual(["not converged", "not determined by the quotes there: nu"]);
  });

  it("goes back from a trial without prices, and says which start has none", async () => {
    const quotes = [1, 2].map((T) => ({ parameters: { T }, at: 0, price: 2 * T }));
    const problem = {
      axes: { X: { from: -30, to: 30 } },
      parameters: { T: 1, a: 1 },
      // The variance a is 2; beyond 2.5 there is none.
      equation: { XX: "0.5*a/(max(2.5 - a, 0)^0)*(2.5 - a)^0.5/(2.5 - a)^0.5" },
      terminal: "X^2",
      expiry: "T",
      boundaries: { X: { low: { kind: "neumann", slope: "2*X" }, high: { kind: "neumann", slope: "2*X" } } },
    } as const;
    const fit = await calibrate(problem, quotes, { device, bounds: { a: [0.1, 20] } });
    expect(fit.status).toBe("converged");
    expect(fit.parameters.a).toBeCloseTo(2, 6);
    const from = { ...problem, parameters: { T: 1, a: 3 } };
    await expect(calibrate(from, quotes, { device, bounds: { a: [0.1, 20] } })).rejects.toThrow(/equation/);
  });

  it.each([
    [cevQuotes, { bounds: {} }, "bounds: got none"],
    [
      cevQuotes,
      { bounds: { nu: [0, 1] } },
      "bounds.nu: the problem has no such parameter, expected one of K, T, r, sigma",
    ],
    [cevQuotes, { bounds: { sigma: [2, 1] } }, "bounds.sigma: got 2 to 1"],
    [cevQuotes, { bounds: { sigma: [6, 9] } }, "parameters.sigma: got 5, expected a start, 6 to 9"],
    [cevQuotes.slice(0, 1), { bounds: { sigma: [1, 9], beta: [0, 1] } }, "quotes: got 1, expected at least 2"],
    [[{ at: 100, price: Number.NaN }], { bounds: { sigma: [1, 9] } }, "quotes[0].price: got NaN"],
    [
      [{ at: 100, price: 1, parameters: { sigma: 2 } }],
      { bounds: { sigma: [1, 9] } },
      "quotes[0].parameters.sigma: it is",
    ],
    [[{ price: 1 }], { bounds: { sigma: [1, 9] } }, "quotes[0].at: expected a number on the axis"],
    [[{ at: 900, price: 1 }], { bounds: { sigma: [1, 9] } }, "900"],
  ])("refuses what makes no problem, with its place: case %#", async (quotes, options, message) => {
    const all = { device, ...options } as Parameters<typeof calibrate>[2];
    const given = quotes as Parameters<typeof calibrate>[1];
    await expect(calibrate<string, string, string>(cev as never, given, all)).rejects.toThrow(message);
  });

  it("ends by its signal", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(calibrate(cev, cevQuotes, { device, bounds: { sigma: [0.1, 50] }, signal })).rejects.toThrow("enough");
  });
});
