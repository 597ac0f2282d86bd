/**
 * The affine coordinate against Black's formula on x, the reference cases of three dividend models, and jumps of the
 * spot.
 */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { type AffineCoordinate, affineDividends, type PaidDividend, solve } from "../../../src/pde/fdm/index.ts";
import { hostGpu } from "../../../src/kernel/host-gpu.ts";
import { dealt } from "../../support/extent.ts";
import { readFixture } from "../../support/fixtures.ts";
import { type AnyProblem, orderTable, solveOne } from "./equation/support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

interface ReferenceCase {
  readonly id: string;
  readonly product: string;
  readonly params: Readonly<Record<string, any>>;
  readonly expected: Readonly<Record<string, number>>;
}
const casesOf = (name: string): readonly ReferenceCase[] =>
  (readFixture(`reference/${name}.json`) as { cases: readonly ReferenceCase[] }).cases;
const affine = casesOf("affine-dividends");
const spotModel = casesOf("discrete-dividends").filter(({ params }) => params["dividend_model"] === "spot");

/** Bühler's floor counts dividends after expiry; the escrowed model and the spot's know none. */
function coordinateOf({ params, product }: ReferenceCase): AffineCoordinate {
  const dividends = (params["dividends"] as number[][])
    .map(([time, cash, proportional = 0]): PaidDividend => ({ time, cash, proportional }))
    .filter(({ time }) => product.includes("buehler") || time < params["maturity"]);
  const { spot, rate, dividend_yield: q, repo_or_dividend_yield: repo } = params;
  return affineDividends({ spot, rate, dividendYield: q ?? repo ?? 0, dividends });
}

/** A vanilla option on `n` intervals, n/2 steps: `spot` where its volatility is that of S, or else of x. */
function vanilla(c: ReferenceCase, n: number): AnyProblem {
  const { params } = c;
  const { strike, rate, maturity, option_type: right } = params;
  const sigma: number = params["volatility"] ?? params["volatility_of_X"];
  const x = coordinateOf(c);
  const payoff = right === "put" ? "max(K - S, 0)" : "max(S - K, 0)";
  const isSpot = params["dividend_model"] === "spot";
  const early = c.product.startsWith("american");
  const atZero = right === "put" ? `K*exp(-r*(${maturity} - t))` : "0";
  return {
    axes: {
      x: {
        from: isSpot ? x.lowest : 0,
        to: Math.exp(5 * sigma * Math.sqrt(maturity)),
        nodes: n + 1,
        points: [x.coordinateAt(maturity, "K")],
        width: 0.2,
      },
    },
    parameters: { K: strike, r: rate, sigma },
    expiry: maturity,
    equation: { xx: isSpot ? x.diffusion("sigma") : "0.5*(sigma*x)^2", V: "-r" },
    terminal: x.inSpot(payoff),
    steps: n / 2,
    conditions: [
      ...(isSpot ? x.dates(maturity, atZero, early ? "early" : undefined) : []),
      ...(early ? [{ kind: "exercise", payoff: x.inSpot(payoff) } as const] : []),
    ],
  };
}

describe("forwards and floors", () => {
  test.each(affine.filter(({ expected }) => "forward" in expected))("$id", (c) => {
    const x = coordinateOf(c);
    expect(x.forward(c.params["maturity"])).toBeCloseTo(c.expected["forward"], 11);
    expect(x.floor(c.params["maturity"])).toBeCloseTo(c.expected["dividend_floor"], 11);
  });

  const dividends = [
    { time: 0.75, cash: 3, proportional: 0.02 },
    { time: 0.25, cash: 2 },
    { time: 0.5, proportional: 0.1 },
  ];
  const x = affineDividends({ spot: 100, rate: 0.04, dividendYield: 0.01, dividends });

  test("x is 1 at the forward and 0 at the floor, at all times", () => {
    for (const t of [0, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 1]) {
      expect(x.coordinateAt(t, x.forward(t))).toBeCloseTo(1, 13);
      expect(x.coordinateAt(t, x.floor(t))).toBeCloseTo(0, 13);
      expect(x.spotAt(t, x.coordinateAt(t, 77))).toBeCloseTo(77, 12);
    }
    expect(x.forward(0)).toBeCloseTo(100, 12);
    expect(x.coordinateAt(0, 0)).toBeCloseTo(x.lowest, 14);
  });

  test("on a date the spot falls by the dividend, and x does not", () => {
    for (const { time, cash = 0, proportional = 0 } of dividends)
      for (const at of [0.5, 1, 1.7]) {
        const before = x.spotAt(time * (1 - 1e-12), at);
        expect(x.spotAt(time, at)).toBeCloseTo(before * (1 - proportional) - cash, 8);
      }
  });

  test("what cannot be is refused, with a remedy", () => {
    const of = (dividend: PaidDividend) => () => affineDividends({ spot: 100, rate: 0, dividends: [dividend] });
    expect(of({ time: 1, cash: 100 })).toThrow(/dividends: worth 100 together.*let the spot jump/s);
    expect(of({ time: 0, cash: 1 })).toThrow(/dividends\[0\]: got time 0/);
    expect(of({ time: 1, proportional: 1 })).toThrow(/dividends\[0\].*below 1/);
    expect(of({ time: 1, cash: NaN })).toThrow(/dividends\[0\]/);
    expect(() => affineDividends({ spot: 0, rate: 0, dividends: [] })).toThrow(/spot/);
  });

  test("formulas take S by its name alone", () => {
    const names = affineDividends({ spot: 100, rate: 0, dividends: [] });
    expect(names.inSpot("max(S - S2, 0)*xS + ES + S_ + 2*S")).toBe(
      "max((100*exp(0*t)*max(x + 0, 0)) - S2, 0)*xS + ES + S_ + 2*(100*exp(0*t)*max(x + 0, 0))",
    );
  });
});

/** Prices of 1 in 4,000 (S = 100) at 100 intervals fall by four with each doubling. */
describe("the reference cases, by second order", () => {
  test.each([...affine, ...spotModel])("$id, $product", async (c) => {
    const error = async (n: number): Promise<number> =>
      Math.abs((await solveOne(vanilla(c, n), device)).at(1).value - c.expected["price"]);
    const american = c.product === "american_spot_dividends" && c.params["option_type"] === "put";
    const { errors, order } = await orderTable(c.id, [100, 200, 400], error);
    expect(errors[2]).toBeLessThan(5e-6 * c.params["spot"]);
    // The references of American puts are themselves good to 2e-4.
    if (!american) expect(order).toBeGreaterThan(1.85);
  });
});

describe("many options on one underlying", () => {
  const { normalCdf } = hostGpu;
  const dividends = [0.2, 0.7, 1.2, 1.7].map((time) => ({ time, cash: 1.5, proportional: 0.005 }));
  const [spot, rate, expiry] = [100, 0.04, 2];
  const x = affineDividends({ spot, rate, dividendYield: 0.01, dividends });
  const grid = [0.15, 0.25, 0.4].flatMap((sigma) => [60, 80, 90, 100, 110, 140].map((K) => ({ K, sigma })));
  const parameters = { K: grid.map(({ K }) => K), sigma: grid.map(({ sigma }) => sigma), r: rate };

  /** Black (1976) on x. */
  function black({ K, sigma }: { K: number; sigma: number }): number {
    const k = x.coordinateAt(expiry, K);
    const root = sigma * Math.sqrt(expiry);
    const d = -Math.log(k) / root + 0.5 * root;
    return (x.forward(expiry) - x.floor(expiry)) * Math.exp(-rate * expiry) * (normalCdf(d) - k * normalCdf(d - root));
  }

  const problem = (n: number) =>
    ({
      axes: {
        x: {
          from: "exp(-5*sigma*sqrt(2))",
          to: "exp(5*sigma*sqrt(2))",
          nodes: n + 1,
          coordinate: "log",
          points: [x.coordinateAt(expiry, "K")],
        },
      },
      parameters,
      expiry,
      equation: { xx: "0.5*(sigma*x)^2", V: "-r" },
      terminal: x.inSpot("max(S - K, 0)"),
      steps: n / 2,
    }) as const;

  test("Bühler's model is Black's formula: order two, four by extrapolation", async () => {
    const worstOf = async (more: object, n: number): Promise<number> => {
      const { entries } = await solve({ ...problem(n), ...more }, { device });
      return Math.max(...entries.map((entry, i) => Math.abs(entry.at(1).value - black(grid[i]))));
    };
    const plain = await orderTable("Black on x, 18 options", [100, 200, 400], (n) => worstOf({}, n));
    expect(plain.order).toBeGreaterThan(1.95);
    const further = await orderTable("extrapolated", [100, 200, 400], (n) => worstOf({ extrapolate: "both" }, n));
    expect(further.order).toBeGreaterThan(3.5);
    expect(further.errors[2]).toBeLessThan(1e-6);
  });

  test("delta is V_x over the spot less its dividends", async () => {
    const { entries } = await solve({ ...problem(400), extrapolate: "both" }, { device });
    const bump = 1e-4;
    const moved = (to: number): AffineCoordinate => affineDividends({ spot: to, rate, dividendYield: 0.01, dividends });
    entries.forEach((entry, i) => {
      // The same x(T) of the strike, seen from another spot: by Black's formula with the other scale.
      const of = (to: number): number => {
        const other = moved(to);
        const k = other.coordinateAt(expiry, grid[i].K);
        const root = grid[i].sigma * Math.sqrt(expiry);
        const d = -Math.log(k) / root + 0.5 * root;
        const worth = (other.forward(expiry) - other.floor(expiry)) * Math.exp(-rate * expiry);
        return worth * (normalCdf(d) - k * normalCdf(d - root));
      };
      const delta = (of(spot + bump) - of(spot - bump)) / (2 * bump);
      expect(entry.at(1).first / x.scale).toBeCloseTo(delta, 6);
    });
  });
});

describe("against jumps of the spot", () => {
  const [rate, expiry, strike] = [0.05, 1, 100];

  /** The same option in S, with a jump on each date. */
  const inSpot = (
    volatility: string,
    dividends: readonly PaidDividend[],
    payoff: string,
    early: boolean,
  ): AnyProblem => ({
    axes: { S: { from: 0, to: 500, nodes: 801, points: ["K"], width: 20 } },
    parameters: { K: strike, r: rate },
    expiry,
    equation: { SS: `0.5*((${volatility})*S)^2`, S: "r*S", V: "-r" },
    terminal: payoff,
    steps: 400,
    extrapolate: "space",
    conditions: [
      ...dividends.map(({ time, cash = 0, proportional = 0 }) => ({
        kind: "jump" as const,
        at: [time],
        to: `max(S*${1 - proportional} - ${cash}, 0)`,
      })),
      ...(early ? [{ kind: "exercise", payoff } as const] : []),
    ],
  });

  const inX = (volatility: string, dividends: readonly PaidDividend[], payoff: string, early: boolean): AnyProblem => {
    const x = affineDividends({ spot: 100, rate, dividends });
    return {
      axes: {
        x: {
          from: x.lowest,
          to: x.coordinateAt(0, 500),
          nodes: 801,
          points: [x.coordinateAt(expiry, "K")],
          width: 0.2,
        },
      },
      parameters: { K: strike, r: rate },
      expiry,
      equation: { xx: x.diffusion(volatility), V: "-r" },
      terminal: x.inSpot(payoff),
      steps: 400,
      extrapolate: "space",
      conditions: [
        ...x.dates(expiry, payoff.startsWith("max(K") ? "K*exp(-r*(1 - t))" : "0", early ? "early" : undefined),
        ...(early ? [{ kind: "exercise", payoff: x.inSpot(payoff) } as const] : []),
      ],
    };
  };

  const usual = [
    { time: 0.3, cash: 3, proportional: 0.01 },
    { time: 0.8, cash: 3 },
  ];
  const ways = ["max(K - S, 0)", "max(S - K, 0)"].flatMap((payoff) =>
    [false, true].map((early) => [payoff, early] as const),
  );
  // 60 of 100: one path in five falls to zero or next to it.
  const large = [{ time: 0.5, cash: 60 }];

  test.each([
    ["CEV", "2/sqrt(max(S, 0.0001))", usual],
    ["a skew in S and t", "0.15 + 0.2*exp(-S/80) + 0.05*t", usual],
    ["a large dividend", "0.5", large],
  ] as const)("%s", async (name, volatility, dividends) => {
    // Each way under one of the three.
    for (const [payoff, early] of dealt(ways, ["CEV", "a skew in S and t"].indexOf(name) + 1, 3)) {
      const jumps = (await solveOne(inSpot(volatility, dividends, payoff, early), device)).at(100);
      const none = (await solveOne(inX(volatility, dividends, payoff, early), device)).at(1);
      // Of second order, early exercise included, at 800 intervals and 400 steps.
      expect(Math.abs(none.value - jumps.value), `${none.value} against ${jumps.value}`).toBeLessThan(5e-4);
    }
  });
});
