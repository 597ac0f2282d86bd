/** Problems one after the other that share functions, formulas, programs and kernels (problem/lowered.ts). */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { solve } from "../../../../src/pde/fdm/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

const axes = { X: { from: -6, to: 6, nodes: 41 }, Y: { from: -6, to: 6, nodes: 25 } };

/** E X(T)²·e^(−rT) of a Brownian motion of variance `variance` a year that starts at ½. */
const expected = (variance: number, expiry: number, r: number): number =>
  (0.25 + variance * expiry) * Math.exp(-r * expiry);

test.each([
  [1, 1, 0],
  [1, 0.5, 0.1],
  [0.36, 1, 0.1],
  [0.49, 2, -0.05],
])("formulas that differ in literals, variance %d, expiry %d, rate %d", async (variance, expiry, r) => {
  const { entries } = await solve(
    { axes, equation: { XX: `${variance}/2`, YY: 0.5, V: -r }, terminal: "X^2", expiry, steps: 40 },
    { device },
  );
  // The exponential of the rate has an error of second order in time; polynomials of degree two have none in space.
  expect(entries[0].at({ X: 0.5, Y: 0 }).value).toBeCloseTo(expected(variance, expiry, r), 3);
});

test.each([0.3, 0.6])("one function, by its parameter, sigma %d", async (sigma) => {
  const { entries } = await solve(
    {
      axes,
      parameters: { sigma },
      equation: ({ sigma }) => ({ XX: 0.5 * sigma * sigma, YY: 0.5 }),
      terminal: ({ X }) => X * X,
      expiry: 1,
      steps: 20,
    },
    { device },
  );
  expect(entries[0].at({ X: 0.5, Y: 0 }).value).toBeCloseTo(expected(sigma ** 2, 1, 0), 6);
});

test("a function of the same text at another place, or of other names", async () => {
  const square = ({ X }: { X: number }): number => X * X;
  const here = await solve({ axes, equation: { XX: 0.5 }, terminal: square, expiry: 1, steps: 10 }, { device });
  const turned = { Y: axes.Y, X: axes.X };
  const there = await solve(
    { axes: turned, equation: { XX: 0.5 }, terminal: square, expiry: 1, steps: 10 },
    { device },
  );
  for (const { entries } of [here, there]) expect(entries[0].at({ X: 0.5, Y: 0 }).value).toBeCloseTo(1.25, 6);
  const bad = { axes, equation: { XX: 0.5 }, terminal: "X +", expiry: 1 };
  // A failure is not remembered, and says where it is each time.
  for (let k = 0; k < 2; k++) await expect(solve(bad, { device })).rejects.toThrow(/terminal/);
  await expect(solve({ ...bad, terminal: "X", equation: { XX: "X +" } }, { device })).rejects.toThrow(/equation\.XX/);
});
