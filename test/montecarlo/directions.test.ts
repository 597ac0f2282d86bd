/** Derivatives along given directions, copies that share a path, and Heston's variance with one law and at zero. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import {
  asian,
  blackScholes,
  european,
  heston,
  lookback,
  monteCarlo,
  terminalPayoff,
} from "../../src/montecarlo/index.ts";
import { equalDates } from "./support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

const model = blackScholes({ spot: 100, rate: 0.03, yield: 0.01, volatility: 0.25 });
const product = asian({ payoff: "call", strike: 100 });
const dates = equalDates(6, 1);
const common = { device, model, product, dates, paths: 2 ** 12, control: "none" } as const;

test("a direction of one parameter is its sensitivity, and the value keeps its bits", async () => {
  const along = (parameter: string) => ({ model: { [parameter]: 1 }, product: {}, control: {} });
  const directions = { first: along("spot"), second: along("volatility") };
  const [found, known] = [
    await monteCarlo({ ...common, directions }),
    await monteCarlo({ ...common, sensitivities: ["delta", "vega"] }),
  ];
  expect(found.value).toEqual(known.value);
  expect(found.sensitivities["first"]).toEqual(known.sensitivities["delta"]);
  expect(found.sensitivities["second"]).toEqual(known.sensitivities["vega"]);
});

test("later dates are a direction: theta on the same paths", async () => {
  const speed = dates.map(() => -1);
  const direction = { model: {}, product: {}, control: {}, dates: speed };
  const h = 1e-5;
  const moved = (by: number) => ({ model, product, dates: dates.map((t) => t - by) });
  const { sensitivities } = await monteCarlo({
    ...common,
    directions: { theta: direction },
    variants: [moved(h), moved(-h)],
    measures: { difference: [0, 0.5 / h, -0.5 / h] },
  });
  const [theta, difference] = [sensitivities["theta"].value[0], sensitivities["difference"].value[0]];
  expect(Math.abs(theta / difference - 1)).toBeLessThan(1e-4);
});

test.each([{}, { sampling: "sobol", scramblings: 8 }, { antithetic: true }, { precision: "f32" }] as const)(
  "copies that share the path are worth what they are on their own: %o",
  async (how) => {
    const strikes = [90, 110];
    const variants = strikes.map((strike) => ({ model, product: asian({ payoff: "call", strike }) }));
    const measures = Object.fromEntries(strikes.map((strike, k) => [strike, [0, k === 0 ? 1 : 0, k === 1 ? 1 : 0]]));
    const directions = { delta: { model: { spot: 1 }, product: {}, control: {} } };
    const { sensitivities } = await monteCarlo({ ...common, ...how, variants, measures, directions });
    for (const [k, strike] of strikes.entries()) {
      const alone = await monteCarlo({ ...common, ...how, product: variants[k].product });
      expect(sensitivities[strike].value).toEqual(alone.value);
      expect(sensitivities[strike].standardError).toEqual(alone.standardError);
    }
  },
);

test("a copy that differs in what the path reads walks on its own", async () => {
  const at = (extremum: number) => lookback({ payoff: "put", strike: "floating", extremum });
  const { sensitivities } = await monteCarlo({
    ...common,
    product: at(100),
    variants: [{ model, product: at(120) }],
    measures: { other: [0, 1] },
  });
  const alone = await monteCarlo({ ...common, product: at(120) });
  expect(sensitivities["other"].value).toEqual(alone.value);
});

test("directions are refused where derivatives would leave out jumps, or a control's slope is not given", async () => {
  const variance = { model: { v0: 1 }, product: {}, control: {} };
  const switching = heston({ spot: 100, v0: 0.04, kappa: 1, theta: 0.04, sigma: 0.6, rho: -0.5 });
  const directions = { variance };
  await expect(monteCarlo({ ...common, model: switching, directions })).rejects.toThrow(
    'directions.variance: steps of the model "Heston" jump with v0',
  );
  const jumping = terminalPayoff({ payoff: "S1 > 100 ? 1 : 0", assets: 1, isDiscontinuous: true });
  const spot = { model: { spot: 1 }, product: {}, control: {} };
  await expect(monteCarlo({ ...common, product: jumping, directions: { spot } })).rejects.toThrow(
    "expected a product that declares isDiscontinuous: false",
  );
  const control = { name: "strike", product: european({ payoff: "call", strike: 100 }), mean: [10] };
  await expect(monteCarlo({ ...common, control, directions: { spot } })).rejects.toThrow(
    "directions.spot: got no mean",
  );
});

test("Heston's variance has derivatives along paths where its law never changes", async () => {
  const names = ["v0", "kappa", "theta", "sigma", "rho"];
  const settings = { spot: 100, rate: 0.02, v0: 0.04, kappa: 3, theta: 0.06, sigma: 0.4, rho: -0.6 };
  const given = {
    device,
    model: heston(settings),
    product: european({ payoff: "call", strike: 105 }),
    dates: [1],
    substeps: 16,
    paths: 2 ** 15,
    sensitivities: names,
  } as const;
  const [along, bumped] = [await monteCarlo(given), await monteCarlo({ ...given, sensitivityMethod: "bump" })];
  for (const name of names) {
    const [one, other] = [along.sensitivities[name], bumped.sensitivities[name]];
    expect(one.method).toBe("pathwise");
    const errors = Math.hypot(one.standardError[0], other.standardError[0]);
    expect(Math.abs(one.value[0] - other.value[0])).toBeLessThan(errors + 1e-3 * Math.abs(other.value[0]));
  }
  const { sensitivities } = await monteCarlo({ ...given, model: heston({ ...settings, sigma: 0.8 }) });
  expect(sensitivities["v0"].method).toBe("bump");
});

test("a variance of zero is moved to one side", async () => {
  const at = (v0: number) => heston({ spot: 100, v0, kappa: 1, theta: 0.04, sigma: 0.5, rho: 0 });
  const given = {
    device,
    product: european({ payoff: "call", strike: 100 }),
    dates: [1],
    substeps: 16,
    paths: 2 ** 15,
  };
  const { sensitivities, error } = await monteCarlo({ ...given, model: at(0), sensitivities: ["vega"] });
  expect(error[0]).toBeUndefined();
  const h = 2e-3;
  const [low, high] = [await monteCarlo({ ...given, model: at(0) }), await monteCarlo({ ...given, model: at(h) })];
  const slope = (high.value[0] - low.value[0]) / h;
  expect(Math.abs(sensitivities["vega"].value[0] - slope)).toBeLessThan(
    0.05 * slope + 3 * sensitivities["vega"].standardError[0],
  );
});
