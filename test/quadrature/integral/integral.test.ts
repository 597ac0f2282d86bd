/** American options by the integral equation: convergence, estimates, derivatives, limits, devices. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import type { Device } from "../../../src/device/index.ts";
import { IntegralEngine, PutValues, type Puts } from "../../../src/quadrature/integral/index.ts";
import { BoundaryCache } from "../../../src/quadrature/integral/boundaries.ts";
import { openCudaForTests } from "../../support/cuda.ts";
import { readFixture } from "../../support/fixtures.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";

const device = createCpuDevice({ threads: 1 });
const engine = new IntegralEngine(device);
afterAll(() => {
  engine[Symbol.dispose]();
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

interface Put {
  readonly spot: number;
  readonly rate: number;
  readonly dividendYield: number;
  readonly sigma: number;
  readonly expiry: number;
  /** The expiry that the boundary is made for. */
  readonly longest?: number;
  readonly by?: "rate" | "yield";
}

const putsOf = (puts: readonly Put[]): Puts => ({
  logSpot: Float64Array.from(puts, ({ spot }) => Math.log(spot)),
  expiry: Float64Array.from(puts, ({ expiry }) => expiry),
  boundary: Int32Array.from(puts.keys()),
  boundaries: puts.flatMap(({ rate, dividendYield, sigma, expiry, longest = expiry, by = "rate" }) => [
    rate,
    dividendYield,
    sigma,
    longest,
    by === "rate" ? 1 : -1,
  ]),
});

interface Priced {
  readonly value: number;
  readonly delta: number;
  readonly gamma: number;
  readonly vega: number;
  readonly byOther: number;
  readonly estimate: number;
}

/** Values by schemes up to the one whose estimates are all below `accuracy`, or the finest. */
async function priced(puts: readonly Put[], accuracy: number, by = engine): Promise<readonly Priced[]> {
  const values = new PutValues(puts.length);
  await by.solve(putsOf(puts), Int32Array.from(puts.keys()), values, (open) =>
    open.filter((put) => !(values.estimate[put] <= accuracy)),
  );
  return puts.map((_, i) => {
    const [value, delta, gamma, vega, byOther] = values.all.subarray(5 * i);
    return { value, delta, gamma, vega, byOther, estimate: values.estimate[i] };
  });
}

/** Same numbers on every run: a linear congruential generator. */
function uniforms(seed: number): (low: number, high: number) => number {
  let state = seed;
  return (low, high) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return low + ((high - low) * state) / 2 ** 31;
  };
}

/** Ordinary models and extreme ones in turns, a fifth with two boundaries; spots within two deviations. */
function randomPuts(count: number, seed: number): readonly Put[] {
  const between = uniforms(seed);
  const scaled = (low: number, high: number): number => Math.exp(between(Math.log(low), Math.log(high)));
  return Array.from({ length: count }, (_, k) => {
    const isExtreme = k % 2 === 1;
    const sigma = isExtreme ? scaled(0.01, 2) : between(0.1, 0.6);
    const expiry = isExtreme ? scaled(1 / 8760, 30) : scaled(0.02, 5);
    const positive = isExtreme ? scaled(1e-4, 0.5) : between(0.001, 0.1);
    const hasTwo = k % 10 === 4 || k % 10 === 7;
    const rate = hasTwo ? -0.3 * positive : positive;
    const free = isExtreme ? between(-0.3, 0.5) : between(-0.02, 0.1);
    const dividendYield = hasTwo ? rate * scaled(1.02, 20) : k % 10 === 0 ? rate : k % 10 === 2 ? 0 : free;
    const spot = Math.exp(between(-2, 2) * sigma * Math.sqrt(expiry));
    return { spot, rate, dividendYield, sigma, expiry, longest: expiry * between(1, 4) };
  });
}

test("the early-exercise premium of Andersen, Lake and Offengenden (2016), table 2", async () => {
  const [american] = await priced([{ spot: 1, rate: 0.05, dividendYield: 0.05, sigma: 0.25, expiry: 1 }], 1e-12);
  // Their premium of 0.106952702747 on a strike of 100, above the European 9.462492…: e^{−0.05}·(2·N(0.125) − 1).
  const european = Math.exp(-0.05) * 0.09947645;
  expect(american.value - european).toBeCloseTo(0.00106952702747, 9);
});

interface QuantLibOption {
  readonly type: "call" | "put";
  readonly spot: number;
  readonly strike: number;
  readonly rate: number;
  readonly yield: number;
  readonly vol: number;
  readonly maturity: number;
  readonly price: number;
  /** The change of the price on a finer scheme of QuantLib. */
  readonly moved: number;
}

// QuantLib prices options with two boundaries by finite differences, to 1e-6 of the spot beside what its meshes move.
test.each([
  ["american-random", 0],
  ["american-negative", 1e-6],
] as const)("estimates cover the distance to QuantLib's %s", async (name, ofSpot) => {
  const cases = (readFixture(`quantlib/${name}.json`) as { cases: readonly QuantLibOption[] }).cases.slice(0, 300);
  // A call is a put with spot and strike, and rate and yield, exchanged (McDonald and Schroder 1998).
  const terms = cases.map((one) => {
    const { type, spot, strike, rate, yield: dividendYield } = one;
    if (type === "put") return { spot, strike, rate, dividendYield };
    return { spot: strike, strike: spot, rate: dividendYield, dividendYield: rate };
  });
  const puts = terms.map(({ spot, strike, ...rates }, i): Put => {
    return { spot: spot / strike, ...rates, sigma: cases[i].vol, expiry: cases[i].maturity };
  });
  for (const accuracy of [1e-4, 1e-6]) {
    const found = await priced(puts, accuracy);
    expect(found.filter(({ estimate }) => estimate < accuracy).length).toBeGreaterThan(0.9 * cases.length);
    const ratios = found.map(({ value, estimate }, i) => {
      const { strike } = terms[i];
      const { price, spot, moved } = cases[i];
      return Math.abs(strike * value - price) / (strike * estimate + moved + ofSpot * spot);
    });
    expect(ratios.filter((ratio) => ratio <= 1).length).toBeGreaterThan(0.98 * ratios.length);
    expect(Math.max(...ratios)).toBeLessThan(3);
  }
});

test.each(["upper", "lower"])("nothing is known of a value whose %s boundary has not converged", async (which) => {
  using own = new IntegralEngine(device);
  const put = { spot: 1.02, rate: -0.03, dividendYield: -0.06, sigma: 0.1, expiry: 1.5 };
  const [known] = await priced([put], 1e-6, own);
  expect(known.estimate).toBeLessThan(1e-6);
  // The boundaries of the engine's only put have the slots 0 and 1.
  const spoiled = which === "upper" ? 0 : 1;
  const hasConverged = BoundaryCache.prototype.hasConverged;
  using _ = vi.spyOn(BoundaryCache.prototype, "hasConverged").mockImplementation(function (
    this: BoundaryCache,
    slot: number,
    scheme: number,
  ) {
    return slot !== spoiled && hasConverged.call(this, slot, scheme);
  });
  const [unknown] = await priced([put], 1e-6, own);
  expect(unknown.estimate).toBe(Number.POSITIVE_INFINITY);
});

test("estimates cover the distance to the finest scheme of 98 % of random options, three times of all", async () => {
  const puts = randomPuts(600, 20_261_124);
  const exact = await priced(puts, 0);
  const known = puts.map((_, i) => exact[i].estimate < 1e-8);
  expect(known.filter(Boolean).length).toBeGreaterThan(0.85 * puts.length);
  for (const accuracy of [1e-4, 1e-6]) {
    const found = await priced(puts, accuracy);
    const ratios = found.flatMap(({ value, estimate }, i) =>
      known[i] ? [Math.abs(value - exact[i].value) / (estimate + 1e-13)] : [],
    );
    expect(ratios.filter((ratio) => ratio <= 1).length).toBeGreaterThan(0.98 * ratios.length);
    expect(Math.max(...ratios)).toBeLessThan(3);
  }
});

test("the estimate of each scheme covers ordinary options whose boundary is made for a longer life", async () => {
  const between = uniforms(7);
  const puts = Array.from({ length: 700 }, (): Put => {
    const sigma = between(0.05, 0.8);
    const expiry = Math.exp(between(Math.log(0.02), Math.log(6)));
    const spot = Math.exp(between(-1.5, 1.5) * sigma * Math.sqrt(expiry));
    const [rate, dividendYield] = [between(0.001, 0.1), between(-0.02, 0.1)];
    return { spot, rate, dividendYield, sigma, expiry, longest: expiry * between(1, 4) };
  });
  // The change of its value between the first two schemes is 45 times smaller than the error of the second.
  puts.push({ spot: 1.25097, rate: 0.037076, dividendYield: 0.062583, sigma: 0.285689, expiry: 2.846575, longest: 4 });
  const values = new PutValues(puts.length);
  const schemes: { readonly value: Float64Array; readonly estimate: Float64Array }[] = [];
  await engine.solve(putsOf(puts), Int32Array.from(puts.keys()), values, (open) => {
    const value = Float64Array.from(puts, (_, i) => values.all[5 * i]);
    schemes.push({ value, estimate: values.estimate.slice() });
    return open;
  });
  const finest = schemes[schemes.length - 1].value;
  expect(schemes.length).toBe(5);
  for (const { value, estimate } of schemes.slice(0, 3)) {
    const ratios = puts.map((_, i) => Math.abs(value[i] - finest[i]) / estimate[i]);
    expect(Math.max(...ratios)).toBeLessThan(1);
  }
});

test("no value leaves its bounds, however extreme the model", async () => {
  const puts = randomPuts(600, 7);
  const values = await priced(puts, 1e-5);
  puts.forEach(({ spot, expiry, rate, dividendYield }, i) => {
    const { value, delta, estimate } = values[i];
    // What no scheme is sure of is left to another method.
    if (!(estimate < 1e-5)) return;
    expect(value).toBeGreaterThan(Math.max(1 - spot, 0) - estimate - 1e-14);
    expect(value).toBeLessThan(Math.max(1, Math.exp(-rate * expiry)) + estimate);
    expect(delta).toBeGreaterThan(-Math.max(1, Math.exp(-dividendYield * expiry)) - 1e-4);
    expect(delta).toBeLessThan(1e-4);
  });
});

describe("derivatives are differences of values", () => {
  const put: Put = { spot: 1.05, rate: 0.06, dividendYield: 0.02, sigma: 0.3, expiry: 1.5, longest: 4 };
  const models: Readonly<Record<string, Partial<Put>>> = {
    "r above q": {},
    "r = q": { rate: 0.04, dividendYield: 0.04 },
    "r below q": { rate: 0.02, dividendYield: 0.07 },
    "a yield below zero": { dividendYield: -0.03 },
    "near the boundary": { spot: 0.82 },
    "two boundaries, above both": { rate: -0.03, dividendYield: -0.06, sigma: 0.1, spot: 1.02 },
    "two boundaries, below both": { rate: -0.03, dividendYield: -0.06, sigma: 0.2, spot: 0.3 },
    "two boundaries that have met": { rate: -0.03, dividendYield: -0.05, sigma: 0.5, spot: 0.7 },
  };
  test.each(Object.entries(models))("%s", async (_, changes) => {
    const one = { ...put, ...changes };
    const h = 1e-4;
    const valueAt = async (moved: Partial<Put>): Promise<number> => (await priced([{ ...one, ...moved }], 0))[0].value;
    const slope = async (up: Partial<Put>, down: Partial<Put>): Promise<number> =>
      ((await valueAt(up)) - (await valueAt(down))) / (2 * h);
    const [byRate] = await priced([one], 0);
    const [byYield] = await priced([{ ...one, by: "yield" }], 0);
    const { spot, sigma, rate, dividendYield } = one;
    expect(byRate.delta).toBeCloseTo(await slope({ spot: spot + h }, { spot: spot - h }), 6);
    expect(byRate.vega).toBeCloseTo(await slope({ sigma: sigma + h }, { sigma: sigma - h }), 6);
    expect(byRate.byOther).toBeCloseTo(await slope({ rate: rate + h }, { rate: rate - h }), 5);
    expect(byYield.byOther).toBeCloseTo(
      await slope({ dividendYield: dividendYield + h }, { dividendYield: dividendYield - h }),
      5,
    );
    const bend = (await valueAt({ spot: spot + h })) - 2 * byRate.value + (await valueAt({ spot: spot - h }));
    expect(Math.abs(byRate.gamma - bend / (h * h))).toBeLessThan(1e-4 * (1 + byRate.gamma));
  });
});

describe("limits", () => {
  const put: Put = { spot: 0.9, rate: 0.05, dividendYield: 0, sigma: 0.2, expiry: 1 };
  test("without interest there is no reason to exercise", async () => {
    const models = [
      { ...put, rate: 0 },
      { ...put, rate: -0.02, dividendYield: 0.01 },
    ];
    const [noInterest, negative] = await priced(models, 1e-12);
    // Black and Scholes: N by an independent program, 12 digits.
    expect(noInterest.value).toBeCloseTo(0.135891081161, 10);
    expect(negative.value).toBeGreaterThan(noInterest.value);
    expect(negative.estimate).toBeLessThan(1e-7);
  });
  test("deep in the money it is exercised", async () => {
    const [deep] = await priced([{ ...put, spot: 0.5 }], 1e-12);
    expect([deep.value, deep.delta, deep.gamma, deep.vega, deep.byOther]).toEqual([0.5, -1, 0, 0, 0]);
  });
  test("between two boundaries it is exercised", async () => {
    // At expiry they are r/q = 0.5 and 1.
    const between = { spot: 0.75, rate: -0.03, dividendYield: -0.06, sigma: 0.1, expiry: 0.5 };
    const [{ value, delta, gamma, vega, byOther }] = await priced([between], 1e-12);
    expect(value).toBeCloseTo(0.25, 14);
    expect([delta, gamma, vega, byOther]).toEqual([-1, 0, 0, 0]);
  });
  test("an hour, thirty years, volatilities of 1 % and of 200 %", async () => {
    const puts = [1 / 8760, 30].flatMap((expiry) => [0.01, 2].map((sigma) => ({ ...put, spot: 1, expiry, sigma })));
    for (const { value, estimate } of await priced(puts, 1e-5)) {
      expect(estimate).toBeLessThan(1e-5);
      expect(value).toBeGreaterThan(0);
      expect(value).toBeLessThan(1);
    }
  });
});

describe("the same on every device", () => {
  const puts = randomPuts(24, 3).filter((_, k) => k % 2 === 0);
  let expected: readonly Priced[];
  beforeAll(async () => {
    expected = await priced(puts, 1e-4);
  });
  const compare = async (other: Device, tolerance: number): Promise<void> => {
    const there = new IntegralEngine(other);
    const found = await priced(puts, 1e-4, there);
    there[Symbol.dispose]();
    expect(other.liveBuffers).toBe(0);
    found.forEach((one, i) =>
      (["value", "delta", "gamma", "vega", "byOther"] as const).forEach((name) =>
        expect(Math.abs(one[name] - expected[i][name])).toBeLessThanOrEqual(
          tolerance * (1 + Math.abs(expected[i][name])),
        ),
      ),
    );
  };
  test("the interpreter, with its checks", () => compare(new InterpreterDevice(), 0));
  test("CUDA", async (context) => {
    const cuda = await openCudaForTests();
    if (cuda === undefined) return context.skip("no NVIDIA GPU here, and no g++ for the emulator");
    using gpu = cuda;
    // Contraction, and sums in another order.
    await compare(gpu, 1e-9);
  });
});

test("estimates cover families, whose schemes some of their puts have found", async () => {
  const between = uniforms(20_261_129);
  const [count, each] = [20, 20];
  const puts = randomPuts(count, 5).flatMap((put) =>
    Array.from({ length: each }, (): Put => {
      const spot = put.spot * (1 + between(-0.06, 0.06));
      const rate = put.rate + between(-0.003, 0.003);
      return { ...put, spot, rate, sigma: put.sigma * (1 + between(-0.15, 0.15)) };
    }),
  );
  const exact = await priced(puts, 1e-9);
  const values = new PutValues(puts.length);
  const families = Array.from({ length: count }, (_, n) => ({
    samples: Int32Array.from({ length: 4 }, (_, k) => n * each + 5 * k),
    others: Int32Array.from({ length: each }, (_, k) => n * each + k).filter((put) => put % 5 !== 0),
  }));
  await engine.solveFamilies(putsOf(puts), families, values, (put) => values.estimate[put] <= 1e-6);
  let [covered, known] = [0, 0];
  puts.forEach((_, put) => {
    if (!(values.estimate[put] < 1e-3 && exact[put].estimate < 1e-8)) return;
    known++;
    const distance = Math.abs(values.all[5 * put] - exact[put].value);
    if (distance <= values.estimate[put] + exact[put].estimate) covered++;
    expect(distance).toBeLessThan(3 * values.estimate[put] + exact[put].estimate);
  });
  expect(known).toBeGreaterThan(0.9 * puts.length);
  expect(covered).toBeGreaterThanOrEqual(0.98 * known);
});

test("boundaries beyond the number that the cache has room for, over several calls", async () => {
  using boundaries = new BoundaryCache(device);
  const some = (from: number, count: number): number[] =>
    Array.from({ length: count }, (_, i) => [0.05, 0.01, 0.2, 1 + (from + i) * 1e-4, 1, 1]).flat();
  const first = boundaries.slotsOf(some(0, 3000));
  expect(new Set(first).size).toBe(3000);
  const { capacity } = boundaries;
  expect(boundaries.slotsOf(some(2000, 1000))).toEqual(Int32Array.from({ length: 1000 }, (_, i) => 2000 + i));
  // So many more do not fit beside them: the cache starts again, and all slots are below its capacity.
  const further = Math.max(capacity - 2999, 1);
  const slots = boundaries.slotsOf(some(3000, further));
  expect(Math.max(...slots)).toBeLessThan(boundaries.capacity);
  expect(new Set(slots).size).toBe(further);
  const read = await device.read(boundaries.model);
  expect(slots.every((slot, i) => read[3 * boundaries.capacity + slot] === 1 + (3000 + i) * 1e-4)).toBe(true);
});
