/**
 * Payoffs given as formulas: those that are no straight lines far out, and those with several kinks that can be
 * exercised early.
 */
import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { reinerRubinstein } from "../market/models/reiner-rubinstein.ts";
import { normalCdf } from "../support/normal.ts";
import { priced, trade } from "./reference.ts";
import { barrier } from "./reference-barriers.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const formula = (expression: string, kinks: readonly number[]) =>
  ({ kind: "expression", expression, kinks: [...kinks] }) as const;

interface Lognormal {
  readonly expiry: number;
  readonly rate: number;
  readonly dividendYield: number;
  readonly volatility: number;
}

/**
 * e^{−rT}·E[S^p; S > K] of a lognormal S that is 100 today: e^{−rT}·F^p·e^{p(p − 1)w/2}·N(d), d = (ln(F/K) + (p −
 * ½)·w)/√w, w = σ²T.
 */
function moment(power: number, strike: number, { expiry, rate, dividendYield, volatility }: Lognormal): number {
  const variance = volatility * volatility * expiry;
  const forward = 100 * Math.exp((rate - dividendYield) * expiry);
  const d = Math.min((Math.log(forward / strike) + (power - 0.5) * variance) / Math.sqrt(variance), 12);
  return Math.exp(-rate * expiry) * forward ** power * Math.exp(0.5 * power * (power - 1) * variance) * normalCdf(d);
}

const usual: Lognormal = { expiry: 1.5, rate: 0.04, dividendYield: 0.01, volatility: 0.35 };
const wild: Lognormal = { expiry: 2, rate: -0.01, dividendYield: 0, volatility: 1 };
const calm: Lognormal = { expiry: 0.3, rate: 0.05, dividendYield: 0, volatility: 0.03 };

const square = (strike: number, model: Lognormal): number =>
  (moment(2, strike, model) - 2 * strike * moment(1, strike, model) + strike ** 2 * moment(0, strike, model)) / strike;

/** Heynen & Kat (1996) call those of a power of the spot's excess powered options. */
const powers: readonly (readonly [
  name: string,
  payoff: ReturnType<typeof formula>,
  model: Lognormal,
  price: number,
])[] = [usual, wild, calm].flatMap((model) => [
  ...[50, 80, 100, 130].map(
    (strike) =>
      [
        `powered, strike ${strike}, σ ${model.volatility}`,
        formula(`max(S - ${strike}, 0)^2/${strike}`, [strike]),
        model,
        square(strike, model),
      ] as const,
  ),
  [`a square, σ ${model.volatility}`, formula("S^2/100", []), model, moment(2, 0, model) / 100] as const,
  [`a reciprocal, σ ${model.volatility}`, formula("10000/S", []), model, 1e4 * moment(-1, 0, model)] as const,
  [
    `a logarithm beside a kink far away, σ ${model.volatility}`,
    formula("100*log(S/100) + max(S - 900, 0)", [900]),
    model,
    100 *
      Math.exp(-model.rate * model.expiry) *
      ((model.rate - model.dividendYield - 0.5 * model.volatility ** 2) * model.expiry) +
      moment(1, 900, model) -
      900 * moment(0, 900, model),
  ] as const,
]);

/** With and without a barrier that is never hit: the meshes are two. */
const far = barrier({ type: "down-and-out", level: 1e-9, to: 1e-3 });

describe.each([1e-5, 1e-7])("payoffs that bend far out, at an accuracy of %f of the spot", (accuracy) => {
  it.each([
    ["", []],
    [", on the mesh of a barrier", [far]],
  ] as const)("have their moments%s", async (_, barriers) => {
    const trades = powers.map(([, payoff, { expiry, rate, dividendYield, volatility }]) =>
      trade({
        payoff,
        expiry,
        barriers,
        volatility: flatVolatility(volatility),
        market: { rates: constant(rate), dividends: dividendSchedule(dividendYield, []) },
      }),
    );
    const got = await priced(trades, { device, accuracy: { relative: accuracy }, greeks: "none" });
    powers.forEach(([name, , , price], i) => {
      const { value, errorEstimate } = got[i];
      const allowed = Math.max(accuracy * 100, errorEstimate);
      expect({ name, within: Math.abs(value - price) <= allowed }).toEqual({ name, within: true });
    });
  });
});

describe.each([1e-5, 1e-7])("an American call spread, at an accuracy of %f of the spot", (accuracy) => {
  const [strike, expiry, rate, volatility] = [100, 0.7, 0.05, 0.3];
  const caps = [103, 110, 125, 141, 170];
  const spots = [80, 95, 100, 102];

  /**
   * Without dividends it is exercised at the cap and nowhere below: a call that is knocked out there, with a rebate.
   * Twice the accuracy, since a cap next to the strike is estimated too low.
   */
  it("is a call that is capped", async () => {
    const trades = caps.flatMap((cap) =>
      spots.map((spot) =>
        trade({
          payoff: formula(`max(S - ${strike}, 0) - max(S - ${cap}, 0)`, [strike, cap]),
          exercise: { kind: "american" },
          expiry,
          volatility: flatVolatility(volatility),
          market: { spot, rates: constant(rate) },
        }),
      ),
    );
    const got = await priced(trades, { device, accuracy: { relative: accuracy }, greeks: "none" });
    caps.forEach((cap, i) =>
      spots.forEach((spot, j) => {
        const { value } = got[i * spots.length + j];
        const exact = reinerRubinstein(
          spot,
          strike,
          cap,
          cap - strike,
          rate,
          0,
          volatility,
          expiry,
          true,
          true,
          true,
          false,
        );
        expect(Math.abs(value - exact), `${cap} ${spot}`).toBeLessThanOrEqual(2 * accuracy * spot);
      }),
    );
  });
});

describe("American digitals", () => {
  const digital = (right: "call" | "put", strike: number, cash: number) =>
    trade({
      payoff: { kind: "digital", right, strike, cash },
      exercise: { kind: "american" },
      market: { rates: constant(0.03) },
    });
  const formulaOf = (right: "call" | "put", strike: number, cash: number) =>
    trade({
      payoff: formula(`S ${right === "call" ? ">" : "<"} ${strike} ? ${cash} : 0`, [strike]),
      exercise: { kind: "american" },
      market: { rates: constant(0.03) },
    });

  it("that cost the holder something are put off, as formulas are", async () => {
    const terms = [
      ["call", 90, -1],
      ["put", 110, -1],
      ["put", 104, -20],
    ] as const;
    const got = await priced(
      [digital, formulaOf].flatMap((made) => terms.map(([right, strike, cash]) => made(right, strike, cash))),
      { device, greeks: "none" },
    );
    terms.forEach(([, , cash], i) => {
      expect(got[i].value).toBeGreaterThan(cash * Math.exp(-0.03));
      expect(Math.abs(got[i].value - got[i + terms.length].value)).toBeLessThan(1e-3);
    });
  });

  it("are as certain next to the strike as anywhere", async () => {
    const near = [99.99, 99.9996, 100.0004, 100.2].map((strike) => digital("call", strike, 37));
    for (const { value, errorEstimate } of await priced(near, { device, greeks: "none" })) {
      expect(Math.abs(value - 37)).toBeLessThan(0.4);
      expect(errorEstimate).toBeLessThan(1e-3);
    }
  });
});
