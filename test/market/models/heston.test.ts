import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import type { Device } from "../../../src/device/device.ts";
import {
  BLACK_SCHOLES_INPUTS,
  BLACK_SCHOLES_OUTPUTS,
  blackScholesKernel,
  HESTON_OUTPUTS,
} from "../../../src/market/models/index.ts";
import { cases } from "../../pricing/reference.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { readFixture } from "../../support/fixtures.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { type HestonOption, hestonOn } from "./heston-run.ts";

const cpu = createCpuDevice({ threads: 1 });
afterAll(() => cpu[Symbol.dispose]());

const base: HestonOption = {
  spot: 100,
  strike: 100,
  rates: 0.03,
  yields: 0.01,
  expiry: 1,
  right: "call",
  cash: 0,
  v0: 0.04,
  kappa: 1.5,
  theta: 0.06,
  sigma: 0.4,
  rho: -0.7,
};

/** Discounted strike, or cash, and spot: what rounding errors are relative to. */
const sizeOf = ({ spot, strike, rates, yields, cash }: HestonOption): number =>
  cash > 0 ? cash * Math.exp(-rates) : spot * Math.exp(-yields) + strike * Math.exp(-rates);

/** An error and what it may be. */
type Check = readonly [place: string, error: number, bound: number];
const exceeding = (checks: readonly Check[]): readonly Check[] =>
  checks.filter(([, error, bound]) => !(error <= bound));

/** test/fixtures/heston/generate.py: value, delta, gamma, ∂V/∂v₀, ∂²V/∂S∂v₀, ∂²V/∂v₀², with 15 digits or more. */
interface Integral {
  readonly name: string;
  readonly inputs: readonly number[];
  readonly call: readonly number[];
  readonly put: readonly number[];
  readonly digitalCall: readonly number[];
  readonly digitalPut: readonly number[];
}
const integrals = (readFixture("heston/integrals.json") as { cases: readonly Integral[] }).cases;

function optionOf({ inputs }: Integral, right: "call" | "put", cash: number): HestonOption {
  const [spot, strike, rates, yields, expiry, v0, kappa, theta, sigma, rho] = inputs;
  return { spot, strike, rates, yields, expiry, right, cash, v0, kappa, theta, sigma, rho };
}

describe("Heston's European options against integrals with 50 digits", () => {
  const NAMES = ["value", "delta", "gamma", "toVariance", "cross", "toVarianceTwice"] as const;

  it("values and derivatives of calls, puts and digitals", async () => {
    const kinds = (["call", "put"] as const).flatMap((right) => [0, 2].map((cash) => ({ right, cash })));
    const all = integrals.flatMap((one) =>
      kinds.map((kind) => ({ one, option: optionOf(one, kind.right, kind.cash) })),
    );
    const results = await hestonOn(
      cpu,
      "f64",
      all.map(({ option }) => option),
    );
    const checks = all.flatMap(({ one, option }, l): Check[] => {
      const { spot, right, cash } = option;
      const digital = right === "call" ? one.digitalCall : one.digitalPut;
      const exact = cash > 0 ? digital.map((of) => cash * of) : one[right];
      const got = results[l];
      const place = `${one.name}, ${right}, ${cash}`;
      const bound = 1e-14 * sizeOf(option);
      const toRates = spot * exact[1] - exact[0];
      return [
        [`${place}: value`, Math.abs(got.value - exact[0]), Math.min(bound, got.error)],
        [`${place}: toRates`, Math.abs(got.toRates - toRates), bound + 1e-11 * Math.abs(spot * exact[1])],
        // Derivatives, and values out of the money, keep a relative accuracy.
        ...NAMES.map((name, i): Check => {
          const relative = name === "value" && exact[0] > 0.01 * spot ? 1 : 1e-11;
          return [`${place}: ${name}`, Math.abs(got[name] - exact[i]), relative * Math.abs(exact[i])];
        }),
      ];
    });
    expect(exceeding(checks)).toEqual([]);
  });
});

describe("Heston's European options against other sources", () => {
  it("published values: Lewis; In 't Hout & Foulon; Andersen", async () => {
    const european = cases("heston").filter(({ product }) => product === "heston_european");
    expect(european).toHaveLength(7);
    const rows = european.flatMap(({ params, expected }) => {
      const { points = [[params["spot"], params["v0"]]], maturity: expiry } = params;
      const prices = (expected["prices"] ?? [expected["price"]]) as unknown as readonly number[];
      return points.map(([spot, v0]: [number, number], i: number) => ({
        price: prices[i],
        option: {
          spot,
          strike: params["strike"],
          rates: params["rate"] * expiry,
          yields: params["dividend_yield"] * expiry,
          expiry,
          right: params["option_type"],
          cash: 0,
          v0,
          kappa: params["kappa"],
          theta: params["theta"],
          sigma: params["sigma"],
          rho: params["rho"],
        } as HestonOption,
      }));
    });
    const results = await hestonOn(
      cpu,
      "f64",
      rows.map(({ option }) => option),
    );
    // The values have 16 digits.
    const checks = rows.map(({ price, option }, l): Check => [
      JSON.stringify(option),
      Math.abs(results[l].value - price),
      1e-14 * sizeOf(option),
    ]);
    expect(exceeding(checks)).toEqual([]);
  });

  it("QuantLib's AnalyticHestonEngine", async () => {
    const { spot, rate, yield: dividendYield, cases: rows } = readFixture("quantlib/heston.json") as QuantLibFile;
    const options = rows.map(({ model: [v0, kappa, theta, sigma, rho], days, strike, type }): HestonOption => {
      const expiry = days / 365;
      const market = { spot, rates: rate * expiry, yields: dividendYield * expiry };
      return { ...market, strike, expiry, right: type, cash: 0, v0, kappa, theta, sigma, rho };
    });
    const results = await hestonOn(cpu, "f64", options);
    // Its adaptive integration is asked for 1e-12 of the undiscounted ratio to the spot.
    rows.forEach(({ price }, l) => expect(Math.abs(results[l].value - price)).toBeLessThanOrEqual(1e-12 * spot));
  });
});

interface QuantLibFile {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly cases: readonly {
    readonly model: readonly [v0: number, kappa: number, theta: number, sigma: number, rho: number];
    readonly days: number;
    readonly strike: number;
    readonly type: "call" | "put";
    readonly price: number;
  }[];
}

describe("limits and identities", () => {
  it.each([1.5, 0])("no volatility of variance, κ = %d: Black and Scholes", async (kappa) => {
    const rights = ["call", "put"] as const;
    const options = [60, 100, 170].flatMap((strike) =>
      rights.flatMap((right) => [0, 3].map((cash) => ({ ...base, strike, right, cash, kappa, sigma: 0, expiry: 2 }))),
    );
    const weight = kappa === 0 ? 2 : -Math.expm1(-kappa * 2) / kappa; // ∂w/∂v₀
    const variance = base.theta * 2 + (base.v0 - base.theta) * weight;
    const results = await hestonOn(cpu, "f64", options);
    const exact = await blackScholes(options, variance);
    options.forEach((option, l) => {
      const [value, delta, gamma, toVariance, toRates] = exact[l];
      const size = sizeOf(option);
      const got = results[l];
      expect(Math.abs(got.value - value)).toBeLessThanOrEqual(1e-14 * size);
      expect(Math.abs(got.delta - delta)).toBeLessThanOrEqual(1e-13 * (1 + Math.abs(delta)));
      expect(Math.abs(got.gamma - gamma)).toBeLessThanOrEqual(1e-13);
      expect(Math.abs(got.toVariance - toVariance * weight)).toBeLessThanOrEqual(1e-13 * size);
      expect(Math.abs(got.toRates - toRates)).toBeLessThanOrEqual(1e-13 * size);
    });
  });

  it("no variance at all: what the forward pays", async () => {
    const still = { ...base, v0: 0, theta: 0 };
    const [call, put, digital] = await hestonOn(cpu, "f64", [
      { ...still, strike: 90 },
      { ...still, strike: 90, right: "put" },
      { ...still, strike: 90, cash: 5 },
    ]);
    expect(Math.abs(call.value - (100 * Math.exp(-0.01) - 90 * Math.exp(-0.03)))).toBeLessThanOrEqual(1e-12);
    expect(Math.abs(put.value)).toBeLessThanOrEqual(1e-12);
    expect(Math.abs(digital.value - 5 * Math.exp(-0.03))).toBeLessThanOrEqual(1e-13);
  });

  /** Richardson's extrapolation of central differences in T, whose error is of fourth order. */
  it("the outputs satisfy Heston's equation", async () => {
    const [r, q] = [0.05, 0.02];
    const after = (expiry: number): HestonOption => ({ ...base, expiry, rates: r * expiry, yields: q * expiry });
    const kinds = [{}, { right: "put" }, { cash: 10 }, { strike: 130 }] as Partial<HestonOption>[];
    for (const kind of kinds) {
      const h = 2e-3;
      const at = [1, 1 + h, 1 - h, 1 + 2 * h, 1 - 2 * h].map((expiry) => ({ ...after(expiry), ...kind }));
      const [now, a, b, c, d] = await hestonOn(cpu, "f64", at);
      const slope = (8 * (a.value - b.value) - (c.value - d.value)) / (12 * h);
      const { spot: S, v0: v, kappa, theta, sigma, rho } = at[0];
      const theTheta =
        r * now.value -
        (r - q) * S * now.delta -
        kappa * (theta - v) * now.toVariance -
        0.5 * v * S * S * now.gamma -
        rho * sigma * v * S * now.cross -
        0.5 * sigma * sigma * v * now.toVarianceTwice;
      expect(Math.abs(theTheta + slope)).toBeLessThanOrEqual(1e-8 * Math.abs(slope) + 1e-10 * S);
    }
  });

  it("bounds, parity and small error estimates for any parameters", async () => {
    const random = generator(20261123);
    const options = Array.from({ length: 250 }, () => anyOption(random));
    const puts = options.map((option): HestonOption => ({ ...option, right: "put" }));
    const [calls, others] = [await hestonOn(cpu, "f64", options), await hestonOn(cpu, "f64", puts)];
    const checks = options.flatMap((option, l): Check[] => {
      const place = JSON.stringify(option);
      const bond = option.strike * Math.exp(-option.rates);
      const asset = option.spot * Math.exp(-option.yields);
      const size = bond + asset;
      const { value, delta, error } = calls[l];
      return [
        ...Object.values(calls[l]).map((output): Check => [`finite, ${place}`, output - output, 0]),
        [`estimate, ${place}`, error, 2e-12 * size],
        [`lower bound, ${place}`, Math.max(asset - bond, 0) - value, error],
        [`upper bound, ${place}`, value - asset, error],
        [`S·V_S − V is the price of a digital, ${place}`, value - delta * option.spot, 1e-12 * size],
        [`parity, ${place}`, Math.abs(value - others[l].value - asset + bond), 1e-14 * size],
      ];
    });
    expect(exceeding(checks)).toEqual([]);
  });

  it("gives NaN outside its domain", async () => {
    const outside: Partial<HestonOption>[] = [
      { spot: 0 },
      { strike: -1 },
      { expiry: 0 },
      { v0: -0.01 },
      { kappa: -1 },
      { theta: -0.1 },
      { sigma: -1 },
      { rho: 1.01 },
      { v0: NaN },
      { rates: NaN },
      { rho: NaN },
      { spot: Infinity },
      { sigma: Infinity },
    ];
    const results = await hestonOn(
      cpu,
      "f64",
      outside.map((part) => ({ ...base, ...part })),
    );
    results.forEach((result, l) => {
      expect({ ...outside[l], outputs: Object.values(result) }).toEqual({
        ...outside[l],
        outputs: Array.from({ length: HESTON_OUTPUTS }, () => NaN),
      });
    });
  });
});

async function blackScholes(options: readonly HestonOption[], variance: number): Promise<number[][]> {
  const items = options.length;
  const kernel = await cpu.compile(blackScholesKernel, { precision: "f64" });
  using input = cpu.createBuffer("f64", BLACK_SCHOLES_INPUTS * items);
  using output = cpu.createBuffer("f64", BLACK_SCHOLES_OUTPUTS * items);
  const rows = options.map(({ spot, strike, rates, yields, right, cash }) => [
    spot,
    strike,
    rates,
    yields,
    variance,
    right === "call" ? 1 : -1,
    cash,
  ]);
  cpu.write(input, Float64Array.from(rows[0].flatMap((_, i) => rows.map((row) => row[i]))));
  cpu.launch(kernel, { items, input, output }, { items });
  const values = await cpu.read(output);
  return options.map((_, l) => Array.from({ length: BLACK_SCHOLES_OUTPUTS }, (__, i) => values[i * items + l]));
}

/** Numerical Recipes' linear congruential generator, uniform in [0, 1). */
function generator(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1664525 + 1013904223) % 2 ** 32) / 2 ** 32;
}

/** A call, its numbers over many orders of magnitude, and at the ends of their ranges. */
function anyOption(random: () => number): HestonOption {
  const between = (low: number, high: number): number => low * (high / low) ** random();
  const choice = (values: readonly number[]): number => values[Math.floor(random() * values.length)];
  const expiry = between(1 / 365, 50);
  const v0 = choice([0, between(1e-4, 1), between(0.01, 0.3)]);
  const theta = choice([0, between(1e-4, 1), between(0.01, 0.3)]);
  const deviations = 8 * random() - 4;
  return {
    ...base,
    rates: 0.03 * expiry,
    yields: 0.01 * expiry,
    expiry,
    v0,
    theta,
    strike: 100 * Math.exp(Math.max(-3, Math.min(3, deviations * Math.sqrt(Math.max(v0, theta, 1e-3) * expiry)))),
    kappa: choice([0, between(1e-4, 20), between(0.1, 5)]),
    sigma: choice([0, between(1e-6, 5), between(0.05, 2)]),
    rho: choice([-1, 1, 0.999, 2 * random() - 1, 2 * random() - 1]),
  };
}

describe("Heston's kernel on every device", async () => {
  const devices = await openTestDevices();
  afterAll(() => disposeAll(devices));
  const sample = (count: number): HestonOption[] => {
    const random = generator(7);
    return Array.from({ length: count }, (_, l) => ({ ...anyOption(random), right: l % 2 === 0 ? "call" : "put" }));
  };

  it.each(["f64", "f32"] as const)("the CPU has the interpreter's bits, %s", async (precision) => {
    const interpreter: Device = new InterpreterDevice();
    const options = [base, { ...base, right: "put" as const, cash: 5 }, ...sample(5)];
    const expected = await hestonOn(interpreter, precision, options);
    expect(await hestonOn(cpu, precision, options)).toEqual(expected);
  });

  describe.each(devices)("$label", ({ device, missing }) => {
    it("in the precisions it offers", async (context) => {
      if (device === undefined) return context.skip(missing);
      const options = sample(40);
      const exact = await hestonOn(cpu, "f64", options);
      for (const precision of device.precisions) {
        if (precision === "f32x2") continue;
        const results = await hestonOn(device, precision, options);
        const bound = precision === "f64" ? 1e-12 : 1e-6;
        const checks = options.map((option, l): Check => {
          const { value, error } = results[l];
          const most = Math.min(error, bound * sizeOf(option));
          return [JSON.stringify(option), Math.abs(value - exact[l].value), most];
        });
        expect(exceeding(checks)).toEqual([]);
      }
      expect(device.liveBuffers).toBe(0);
    });
  });
});
