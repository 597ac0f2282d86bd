/**
 * Models of the short rate, as a user would write them: the coordinate is a rate, and may be negative. Against closed
 * forms.
 */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { readFixture } from "../../../support/fixtures.ts";
import { type AnyProblem, orderTable, solveOne } from "./support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

interface RateCase {
  readonly id: string;
  readonly product: string;
  readonly params: {
    readonly r0: number;
    readonly mean_reversion: number;
    readonly long_rate: number;
    readonly volatility: number;
    readonly option_expiry: number;
    readonly bond_maturity: number;
    readonly option_type: "put" | "call";
    readonly strike: number;
    readonly kind: "payer" | "receiver";
    readonly flat_rate: number;
    readonly exercise_times: readonly number[];
    readonly last_payment: number;
    readonly fixed_rate: number;
  };
  readonly expected: {
    readonly bond_T: number;
    readonly bond_S: number;
    readonly option: number;
    readonly price: number;
  };
}
const casesOf = (product: RegExp): readonly RateCase[] =>
  (readFixture("reference/short-rate.json") as { cases: readonly RateCase[] }).cases.filter((c) =>
    product.test(c.product),
  );

/** dr = kappa(theta − r)dt + sigma·r^beta dW: Vasicek for beta = 0, Cox, Ingersoll and Ross for ½. */
function bond({ params, product }: RateCase, n: number, expiry: number): AnyProblem {
  const cir = product.startsWith("cir");
  const { mean_reversion: kappa, long_rate: theta, volatility: sigma, r0 } = params;
  return {
    axes: { r: { from: cir ? 0 : -0.15, to: cir ? 1 : 0.25, nodes: n + 1, points: [r0], width: 0.05 } },
    parameters: { kappa, theta, sigma },
    equation: cir
      ? ({ r, kappa, theta, sigma }) => ({ rr: 0.5 * sigma * sigma * r, r: kappa * (theta - r), V: -r })
      : ({ r, kappa, theta, sigma }) => ({ rr: 0.5 * sigma * sigma, r: kappa * (theta - r), V: -r }),
    terminal: 1,
    expiry,
    steps: n / 4,
  };
}

describe("zero bonds in Vasicek's and in Cox, Ingersoll and Ross' model", () => {
  test.each(casesOf(/bond_and_option/))("$id: order two", async (c) => {
    const { option_expiry, bond_maturity, r0 } = c.params;
    for (const [expiry, exact] of [
      [option_expiry, c.expected.bond_T],
      [bond_maturity, c.expected.bond_S],
    ] as const) {
      const { order, errors } = await orderTable(`${c.id}, bond of ${expiry} years`, [100, 200, 400], async (n) =>
        Math.abs((await solveOne(bond(c, n, expiry), device)).at(r0).value - exact),
      );
      expect(order).toBeGreaterThanOrEqual(1.9);
      expect(errors[2]).toBeLessThan(1e-5);
    }
  });

  test.each(casesOf(/bond_and_option/))("$id: an option on the bond, whose solution is its payoff", async (c) => {
    const { option_expiry, bond_maturity, r0, strike, option_type } = c.params;
    const sign = option_type === "call" ? 1 : -1;
    // The bond of maturity S at the option's expiry is exp(A − B·r): two of its values give A and B, exactly enough.
    const zero = await solveOne({ ...bond(c, 800, bond_maturity - option_expiry), extrapolate: "both" }, device);
    const [low, high] = [0.02, 0.08].map((r) => Math.log(zero.at(r).value));
    const B = (low - high) / 0.06;
    const A = low + B * 0.02;
    const problem = bond(c, 800, option_expiry);
    const kink = (A - Math.log(strike)) / B;
    const axis = problem.axes["r"];
    const { value } = (
      await solveOne(
        {
          ...problem,
          axes: { r: { ...axis, points: [r0, { at: "kink" }] } },
          parameters: { ...problem.parameters, A, B, strike, sign, kink },
          terminal: "max(sign*(exp(A - B*r) - strike), 0)",
        },
        device,
      )
    ).at(r0);
    console.log(`${c.id}: option ${value.toFixed(8)}, ${(value - c.expected.option).toExponential(1)} off`);
    expect(Math.abs(value - c.expected.option)).toBeLessThan(2e-6);
  });
});

describe("Bermudan swaptions in Hull and White's model", () => {
  test.each(casesOf(/bermudan_swaption/))("$id", async (c) => {
    const {
      kind,
      flat_rate: f,
      mean_reversion: a,
      volatility: sigma,
      exercise_times: at,
      last_payment: last,
      fixed_rate,
    } = c.params;
    // r = x + φ(t), dx = −a·x dt + σ dW (Brigo & Mercurio 2006, 3.3), and the swap from t on by the model's bond
    // prices.
    const problem: AnyProblem = {
      axes: {
        x: { from: "-8*sigma*sqrt(T)", to: "8*sigma*sqrt(T)", nodes: 801, points: [0], width: "2*sigma*sqrt(T)" },
      },
      parameters: { f, a, sigma, last, c: fixed_rate, sign: kind === "payer" ? 1 : -1, T: at[at.length - 1] },
      expiry: "T",
      equation: ({ t, x, f, a, sigma }) => ({
        xx: 0.5 * sigma * sigma,
        x: -a * x,
        V: -(x + f + 0.5 * ((sigma / a) * (1 - Math.exp(-a * t))) ** 2),
      }),
      terminal: 0,
      conditions: [
        {
          kind: "exercise",
          at,
          payoff: ({ t, x, f, a, sigma, last, c, sign }) => {
            let swap = 1.0;
            for (let date = t + 1; date < last + 0.5; date++) {
              const B = (1 - Math.exp(-a * (date - t))) / a;
              const variance = ((sigma * sigma) / (4 * a)) * (1 - Math.exp(-2 * a * t)) * B * B;
              const mean = 0.5 * (sigma * sigma) * ((1 - Math.exp(-a * t)) / a) ** 2 * B;
              const bond = Math.exp(-f * (date - t) - variance - mean - B * x);
              swap -= c * bond;
              if (date > last - 0.5) swap -= bond;
            }
            return Math.max(sign * swap, 0);
          },
        },
      ],
      steps: 800,
    };
    const { value } = (await solveOne(problem, device)).at(0);
    console.log(`${c.id}: ${value.toFixed(8)}, ${(value - c.expected.price).toExponential(1)} off`);
    expect(Math.abs(value - c.expected.price)).toBeLessThan(2e-6);
  });
});
