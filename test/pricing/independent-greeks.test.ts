/**
 * Greeks against differences of values that were got in another way: quadrature about a date, the closed form of CEV,
 * and `solve`, on meshes of its own
 * with exercise by penalties. The sizes are far above the tolerances, so a sign or a factor cannot be wrong.
 */
import { afterAll, describe, expect, it } from "vitest";
import type { Trade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { solve } from "../../src/pde/fdm/index.ts";
import { constant, dividendSchedule, flatVolatility, type Volatility } from "../../src/market/index.ts";
import { aroundKink, blackScholes, cev, expectation } from "../../tools/properties/closed-forms.ts";
import { priced, trade } from "./reference.ts";

const SPOT = 100;
const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

/** What moves a value: spot, volatility and rate by so much, time by so many years. */
interface Move {
  readonly spot: number;
  readonly volatility: number;
  readonly rate: number;
  readonly time: number;
}
const STAY: Move = { spot: 0, volatility: 0, rate: 0, time: 0 };

const GREEKS = ["delta", "gamma", "theta", "vega", "rho"] as const;
type Greeks = Readonly<Record<(typeof GREEKS)[number], number>>;

type ValueAt = (moves: readonly Move[]) => Promise<readonly number[]>;

/** Central differences; `steps` are wide enough for the value's own error. */
async function differences(value: ValueAt, steps: Move): Promise<Greeks> {
  const names = ["spot", "volatility", "rate", "time"] as const;
  const moves = names.flatMap((name) => [1, -1].map((sign) => ({ ...STAY, [name]: sign * steps[name] })));
  const [base, ...moved] = await value([STAY, ...moves]);
  const slope = (k: number): number => (moved[2 * k] - moved[2 * k + 1]) / (2 * steps[names[k]]);
  const gamma = (moved[0] - 2 * base + moved[1]) / steps.spot ** 2;
  return { delta: slope(0), gamma, theta: slope(3), vega: slope(1), rho: slope(2) };
}

/** As far as Greeks of the default accuracy are off, each in its own unit: test/pricing/greeks. */
const TOLERANCE: Greeks = { delta: 1e-4, gamma: 6e-4, theta: 6e-4, vega: 4e-3, rho: 5e-3 };

async function expectGreeks(one: Trade, expected: Greeks): Promise<void> {
  const [got] = await priced([one], { device, method: "fdm" });
  const root = Math.sqrt(one.expiry);
  const unit: Greeks = {
    delta: 1,
    gamma: 5 / (SPOT * root),
    theta: (0.2 * SPOT) / root,
    vega: SPOT * root,
    rho: SPOT * one.expiry,
  };
  for (const name of GREEKS) {
    const tolerance = TOLERANCE[name] * unit[name];
    const [value, other] = [got[name] as number, expected[name]];
    expect({ name, value, other, fine: Math.abs(value - other) <= tolerance }).toMatchObject({ fine: true });
    expect({ name, other, told: Math.abs(other) > 3 * tolerance }).toMatchObject({ told: true });
  }
}

const EXACT_STEPS: Move = { spot: 0.05, volatility: 1e-4, rate: 1e-4, time: 1e-4 };

/**
 * One date before expiry, on which dividends are paid and the holder may exercise: the value just after is Black and
 * Scholes'.
 */
interface OneDate {
  readonly right: "call" | "put";
  readonly strike: number;
  readonly rate: number;
  readonly yield: number;
  readonly volatility: number;
  readonly date: number;
  readonly expiry: number;
  readonly cash: number;
  readonly proportional: number;
  /** Whether the trade has them as two dividends. */
  readonly apart?: boolean;
  readonly exercised: boolean;
}

function byQuadrature(one: OneDate, { spot, volatility, rate, time }: Move): number {
  const { right, strike, cash, proportional, exercised } = one;
  const model = { spot: SPOT + spot, rate: one.rate + rate, yield: one.yield, volatility: one.volatility + volatility };
  const after = { ...model, expiry: one.expiry - one.date };
  const intrinsic = (s: number): number => Math.max(right === "call" ? s - strike : strike - s, 0);
  const kept = (s: number): number =>
    s > 0 ? blackScholes({ ...after, spot: s }, right, strike) : intrinsic(0) * Math.exp(-after.rate * after.expiry);
  const onDate = (before: number): number => {
    const s = Math.max(before * (1 - proportional) - cash, 0);
    return exercised ? Math.max(kept(s), intrinsic(s)) : kept(s);
  };
  const boundary = exercised ? [exerciseBoundary((s) => kept(s) - intrinsic(s), strike, right)] : [];
  const breaks = [0, ...aroundKink(strike, after.volatility * Math.sqrt(after.expiry)), ...boundary];
  const before = breaks.map((s) => (s + cash) / (1 - proportional));
  return expectation({ ...model, expiry: one.date - time }, onDate, before);
}

function exerciseBoundary(excess: (s: number) => number, strike: number, right: "call" | "put"): number {
  let [alive, exercised] = right === "call" ? [strike, 20 * strike] : [strike, 1e-3 * strike];
  for (let k = 0; k < 60; k++) {
    const middle = 0.5 * (alive + exercised);
    if (excess(middle) > 0) alive = middle;
    else exercised = middle;
  }
  return alive;
}

const tradeOf = ({ right, strike, rate, date, expiry, volatility, ...one }: OneDate): Trade =>
  trade({
    payoff: { kind: "vanilla", right, strike },
    expiry,
    volatility: flatVolatility(volatility),
    ...(one.exercised ? { exercise: { kind: "bermudan", times: [date] } } : {}),
    market: {
      rates: constant(rate),
      dividends: dividendSchedule(one.yield, paidOn(date, one)),
    },
  });

/**
 * As one dividend, or as two that have something of both forms: those of a date add up, and are of the spot before
 * either.
 */
function paidOn(time: number, { cash, proportional, apart = false }: Pick<OneDate, "cash" | "proportional" | "apart">) {
  if (!apart) return [{ time, cash, proportional }];
  return [
    { time, cash: 0.25 * cash, proportional: 0.75 * proportional },
    { time, cash: 0.75 * cash, proportional: 0.25 * proportional },
  ];
}

const usual: OneDate = {
  right: "put",
  strike: 105,
  rate: 0.06,
  yield: 0.01,
  volatility: 0.25,
  date: 0.4,
  expiry: 1,
  cash: 0,
  proportional: 0,
  exercised: false,
};

describe("Greeks are differences of a quadrature", () => {
  it.each<[string, OneDate]>([
    ["a Bermudan put", { ...usual, exercised: true }],
    ["a Bermudan call", { ...usual, right: "call", rate: 0.03, yield: 0.09, exercised: true }],
    ["a Bermudan put on a dividend's day", { ...usual, cash: 3, exercised: true }],
    ["a European call, a cash dividend", { ...usual, right: "call", cash: 6 }],
    ["a European put, a proportional dividend", { ...usual, proportional: 0.05 }],
    ["a European put, both on one day", { ...usual, cash: 5, proportional: 0.08 }],
    ["a European call, both on one day", { ...usual, right: "call", strike: 80, cash: 12, proportional: 0.1 }],
    ["a European put, two dividends on one day", { ...usual, cash: 5, proportional: 0.08, apart: true }],
    [
      "a Bermudan put, two dividends on one day",
      { ...usual, cash: 5, proportional: 0.08, apart: true, exercised: true },
    ],
  ])("%s", async (_, one) => {
    const value: ValueAt = async (moves) => moves.map((move) => byQuadrature(one, move));
    const [got] = await priced([tradeOf(one)], { device, method: "fdm" });
    expect(Math.abs(got.value - byQuadrature(one, STAY))).toBeLessThan(1e-5 * SPOT);
    await expectGreeks(tradeOf(one), await differences(value, EXACT_STEPS));
  });
});

describe("Greeks under CEV are differences of the closed form", () => {
  const beta = 0.4;
  const sigma = 0.3 * SPOT ** (1 - beta);

  it.each(["call", "put"] as const)("a European %s", async (right) => {
    const [strike, rate, expiry] = [95, 0.04, 0.8];
    const one = trade({
      payoff: { kind: "vanilla", right, strike },
      expiry,
      volatility: { kind: "cev", sigma, beta },
      market: { rates: constant(rate), dividends: dividendSchedule(0.01, []) },
    });
    // Vega is of a parallel move of σ(S), which leaves CEV: that one from `solve`.
    const { vega } = await differences(bySolution({ ...localTrade, right, strike, rate, expiry }), SOLVED_STEPS);
    const value: ValueAt = async (moves) =>
      moves.map((move) =>
        cev(
          { spot: SPOT + move.spot, rate: rate + move.rate, yield: 0.01, expiry: expiry - move.time },
          sigma,
          beta,
          right === "call",
          strike,
        ),
      );
    await expectGreeks(one, { ...(await differences(value, EXACT_STEPS)), vega });
  });
});

/** A trade for `solve`: local volatility as a formula of S and t. */
interface LocalTrade {
  readonly right: "call" | "put";
  readonly strike: number;
  readonly rate: number;
  readonly yield: number;
  readonly expiry: number;
  readonly sigma: string;
  readonly cash: readonly (readonly [date: number, amount: number])[];
  readonly exercise: "european" | "american" | readonly number[];
}

const localTrade: LocalTrade = {
  right: "put",
  strike: 100,
  rate: 0.05,
  yield: 0.01,
  expiry: 1,
  sigma: "0.3*(max(S, 1e-6)/100)^(-0.6)",
  cash: [],
  exercise: "european",
};

const SOLVED_STEPS: Move = { spot: 1, volatility: 0.004, rate: 0.002, time: 0.004 };

/** Every move is an entry of one batch, on one mesh, so that its error cancels in differences. */
function bySolution(one: LocalTrade): ValueAt {
  const payoff = one.right === "call" ? "max(S - K, 0)" : "max(K - S, 0)";
  const sigma = one.sigma.replaceAll(/\bt\b/g, "(t + time)");
  const dates = typeof one.exercise === "object" ? { at: one.exercise.map((date) => `${date} - time`) } : {};
  const jumps = one.cash.map(([date, amount]) => ({
    kind: "jump" as const,
    at: [`${date} - time`],
    to: `max(S - ${amount}, 0)`,
  }));
  const exercise = one.exercise === "european" ? [] : [{ kind: "exercise" as const, payoff, ...dates }];
  return async (moves) => {
    const problem = {
      axes: { S: { from: 0, to: 600, nodes: 1201, points: ["K"] } },
      parameters: {
        K: one.strike,
        r: moves.map(({ rate }) => one.rate + rate),
        q: one.yield,
        more: moves.map(({ volatility }) => volatility),
        time: moves.map(({ time }) => time),
      },
      equation: { SS: `0.5*(${sigma} + more)^2*S^2`, S: "(r - q)*S", V: "-r" },
      terminal: payoff,
      expiry: `${one.expiry} - time`,
      steps: 400,
      scheme: { kind: "tr-bdf2" },
      conditions: [...jumps, ...exercise],
    } as const;
    const { entries } = await solve(problem, { device });
    return entries.map((entry, i) => entry.at(SPOT + moves[i].spot).value);
  };
}

const skewed: Volatility = { kind: "cev", sigma: 0.3 * 100 ** 0.6, beta: 0.4 };

describe("Greeks are differences of a solution by `solve`", () => {
  it.each<[string, Partial<LocalTrade>, Volatility]>([
    ["an American put, local volatility", { exercise: "american" }, skewed],
    ["a Bermudan put, local volatility", { exercise: [0.25, 0.5, 0.75] }, skewed],
    [
      "an American call, a volatility of S and t",
      { right: "call", rate: 0.02, yield: 0.07, exercise: "american", sigma: "0.2 + 0.1*t + 0.1*exp(-S/100)" },
      { kind: "local", expression: "0.2 + 0.1*t + 0.1*exp(-S/100)" },
    ],
    [
      "an American put, two cash dividends",
      {
        exercise: "american",
        sigma: "0.25",
        cash: [
          [0.3, 2],
          [0.8, 3],
        ],
      },
      flatVolatility(0.25),
    ],
    [
      "an American call, two cash dividends",
      {
        right: "call",
        exercise: "american",
        sigma: "0.25",
        yield: 0,
        cash: [
          [0.3, 4],
          [0.8, 5],
        ],
      },
      flatVolatility(0.25),
    ],
    ["a Bermudan put, local volatility, a cash dividend", { exercise: [0.25, 0.5, 0.75], cash: [[0.6, 4]] }, skewed],
  ])("%s", async (_, parts, volatility) => {
    const one = { ...localTrade, ...parts };
    const { right, strike, expiry, exercise } = one;
    const discrete = one.cash.map(([time, cash]) => ({ time, cash, proportional: 0 }));
    const priceable = trade({
      payoff: { kind: "vanilla", right, strike },
      expiry,
      exercise: typeof exercise === "object" ? { kind: "bermudan", times: exercise } : { kind: exercise },
      volatility,
      market: { rates: constant(one.rate), dividends: dividendSchedule(one.yield, discrete) },
    });
    await expectGreeks(priceable, await differences(bySolution(one), SOLVED_STEPS));
  });
});
