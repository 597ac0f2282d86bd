/** Theta and derivatives by parameters, on one to three axes and on every device, against closed forms. */
import { afterAll, describe, expect, test } from "vitest";
import type { Device } from "../../../../src/device/index.ts";
import { solve } from "../../../../src/pde/fdm/index.ts";
import { disposeAll, openTestDevices } from "../../../support/devices.ts";
import { normalCdf } from "../../../support/normal.ts";
import { everything } from "../../../support/extent.ts";

const devices = await openTestDevices({ emulatedDouble: everything });
afterAll(() => disposeAll(devices));
const cpu = devices[0].device!;

const [S, K, r, sigma, T] = [105, 100, 0.05, 0.2, 1];
const density = (x: number): number => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
const d1 = (Math.log(S / K) + (r + 0.5 * sigma * sigma) * T) / (sigma * Math.sqrt(T));
const d2 = d1 - sigma * Math.sqrt(T);
/** Black and Scholes' call, whose derivatives Hull (2018) lists in chapter 19. */
const call = {
  theta: (-S * density(d1) * sigma) / (2 * Math.sqrt(T)) - r * K * Math.exp(-r * T) * normalCdf(d2),
  sigma: S * Math.sqrt(T) * density(d1),
  r: K * T * Math.exp(-r * T) * normalCdf(d2),
  K: -Math.exp(-r * T) * normalCdf(d2),
};

const put = {
  axes: { S: { from: 0, to: 500, nodes: 201, points: ["K"] } },
  parameters: { K, r, sigma },
  equation: { SS: "0.5*sigma^2*S^2", S: "r*S", V: "-r" },
  terminal: "max(K - S, 0)",
  expiry: T,
} as const;

describe.each(devices)("$label", ({ device, missing }) => {
  test.skipIf(device === undefined)(device === undefined ? missing : "one axis", async () => {
    const precision = device!.precisions[0];
    const { entries } = await solve(
      { ...put, terminal: "max(S - K, 0)", precision, sensitivities: ["sigma", "r", "K"] },
      { device: device as Device },
    );
    expect(entries).toHaveLength(1);
    const { theta, sensitivities } = entries[0].at(S);
    const near = precision === "f32" ? 5e-3 : 1e-3;
    for (const [got, exact] of [
      [theta, call.theta],
      [sensitivities["sigma"], call.sigma],
      [sensitivities["r"], call.r],
      [sensitivities["K"], call.K],
    ])
      expect(Math.abs(got / exact - 1)).toBeLessThan(near);
  });

  test.skipIf(device === undefined)(device === undefined ? missing : "two axes", async () => {
    // X and Y have the correlation rho: E[X·Y] in T years is x·y + rho·T·a·b.
    const { entries } = await solve(
      {
        axes: { X: { from: -6, to: 6, nodes: 21 }, Y: { from: -6, to: 6, nodes: 21 } },
        parameters: { a: 0.8, b: 0.5, rho: [0.3, 0.6] },
        equation: { XX: "0.5*a^2", YY: "0.5*b^2", XY: "rho*a*b" },
        terminal: "X*Y",
        expiry: 2,
        steps: 20,
        precision: device!.precisions[0],
        sensitivities: ["rho", "a"],
      },
      { device: device as Device },
    );
    expect(entries.map((entry) => entry.parameters["rho"])).toEqual([0.3, 0.6]);
    for (const [k, rho] of [0.3, 0.6].entries()) {
      const { theta, sensitivities } = entries[k].at({ X: 1, Y: -0.5 });
      expect(theta).toBeCloseTo(-rho * 0.8 * 0.5, 2);
      expect(sensitivities["rho"]).toBeCloseTo(2 * 0.8 * 0.5, 2);
      expect(sensitivities["a"]).toBeCloseTo(2 * rho * 0.5, 2);
    }
  });
});

test("three axes: a rate discounts", async () => {
  const axis = { from: -4, to: 4, nodes: 13 } as const;
  const { entries } = await solve(
    {
      axes: { X: axis, Y: axis, Z: axis },
      parameters: { r: 0.1 },
      equation: { XX: 0.5, YY: 0.5, ZZ: 0.5, V: "-r" },
      terminal: "X + Y + Z + 4",
      expiry: 1,
      steps: 80,
      sensitivities: ["r"],
    },
    { device: cpu },
  );
  const { value, theta, sensitivities } = entries[0].at({ X: 0.5, Y: 0, Z: -0.2 });
  expect(theta).toBeCloseTo(0.1 * value, 6);
  expect(sensitivities["r"]).toBeCloseTo(-value, 3);
});

test("where a right is exercised, value and derivatives are those of the payoff, which may move", async () => {
  const payoff = "max(K*exp(0.02*t) - S, 0)";
  const { entries } = await solve(
    { ...put, conditions: [{ kind: "exercise", payoff, method: "brennan-schwartz" }], sensitivities: ["sigma", "K"] },
    { device: cpu },
  );
  const { value, theta, sensitivities } = entries[0].at(60);
  expect(value).toBeCloseTo(40, 9);
  expect(theta).toBeCloseTo(0.02 * K, 4);
  expect(sensitivities["sigma"]).toBeCloseTo(0, 9);
  expect(sensitivities["K"]).toBeCloseTo(1, 9);
});

test("a parameter at the end of its range has a difference from one side, and a warning", async () => {
  const { entries } = await solve(
    {
      axes: { X: { from: -6, to: 6 } },
      parameters: { a: 1 },
      // No more than 1 leaves a diffusion.
      equation: { XX: "a <= 1 ? 0.5*a : sqrt(-1)" },
      terminal: "X^2",
      expiry: 1,
      boundaries: {
        X: {
          low: { kind: "dirichlet", value: "X^2 + a*(1 - t)" },
          high: { kind: "dirichlet", value: "X^2 + a*(1 - t)" },
        },
      },
      sensitivities: ["a"],
    },
    { device: cpu },
  );
  expect(entries[0].at(0).sensitivities["a"]).toBeCloseTo(1, 6);
  expect(entries[0].warnings).toEqual([expect.stringMatching(/^sensitivities\.a: not from both sides, since /)]);
});

test("a name that is no parameter is refused, by the compiler too", async () => {
  // @ts-expect-error "vega" is none of K, r and sigma
  await expect(solve({ ...put, sensitivities: ["vega"] }, { device: cpu })).rejects.toThrow(
    'sensitivities[0]: got "vega", expected one of K, r, sigma',
  );
});
