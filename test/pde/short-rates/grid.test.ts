/** Finite differences of a short rate: the curve, independent values, orders of convergence, limits, devices. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import type { Device } from "../../../src/device/index.ts";
import { constant, integrate, zeroCurve } from "../../../src/market/index.ts";
import { cirBond } from "../../../src/market/models/index.ts";
import type { ShortRateTrade } from "../../../src/quadrature/rates/index.ts";
import {
  blackKarasinskiOnGrid,
  cirOnGrid,
  GridEngine,
  type ShortRateGridModel,
  hullWhiteOnGrid,
  usersRateOnGrid,
} from "../../../src/pde/short-rates/index.ts";
import { openCudaForTests } from "../../support/cuda.ts";
import { readFixture } from "../../support/fixtures.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

interface Case extends ShortRateTrade {
  readonly a: number;
  readonly curveTimes: readonly number[];
  readonly zeros: readonly number[];
  readonly value: number;
}

function curveOf({ curveTimes, zeros }: Case): Pick<ShortRateGridModel, "logDiscount" | "breaks"> {
  const curve = zeroCurve(curveTimes.map((time, i) => ({ time, zero: zeros[i] })));
  return { logDiscount: (t) => -integrate(curve, t), breaks: curve.times };
}

/** Values by Gauss and Legendre's rule under the measure of the last payment, as in recursion.test.ts. */
const gaussian = (
  readFixture("rates/rights-on-dates.json") as readonly (Case & { volTimes: number[]; vols: number[] })[]
).filter(({ dates }) => dates.every(({ time, settlement }) => settlement === time));
const hullWhite = gaussian.map((one) =>
  hullWhiteOnGrid(one.a, { times: one.volTimes, values: one.vols }, curveOf(one)),
);

/** Values by an independent lattice (test/fixtures/rates/black_karasinski.py). */
const lognormal = readFixture("rates/black-karasinski.json") as readonly (Case & { sigma: number })[];
const blackKarasinski = lognormal.map((one) => blackKarasinskiOnGrid(one.a, constant(one.sigma), curveOf(one)));

async function levels(
  trades: readonly ShortRateTrade[],
  markets: readonly ShortRateGridModel[],
  count: number,
  on: Device = device,
): Promise<readonly Float64Array[]> {
  using engine = new GridEngine(on);
  const instances = trades.map((_, k) => ({ trade: k, market: k }));
  const found: Float64Array[] = [];
  for (let level = 0; level < count; level++) found.push(await engine.values(trades, markets, instances, level));
  return found;
}

/** Richardson's extrapolation of three levels. */
const extrapolated = ([first, second, third]: readonly Float64Array[]): readonly number[] =>
  Array.from(third, (value, k) => (64 * value - 20 * second[k] + first[k]) / 45);

const errorsOf = (values: readonly number[], cases: readonly Case[]): number[] =>
  values.map((value, k) => Math.abs(value - cases[k].value)).toSorted((x, y) => x - y);

describe("finite differences of a short rate", () => {
  test("agree with independent quadrature under Hull and White's model", async () => {
    const errors = errorsOf(extrapolated(await levels(gaussian, hullWhite, 3)), gaussian);
    expect(errors[errors.length >> 1]).toBeLessThan(2e-9);
    expect(errors[errors.length - 1]).toBeLessThan(3e-6);
  });

  test("agree with an independent lattice under Black and Karasinski's model", async () => {
    const errors = errorsOf(extrapolated(await levels(lognormal, blackKarasinski, 3)), lognormal);
    expect(errors[errors.length >> 1]).toBeLessThan(2e-8);
    expect(errors[errors.length - 1]).toBeLessThan(1e-6);
  });

  /** A right that nobody uses leaves the curve to be met through all the steps of the coarsest mesh. */
  test("reprice the curve to 1e-10", async () => {
    const cir = gaussian.map((one) => cirOnGrid({ r0: 0.03, kappa: 0.3, theta: 0.04, sigma: 0.2 }, curveOf(one)));
    for (const [cases, markets] of [
      [gaussian, hullWhite],
      [gaussian, cir],
      [lognormal, blackKarasinski],
    ] as const) {
      const idle = cases.map(({ flows, dates }): ShortRateTrade => {
        return { kind: "bond", flows, dates: dates.map(({ time }) => ({ time, settlement: time, floor: -10 })) };
      });
      const [values] = await levels(idle, markets, 1);
      idle.forEach(({ flows }, k) => {
        const price = flows.reduce((sum, [time, amount]) => sum + amount * Math.exp(markets[k].logDiscount(time)), 0);
        expect(Math.abs(values[k] - price)).toBeLessThan(1e-10);
      });
    }
  });

  /** δ = 4κθ/σ² is 0.2, 0.6, 1.6, 8: the rate reaches 0 in the first three. Values of ten times as many nodes. */
  test("converge to the fourth and sixth order where the rate reaches 0, too", async () => {
    const models = [
      { r0: 0.01, kappa: 0.2, theta: 0.01, sigma: 0.2 },
      { r0: 0.02, kappa: 0.3, theta: 0.03, sigma: 0.25 },
      { r0: 0.0001, kappa: 0.3, theta: 0.03, sigma: 0.15 },
      { r0: 0, kappa: 0.5, theta: 0.04, sigma: 0.1 },
    ];
    const markets = models.map((model) =>
      cirOnGrid(model, { logDiscount: (t) => cirBond({ ...model, years: t }), breaks: [] }),
    );
    const flows = Array.from({ length: 8 }, (_, i) => [1 + 0.5 * (i + 1), i === 7 ? 1.015 : 0.015] as const);
    const trades = models.map((): ShortRateTrade => {
      return { kind: "receiver", flows, dates: [{ time: 1, settlement: 1, floor: 1 }] };
    });
    const found = await levels(trades, markets, 4);
    const fourth = [0, 1].map((l) => Array.from(found[l], (one, k) => (4 * found[l + 1][k] - one) / 3));
    const best = extrapolated(found.slice(1));
    best.forEach((value, k) => {
      const [coarse, fine] = fourth.map((values) => Math.abs(values[k] - value));
      expect(Math.abs(found[0][k] - value)).toBeLessThan(2e-4);
      expect(fine).toBeLessThan(1e-7);
      expect(coarse / fine).toBeGreaterThan(10);
      expect(Math.abs(extrapolated(found)[k] - value)).toBeLessThan(2.5e-8);
    });
  });

  /** r = c − y with Cox, Ingersoll and Ross' y: E[exp(∫y)] = e^(a + b·y₀), b' = 1 − κb + ½σ²b², a' = κθb. */
  test.each([0.02, 0])(
    "are reflected where the volatility vanishes at the highest rate, %f above today's",
    async (y0) => {
      const [kappa, theta, sigma, most, years] = [0.5, 0.02, 0.2, 0.1, 5];
      const market = usersRateOnGrid(
        {
          r0: most - y0,
          drift: `${kappa}*(${most - theta} - r)`,
          volatility: `${sigma}*sqrt(max(${most} - r, 0))`,
          range: [-1, most],
          years: 0,
          shift: 0,
        },
        { logDiscount: () => 0, breaks: [] },
      );
      const trade: ShortRateTrade = {
        kind: "bond",
        flows: [[years, 1]],
        dates: [{ time: 1, settlement: 1, floor: -10 }],
      };
      const [values] = (await levels([trade], [{ ...market, isFitted: false }], 3)).slice(-1);
      const slope = (b: number): number => 1 - kappa * b + 0.5 * sigma * sigma * b * b;
      const h = years / 1000;
      let [a, b] = [0, 0];
      for (let k = 0; k < 1000; k++) {
        const middle = b + 0.5 * h * slope(b);
        a += h * kappa * theta * middle;
        b += h * slope(middle);
      }
      const exact = Math.exp(a + b * y0 - most * years);
      expect(values[0] / exact).toBeCloseTo(1, 4);
    },
  );

  test("without volatility have the best of what is certain", async () => {
    const [{ flows, curveTimes, zeros }] = lognormal;
    const curve = curveOf({ curveTimes, zeros } as Case);
    const markets = [hullWhiteOnGrid(0.1, constant(0), curve), blackKarasinskiOnGrid(0.1, constant(0), curve)];
    const [time] = flows[flows.length >> 1];
    const trade: ShortRateTrade = { kind: "receiver", flows, dates: [{ time, settlement: time, floor: 0.9 }] };
    const later = flows.filter(([paid]) => paid > time);
    const value = later.reduce((sum, [paid, amount]) => sum + amount * Math.exp(curve.logDiscount(paid)), 0);
    const [values] = await levels([trade, trade], markets, 1);
    for (const one of values) expect(one).toBeCloseTo(Math.max(0, value - 0.9 * Math.exp(curve.logDiscount(time))), 9);
  });

  test("are the same on a GPU", async (context) => {
    using cuda = await openCudaForTests();
    if (cuda === undefined) return context.skip("no NVIDIA GPU here, and no g++ for the emulator");
    const [trades, markets] = [lognormal.slice(0, 8), blackKarasinski.slice(0, 8)];
    const [[own], [other]] = [await levels(trades, markets, 1), await levels(trades, markets, 1, cuda)];
    own.forEach((value, k) => expect(other[k]).toBeCloseTo(value, 11));
  });
});
