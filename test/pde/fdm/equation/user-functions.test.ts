/** Functions of the user's own by name (`functions`), on one to three axes and on sparse grids, on every device. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import type { Device } from "../../../../src/device/index.ts";
import { KernelError } from "../../../../src/base/errors.ts";
import { solve } from "../../../../src/pde/fdm/index.ts";
import { fn, formula, real } from "../../../../src/kernel/index.ts";
import { solveOnSparseGrid } from "../../../../src/pde/sparsegrid/index.ts";
import { disposeAll, openTestDevices } from "../../../support/devices.ts";
import { put } from "./support.ts";

const cpu = createCpuDevice({ threads: 1 });
const devices = await openTestDevices();
afterAll(() => {
  disposeAll(devices);
  cpu[Symbol.dispose]();
});

const square = fn({ params: [real], body: ([x]) => x * x });
/** A plain function with a branch, one by the keyword, and a kernel function that calls another one. */
const functions = {
  sigmaOf: (S: number, t: number) => {
    if (S < 0 || t < 0) return 0.4;
    return 0.2;
  },
  discounted: function (cash: number, rate: number, time: number) {
    return cash * Math.exp(-rate * time);
  },
  half: fn({ params: [real], env: { square }, body: ([x], _gpu, { square }) => 0.5 * square(x) }),
};

/** A European put on one axis whose every part calls a function. */
const problem = {
  axes: { S: { from: 0, to: 400, nodes: 201, points: [100] } },
  parameters: { K: 100, r: 0.05 },
  functions,
  terminal: "max(K - S, 0)",
  expiry: 1,
} as const;

const onOneAxis = (device: Device) =>
  solve(
    {
      ...problem,
      precision: device.precisions.includes("f64") ? "f64" : "f32",
      equation: ({ S, t, r }, _gpu, { sigmaOf, half }) => ({ SS: half(sigmaOf(S, t) * S), S: r * S, V: -r }),
      boundaries: {
        S: { low: { kind: "dirichlet", value: ({ K, r, t }, _gpu, { discounted }) => discounted(K, r, 1 - t) } },
      },
    },
    { device },
  );

describe.each(devices)("$label", ({ device, missing }) => {
  test.skipIf(device === undefined)(`a put by functions${device === undefined ? ` (${missing})` : ""}`, async () => {
    const [entry] = (await onOneAxis(device!)).entries;
    // The error of the mesh is 1.1e-3; a volatility that is 0.001 off moves the value by 0.04.
    for (const S of [90, 100, 110]) expect(Math.abs(entry.at(S).value - put(S))).toBeLessThan(1.5e-3);
  });
});

test("formulas call them, and give what functions do", async () => {
  const equation = { SS: "half(sigmaOf(S, t)*S)", S: "r*S", V: "-r" };
  const low = { kind: "dirichlet", value: "discounted(K, r, 1 - t)" } as const;
  const [entry] = (await solve({ ...problem, equation, boundaries: { S: { low } } }, { device: cpu })).entries;
  expect(entry.at(100).value).toBe((await onOneAxis(cpu)).entries[0].at(100).value);
  const f = formula("2*half(x) + square3(x, 1, y)", ["x", "y"], "f", {
    ...functions,
    square3: (a: number, b: number, c: number) => a * a * b + c,
  });
  expect(f(3, 5)).toBe(9 + 9 + 5);
});

test("two and three axes, and sparse grids: a put on one of the prices", async () => {
  const axis = { from: 0, to: 400, nodes: 41, points: [100] };
  const parameters = { K: 100, r: 0.05 };
  const two = await solve(
    {
      axes: { S: { ...axis, nodes: 101 }, v: { from: 0, to: 1, nodes: 7 } },
      parameters,
      functions,
      equation: ({ S, t, r }, _gpu, { sigmaOf, half }) => ({ SS: half(sigmaOf(S, t) * S), S: r * S, V: -r }),
      terminal: "max(K - S, 0)",
      expiry: 1,
    },
    { device: cpu },
  );
  expect(Math.abs(two.entries[0].at({ S: 100, v: 0.5 }).value - put(100))).toBeLessThan(0.02);
  const three = await solve(
    {
      axes: { S: axis, v: { from: 0, to: 1, nodes: 7 }, w: { from: 0, to: 1, nodes: 7 } },
      parameters,
      functions,
      equation: { SS: "half(sigmaOf(S, t)*S)", S: "r*S", V: "-r" },
      terminal: ({ S, K }) => Math.max(K - S, 0),
      expiry: 1,
      steps: 20,
    },
    { device: cpu },
  );
  expect(Math.abs(three.entries[0].at({ S: 100, v: 0.5, w: 0.5 }).value - put(100))).toBeLessThan(0.2);
  const sparse = await solveOnSparseGrid(
    {
      axes: { S: { from: 0, to: 400, points: [100] }, v: { from: 0, to: 1 } },
      parameters,
      functions,
      equation: ({ S, t, r }, _gpu, { sigmaOf, half }) => ({ SS: half(sigmaOf(S, t) * S), S: r * S, V: -r }),
      terminal: "max(K - S, 0)",
      expiry: 1,
      level: 5,
    },
    { device: cpu },
  );
  expect(Math.abs(sparse.entries[0].at({ S: 100, v: 0.5 }).value - put(100))).toBeLessThan(0.1);
});

test("a function of another text by the same name is another function", async () => {
  const valueWith = async (sigmaOf: (S: number) => number) => {
    const { entries } = await solve(
      { ...problem, functions: { sigmaOf }, equation: { SS: "0.5*sigmaOf(S)^2*S^2", S: "r*S", V: "-r" } },
      { device: cpu },
    );
    return entries[0].at(100).value;
  };
  const [low, high] = [await valueWith((S) => (S < 0 ? 1 : 0.2)), await valueWith((S) => (S < 0 ? 1 : 0.3))];
  expect(high - low).toBeGreaterThan(3);
});

describe("what cannot be called is refused with its place and what to do", () => {
  const sigmaOf = (S: number) => (S < 0 ? 1 : 0.2);
  const refused = async (more: object): Promise<Error> =>
    solve({ ...problem, functions: {}, equation: { V: "-r" }, ...more }, { device: cpu }).then(
      ({ entries }) => entries[0].error!,
      (error: Error) => error,
    );

  test.each<[string, object, RegExp]>([
    [
      "a function of the code around",
      { equation: ({ S }: { S: number }) => ({ SS: sigmaOf(S) }) },
      /sigmaOf is not declared[^]*remedy: name it in functions: \{ sigmaOf \}, .*\(state, gpu, \{ sigmaOf \}\) => …/,
    ],
    ["a number", { functions: { sigmaOf: 3 } }, /^functions\.sigmaOf: got number, expected a function of numbers/],
    ["the name of an axis", { functions: { S: sigmaOf } }, /^functions\.S: an axis or a parameter has this name/],
    [
      "the name of a function of formulas",
      { functions: { exp: sigmaOf } },
      /^functions\.exp: formulas know another exp/,
    ],
    ["no record", { functions: [sigmaOf] }, /^functions: got an array, expected functions by name: \{ sigmaOf \}/],
    [
      "too few arguments",
      { functions: { f: (a: number, b: number) => a + b }, equation: { V: "f(S)" } },
      /f takes 2 arguments, got 1[^]*remedy: write f\(a, b\)/,
    ],
    [
      "a function that calls another one",
      { functions: { f: (S: number) => sigmaOf(S) }, equation: { V: "f(S)" } },
      /^f, line 1[^]*sigmaOf is not declared[^]*declare the function that calls it with fn/,
    ],
    [
      "a loop that does not end",
      {
        functions: {
          f: (S: number) => {
            let x = S;
            while (x > -1) x += 1;
            return x;
          },
        },
        equation: { V: "f(S)" },
      },
      /^f, line \d[^]*this loop does not end/,
    ],
  ])("%s", async (_, more, message) => {
    expect((await refused(more)).message).toMatch(message);
  });

  test("an unknown function of a formula: what there is", async () => {
    const error = await refused({ functions: { sigmaOf }, equation: { V: "sigma(S)" } });
    expect(error).toBeInstanceOf(KernelError);
    expect(error.message).toMatch(/sigma is an unknown function[^]*the functions are .*sigmaOf/);
  });
});
