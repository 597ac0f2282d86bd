/** Scripts on paths: random ones against plain JavaScript, and known products written as scripts. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { compileScript, type DataKind, letters } from "../../src/market/scripts/index.ts";
import {
  afterDate,
  asian,
  blackScholes,
  geometricBrownian,
  heston,
  longstaffSchwartz,
  lookback,
  monteCarlo,
  type MonteCarloSettings,
  type PathProduct,
  scripted,
  withBarriers,
  european,
} from "../../src/montecarlo/index.ts";
import { disposeAll, openTestDevices } from "../support/devices.ts";
import { InterpreterDevice } from "../support/interpreter-device.ts";
import { equalDates } from "./support.ts";
import { randomScript } from "./random-scripts.ts";
import { differencesOn } from "./script-paths.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const SEEDS = Array.from({ length: 60 }, (_, k) => k + 1);
const PATHS = 5;

test("random scripts are those of plain JavaScript, on the interpreter", () => {
  let stopped = 0;
  for (const seed of SEEDS) {
    const made = randomScript(seed);
    const { program, dates, begin, scalars } = made;
    for (let k = 0; k < PATHS; k++) {
      const spots = made.spots(k);
      const wanted = made.oracle(spots);
      const running = spots.reduce<readonly number[]>(
        (carried, now, date) => afterDate(program, carried, { spots: now, scalars, dated: dates[date] }),
        begin,
      );
      const isFar = (value: number, at: number): boolean =>
        !(Math.abs(value - wanted[at]) <= 1e-12 * Math.max(1, Math.abs(wanted[at])));
      const wrong = running.findIndex(isFar);
      if (wrong >= 0) throw new Error(`seed ${seed}: ${running[wrong]} for ${wanted[wrong]}:\n${made.text}`);
      stopped += running[1] === 0 ? 1 : 0;
    }
  }
  expect(stopped).toBeGreaterThan(30);
});

const DEVICES = await openTestDevices();
afterAll(() => {
  disposeAll(DEVICES);
});

for (const { label, device: own, missing } of DEVICES)
  test.skipIf(own === undefined)(
    `random scripts are those of the interpreter on ${label}${own === undefined ? `: ${missing}` : ""}`,
    { timeout: 120_000 },
    async () => {
      // GPUs contract products and sums, in f64 or in f32, and the emulator calls a compiler for each script.
      const rounding = { cpu: 0, cuda: 1e-14, webgpu: 1e-6 }[own!.backend];
      const seeds = own!.backend === "cuda" ? SEEDS.slice(0, 15) : SEEDS;
      expect((await differencesOn(own!, seeds, PATHS)).filter(({ by }) => !(by <= rounding))).toEqual([]);
    },
  );

const kinds = (data: Readonly<Record<string, DataKind>>) => new Map(Object.entries(data));
const settings = {
  model: blackScholes({ spot: 100, rate: 0.03, yield: 0.01, volatility: 0.25 }),
  dates: equalDates(6, 1.5),
  paths: 2 ** 12,
  control: "none",
  device,
} as const satisfies Partial<MonteCarloSettings>;

/** A program of two events, one on all dates and one on the last, as a product. */
function onDates(texts: { readonly each: string; readonly last: string }, state: Record<string, number>) {
  const program = compileScript(
    {
      state,
      events: [
        { on: "dates", do: texts.each },
        { on: "maturity", do: texts.last },
      ],
    },
    letters(1),
    kinds({ dates: "dates", maturity: "date", strike: "number" }),
    "option",
  );
  const count = settings.dates.length;
  return (strike: number | readonly number[]) =>
    scripted({
      program,
      running: [0, 1, ...Object.values(state)],
      scalars: [strike],
      dated: [settings.dates.map(() => 1), settings.dates.map((_, k) => (k === count - 1 ? 1 : 0))],
    });
}

describe("products written as scripts have the values of those that are there", () => {
  const pay = "pay(max(x - strike, 0))";
  const up = withBarriers({
    product: european({ payoff: "call", strike: 100 }),
    barriers: [{ type: "up-and-out", level: 130 }],
    monitoring: "dates",
  });
  test.each([
    ["an average", { each: "x += S / 6", last: pay }, { x: 0 }, asian({ payoff: "call", strike: 100 })],
    [
      "a maximum",
      { each: "x = max(x, S)", last: pay },
      { x: 0 },
      lookback({ payoff: "call", strike: 100, monitoring: "dates", from: 0.1 }),
    ],
    ["a knock-out", { each: "if (S >= 130) stop()", last: "pay(max(S - strike, 0))" }, { x: 0 }, up],
  ] as const)("%s", async (_, texts, state, product) => {
    const [own, other] = [
      await monteCarlo({ ...settings, product: onDates(texts, state)(100) }),
      await monteCarlo({ ...settings, product }),
    ];
    expect(own.value[0]).toBeCloseTo(other.value[0], 10);
    expect(own.standardError[0]).toBeCloseTo(other.standardError[0], 10);
  });

  test("under a model with steps between dates", async () => {
    const model = heston({ spot: 100, rate: 0.02, v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.4, rho: -0.6 });
    const common = { ...settings, model, substeps: 3 };
    const program = onDates({ each: "x += S / 6", last: pay }, { x: 0 });
    const product = scripted({
      program: compileScript(
        {
          state: { x: 0 },
          events: [
            { on: "dates", do: "x += S * share" },
            { on: "maturity", do: pay },
          ],
        },
        letters(1),
        kinds({ dates: "dates", maturity: "date", strike: "number", share: "numbers" }),
        "option",
      ),
      running: [0, 1, 0],
      scalars: [100],
      dated: [settings.dates.map(() => 1), [0, 0, 0, 0, 0, 1], settings.dates.map(() => 1 / 6)],
      substeps: 3,
    });
    const wanted = await monteCarlo({ ...common, product: asian({ payoff: "call", strike: 100 }) });
    const got = await monteCarlo({ ...common, product });
    expect(got.value[0]).toBeCloseTo(wanted.value[0], 10);
    expect(program(100).isDiscontinuous).toBe(false);
  });
});

test("a batch of one shape is its trades one by one", async () => {
  const product = onDates({ each: "x = max(x, S)", last: "pay(x > strike ? 100 : S)" }, { x: 0 });
  const strikes = [90, 110, 130];
  const batch = await monteCarlo({ ...settings, product: product(strikes), streams: [3, 3, 3] });
  for (const [i, strike] of strikes.entries()) {
    const one = await monteCarlo({ ...settings, product: product(strike), streams: [3] });
    expect(batch.value[i]).toBe(one.value[0]);
  }
});

test("derivatives along paths are those of bumps where nothing jumps", async () => {
  const product = onDates({ each: "x += max(S - strike, 0) / 6", last: "pay(min(x, 20))" }, { x: 0 })(100);
  const common = { ...settings, product, paths: 2 ** 14, sensitivities: ["delta", "vega"] };
  const pathwise = await monteCarlo({ ...common, sensitivityMethod: "pathwise" });
  const bumps = await monteCarlo({ ...common, sensitivityMethod: "bump" });
  for (const name of ["delta", "vega"]) {
    const [a, b] = [pathwise.sensitivities[name], bumps.sensitivities[name]];
    expect(Math.abs(a.value[0] - b.value[0])).toBeLessThan(a.errorEstimate[0] + b.errorEstimate[0]);
  }
  const jumps = onDates({ each: "", last: "if (S > strike) pay(1)" }, { x: 0 })(100);
  await expect(monteCarlo({ ...common, product: jumps, sensitivityMethod: "pathwise" })).rejects.toThrow();
});

test.each(["interpreter", "cpu"])("a right to a payoff is an option's exercise, %s", async (name) => {
  using own = name === "cpu" ? createCpuDevice({ threads: 1 }) : new InterpreterDevice();
  const text = "exercise(max(100 - S, 0))";
  const program = compileScript({ events: [{ on: "d", do: text }] }, ["A"], kinds({ d: "dates" }), "put");
  const product = scripted({ program, running: [0, 1, 0, 0], scalars: [], dated: [[1, 1, 1]] });
  const model = blackScholes({ spot: 100, rate: 0.05, volatility: 0.3 });
  const few = name === "cpu" ? 2 ** 12 : 2 ** 7;
  const common = { device: own, model, dates: [0.5, 1, 1.5], regressionPaths: few, paths: few };
  const withDelta = (of: PathProduct) => ({
    product: of,
    variants: [101, 99].map((spot) => ({
      model: blackScholes({ spot, rate: 0.05, volatility: 0.3 }),
      product: of,
      dates: common.dates,
    })),
    measures: { delta: [0, 0.5, -0.5] },
  });
  const option = european({ payoff: "put", strike: 100 });
  const wanted = await longstaffSchwartz({ ...common, ...withDelta(option) });
  const got = await longstaffSchwartz({ ...common, ...withDelta(product) });
  expect(wanted.value[0]).toBeGreaterThan(9);
  for (const of of [(one: typeof got) => one, ({ measures }: typeof got) => measures["delta"]]) {
    expect(of(got).value[0]).toBeCloseTo(of(wanted).value[0], 10);
    expect(of(got).errorEstimate[0]).toBeCloseTo(of(wanted).errorEstimate[0], 10);
  }
  await expect(longstaffSchwartz({ ...common, product, upper: true })).rejects.toThrow("upper: expected none");
});

test("several underlyings are sorted and reduced", async () => {
  const program = compileScript(
    { events: [{ on: "d", do: "pay(rank(2) + 0 * (best + worst) + (sum(S / S0) - best - rank(2) - worst))" }] },
    letters(3),
    kinds({ d: "date" }),
    "middle",
  );
  const product = scripted({ program, running: [0, 1, 100, 50, 80], scalars: [], dated: [[0], [1]] });
  const correlation = [
    [1, 0.5, 0.4],
    [0.5, 1, 0.3],
    [0.4, 0.3, 1],
  ];
  const model = geometricBrownian({ spots: [100, 50, 80], rate: 0, volatilities: [0.2, 0.3, 0.25], correlation });
  const { value, errorEstimate } = await monteCarlo({ ...settings, model, product, dates: [1] });
  // The means of all three are 1, and what is left of their sum is rounding.
  expect(Math.abs(value[0] - 1)).toBeLessThan(errorEstimate[0] + 0.05);
  const after = afterDate(program, [0, 1, 100, 50, 80], { spots: [120, 45, 80], scalars: [], dated: [0, 1] });
  expect(after[0]).toBeCloseTo(1, 12);
});
