/** Columns of all entries at the problem's point, against each entry's own reading, to the bit. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { solve } from "../../../../src/pde/fdm/index.ts";
import { SpecError } from "../../../../src/base/errors.ts";
import { solveAxes } from "./device-cases.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

/** Numbers from 0 to 1 in an order that looks random. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (1103515245 * state + 12345) % 2 ** 31) / 2 ** 31;
}

const WITH = [
  { precision: "f64" },
  { precision: "f32", errorEstimate: true },
  { precision: "f64", extrapolate: "both", sensitivities: ["K", "x", "s"] },
  { precision: "f64", errorEstimate: true, exercised: true },
] as const;

const AXES = ["X", "Y", "Z"] as const;

/**
 * Options on one to three assets. Some entries share their meshes, their points or neither; some have no number for a
 * parameter, a point outside their axes, or a negative diffusion.
 */
function problemOn(axes: number, { exercised, ...more }: (typeof WITH)[number] & { readonly exercised?: true }) {
  const count = 24;
  const random = numbers(1 + axes);
  const column = (make: (k: number) => number) => Array.from({ length: count }, (_, k) => make(k));
  const names = AXES.slice(0, axes);
  const strikes = [random(), random()].map((x) => 90 + 20 * x);
  const payoff = `max(K - (${names.join(" + ")})/${axes}, 0)`;
  const pairs = names.flatMap((a, j) => names.slice(j + 1).map((b) => [a + b, `0.1*s*${a}*${b}`]));
  const at: Readonly<Record<string, string | number>> = { X: "x", Y: 101.5, Z: "K" };
  return {
    axes: Object.fromEntries(names.map((name) => [name, { from: "K/3", to: "3*K", nodes: 17, points: ["K"] }])),
    parameters: {
      K: column((k) => (k === 5 ? Number.NaN : k % 3 === 0 ? 100 : strikes[k % 2])),
      x: column((k) => (k === 7 ? 1e4 : k % 4 < 2 ? 95 : 80 + 40 * random())),
      s: column((k) => (k === 11 ? -1 : 0.2 + 0.3 * random())),
    },
    equation: {
      ...Object.fromEntries(names.flatMap((a) => [[a + a, `0.5*s*${a}^2`] as const, [a, `0.02*${a}`] as const])),
      ...Object.fromEntries(pairs),
      V: -0.03,
    },
    terminal: payoff,
    expiry: 1,
    steps: 4,
    at: Object.fromEntries(names.map((name) => [name, at[name]])),
    ...(exercised === true ? { conditions: [{ kind: "exercise" as const, payoff }] } : {}),
    ...more,
  };
}

/** The numbers read of an entry, or of entry `k` in columns, by their paths; undefined for those not asked for. */
function flat(read: object, k = 0): Record<string, number | undefined> {
  const found: Record<string, number | undefined> = {};
  const add = (name: string, part: unknown): void => {
    if (name === ".corrections" || name === ".status") return;
    if (typeof part === "number" || part === undefined) found[name] = part;
    else if (part instanceof Float64Array) found[name] = part[k];
    else for (const [own, value] of Object.entries(part as object)) add(`${name}.${own}`, value);
  };
  add("", read);
  return found;
}

describe.each([1, 2, 3])("on %i axes", (axes) => {
  test.each(WITH)("%o", async (more) => {
    const problem = problemOn(axes, more);
    const solution = await solveAxes(problem, device);
    const { x, K } = problem.parameters;
    let ok = 0;
    for (const order of [2, 4] as const) {
      const columns = solution.columns({ order });
      expect(columns.value.length).toBe(K.length);
      solution.entries.forEach((entry, k) => {
        const read = flat(columns, k);
        expect(columns.status[k]).toBe(entry.error === undefined ? "ok" : "error");
        if (entry.error === undefined) {
          const point = Object.fromEntries(
            Object.keys(problem.axes).map((a) => [a, { X: x[k], Y: 101.5, Z: K[k] }[a]!]),
          );
          const own = entry.at((axes === 1 ? x[k] : point) as never, { order });
          expect(read).toStrictEqual(flat(own));
          ok++;
        } else for (const value of Object.values(read)) expect(value ?? Number.NaN).toBeNaN();
      });
    }
    expect(ok).toBe(2 * (K.length - 3));
    expect(solution.columns()).toStrictEqual(solution.columns({ order: 4 }));
  });
});

test("a failed entry has no sensitivity, although its moved copies are solved", async () => {
  const settings = {
    axes: { S: { from: 0, to: 400, points: [100] } },
    parameters: { sigma: [0.2, 0.3] },
    equation: { SS: "(sigma == 0.3 ? log(-1) : 0.5*sigma^2)*S^2" },
    terminal: "max(100 - S, 0)",
    expiry: 1,
    at: { S: 100 },
    sensitivities: ["sigma"],
  } as const;
  const { status, sensitivities } = (await solve(settings, { device })).columns();
  expect(status).toEqual(["ok", "error"]);
  expect(sensitivities["sigma"][0]).toBeGreaterThan(35);
  expect(sensitivities["sigma"][1]).toBeNaN();
});

test("a problem without a point says how to name one", async () => {
  const problem = {
    axes: { X: { from: 0, to: 1 }, Y: { from: 0, to: 1 } },
    equation: { XX: 1 },
    terminal: "X",
    expiry: 1,
  };
  const solution = await solve({ ...problem, steps: 2 }, { device });
  expect(() => solution.columns()).toThrow(SpecError);
  expect(() => solution.columns()).toThrow(/at: \{ X: …, Y: … \}/);
});
