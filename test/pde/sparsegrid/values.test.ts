/** Values against closed forms, published tables and `solve`. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { solve } from "../../../src/pde/fdm/index.ts";
import { solveOnSparseGrid } from "../../../src/pde/sparsegrid/index.ts";
import { type CombinedGrid, SparseEntrySolution } from "../../../src/pde/sparsegrid/solution.ts";
import { type Assets, axesNamed, bestOf, casesOf, nested, priced } from "./support.ts";
import { dealt, everything } from "../../support/extent.ts";

const device = createCpuDevice({ threads: 2, share: "always" });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

describe("the technique as published", () => {
  const cases = casesOf("sparse-combination").filter(({ product }) => product === "combination_value");
  const zero = { kind: "dirichlet", value: 0 } as const;
  test.each(cases)("$id: values by level, 5,000 steps of implicit Euler", async ({ params, expected, tolerance }) => {
    const d: number = params["d"];
    const assets = { ...bestOf(d), ends: axesNamed(d).map(() => [0, 200] as const) };
    const printed = expected["backward_euler_5000"] as Readonly<Record<string, number>>;
    // The finest levels of three and four axes take seconds; the benchmark and `reproduce` have them.
    for (const level of [6, 7, ...(d === 2 ? [8, 9, ...(everything ? [10] : [])] : [])]) {
      const { point, entry } = await priced(
        assets,
        {
          axis: { coordinate: "linear", density: "uniform", initialLevel: 1 },
          boundaries: Object.fromEntries(axesNamed(d).map((name) => [name, { low: zero, high: zero }])),
          scheme: { kind: "implicit-euler" },
          steps: 5000,
          averaging: false,
          level: level - d,
          solver: { tolerance: { relative: 1e-10 }, method: level === 6 ? "cgs" : "bicgstab" },
        },
        device,
      );
      expect(Math.abs(point.value - printed[level])).toBeLessThan(tolerance.abs + tolerance.rel * printed[level]);
      for (const { levels, unknowns } of entry.grids)
        expect(unknowns).toBe(levels.reduce((product, one) => product * (2 ** one - 1), 1));
    }
  });
});

describe("options on several assets", () => {
  const exact = casesOf("bestof-barrier").filter(({ product }) => product === "up_out_best_of_call");
  const independent = exact.filter(({ id }) => id < "BOB-O-07");
  // Of one to six assets; test/montecarlo/reference has all of them.
  test.each(dealt(independent, 0, 3))("$id: best-of barrier options within 1e-3", async ({ params, expected }) => {
    const d = (params["spots"] as readonly number[]).length;
    const level = [0, 4, 4, 4, 4, 3, 2][d];
    const { point } = await priced(bestOf(d), { level, axis: { width: 0.22 }, errorEstimate: d < 5 }, device);
    const error = Math.abs(point.value - expected["price"]);
    expect(error / expected["price"]).toBeLessThan(1e-3);
    if (d < 5) expect(error).toBeLessThan(point.errorEstimate!);
    // All assets are equal; the points of a cell over which terminal values are averaged are not symmetric in them.
    const deltas = Object.values(point.first);
    for (const delta of deltas) expect(Math.abs(delta - deltas[0])).toBeLessThan(5e-4);
  });

  test("other spots, volatilities and yields", async () => {
    const { params, expected } = exact.find(({ id }) => id === "BOB-O-07")!;
    const assets: Assets = {
      spots: params["spots"],
      volatilities: params["volatilities"],
      yields: params["dividend_yields"],
      rate: params["rate"],
      maturity: params["maturity"],
      terminal: "max(max(A,max(B,C))-100,0)",
      ends: [
        [45, 160],
        [50, 160],
        [40, 160],
      ],
      knockedOut: true,
    };
    const { point } = await priced(assets, { level: 6, errorEstimate: true }, device);
    expect(Math.abs(point.value / expected["price"] - 1)).toBeLessThan(1e-3);
    expect(Math.abs(point.value - expected["price"])).toBeLessThan(point.errorEstimate!);
  });

  test("puts, and correlated assets with barriers by a mixed derivative", async () => {
    const put = casesOf("bestof-barrier").find(({ id }) => id === "BOB-O-08")!;
    const assets = {
      ...bestOf(3),
      volatilities: [0.3, 0.3, 0.3],
      rate: 0.02,
      terminal: `max(120-${nested("max", axesNamed(3))},0)`,
      ends: axesNamed(3).map(() => [25, 180] as const),
    };
    const { point } = await priced(assets, { level: 5 }, device);
    expect(Math.abs(point.value / put.expected["price"] - 1)).toBeLessThan(1e-3);
    const correlated = casesOf("bestof-barrier").find(({ id }) => id === "BOB-O-13")!;
    const rho = [
      [1, 0.5],
      [0.5, 1],
    ];
    const { point: two } = await priced({ ...bestOf(2), correlations: rho }, { level: 6 }, device);
    expect(Math.abs(two.value / correlated.expected["price"] - 1)).toBeLessThan(1e-3);
  });

  test("a basket of four correlated assets", async () => {
    const { params, expected } = casesOf("multi-asset-european").find(({ id }) => id === "MUL-O-22")!;
    const deviation = 0.4 * Math.sqrt(5);
    const basket: Assets = {
      spots: params["spots"],
      volatilities: params["volatilities"],
      rate: 0,
      maturity: 5,
      correlations: params["correlation_matrix"],
      terminal: "max((A+B+C+D)/4-100,0)",
      ends: axesNamed(4).map(() => [100 * Math.exp(-4.5 * deviation), 100 * Math.exp(4 * deviation)] as const),
    };
    const { point } = await priced(basket, { level: 3, axis: { width: deviation }, errorEstimate: true }, device);
    const error = Math.abs(point.value - expected["price"]);
    expect(error).toBeLessThan(point.errorEstimate!);
    expect(error / expected["price"]).toBeLessThan(1e-2);
  });

  test("discrete monitoring, and a window that comes to an end", async () => {
    const { params, expected } = casesOf("bestof-barrier").find(({ id }) => id === "BOB-O-09")!;
    const n: number = params["n_monitoring"];
    const dates = Array.from({ length: n }, (_, k) => (k + 1) / n);
    const conditions = [
      { kind: "knock-out", above: 200, at: dates, axis: "A" } as const,
      { kind: "knock-out", above: 200, at: dates, axis: "B" } as const,
    ];
    const assets = { ...bestOf(2), knockedOut: false, ends: axesNamed(2).map(() => [45, 260] as const) };
    const { point } = await priced(assets, { level: 7, conditions, steps: 250 }, device);
    // The barrier lies between nodes, so that its place is off by a part of a cell.
    expect(Math.abs(point.value / expected["price"] - 1)).toBeLessThan(4e-3);
  });
});

describe("against solve", () => {
  test("on one axis the combination is one grid, the full one", async () => {
    const shared = {
      parameters: { K: 100, r: 0.03, sigma: [0.2, 0.3] },
      equation: { SS: "0.5*sigma^2*S^2", S: "r*S", V: "-r" },
      terminal: "max(K-S,0)",
      expiry: 1,
      steps: 100,
    } as const;
    const { entries } = await solveOnSparseGrid(
      { ...shared, axes: { S: { from: 0, to: 400, points: ["K"], width: 20, initialLevel: 8 } }, level: 0 },
      { device },
    );
    const full = await solve({ ...shared, axes: { S: { from: 0, to: 400, points: ["K"], nodes: 401 } } }, { device });
    for (const [k, entry] of entries.entries())
      for (const S of [80, 100, 120]) {
        expect(Math.abs(entry.at({ S }).value - full.entries[k].at(S).value)).toBeLessThan(2e-3);
        expect(Math.abs(entry.at({ S }).first.S - full.entries[k].at(S).first)).toBeLessThan(2e-4);
      }
  });

  test.each([[{ kind: "crank-nicolson" }], [{ kind: "tr-bdf2" }]] as const)(
    "Heston's model on two axes, %j",
    async (scheme) => {
      const shared = {
        parameters: { K: 100, r: 0.025, kappa: 1.5, eta: 0.04, xi: 0.3, rho: -0.5 },
        equation: {
          SS: "0.5*v*S^2",
          Sv: "rho*xi*v*S",
          vv: "0.5*xi^2*v",
          S: "r*S",
          v: "kappa*(eta-v)",
          V: "-r",
        },
        terminal: "max(K-S,0)",
        expiry: 1,
      } as const;
      const { entries } = await solveOnSparseGrid(
        {
          ...shared,
          axes: {
            S: { from: 30, to: 300, coordinate: "log", points: ["K"], initialLevel: 4 },
            v: { from: 0, to: 0.5, points: [0.04], width: 0.08, initialLevel: 3 },
          },
          level: 4,
          scheme,
          errorEstimate: true,
        },
        { device },
      );
      const full = await solve(
        {
          ...shared,
          axes: {
            S: { from: 30, to: 300, coordinate: "log", points: ["K"], nodes: 201 },
            v: { from: 0, to: 0.5, points: [{ at: 0.04, align: "none" }], width: 0.08, nodes: 81 },
          },
        },
        { device },
      );
      const here = entries[0].at({ S: 100, v: 0.04 });
      const there = full.entries[0].at({ S: 100, v: 0.04 });
      expect(Math.abs(here.value - there.value)).toBeLessThan(1e-3 + here.errorEstimate!);
      expect(Math.abs(here.first.S - there.first.S)).toBeLessThan(1e-3);
      expect(Math.abs(here.second.SS - there.second.SS)).toBeLessThan(1e-3);
    },
  );

  test("an American put, a Bermudan one, and a window", async () => {
    const shared = {
      equation: { SS: "0.02*S^2", S: "0.05*S", V: -0.05 },
      terminal: "max(100-S,0)",
      expiry: 1,
      steps: 200,
    } as const;
    // 80 and 100 are nodes of both: they are 64·1.25 and 64·1.25², of 64 … 64·1.25⁴.
    const axis = { from: 64, to: 156.25, coordinate: "log", density: "uniform" } as const;
    const sparseAxes = { S: { ...axis, points: [100], initialLevel: 8 } } as const;
    const fullAxes = { S: { ...axis, nodes: 257 } } as const;
    for (const [condition, tolerance] of [
      // At all times of the grid only, which is of first order; `solve` has it at all times.
      [{ kind: "exercise", payoff: "100-S" }, 5e-3],
      [{ kind: "exercise", payoff: "100-S", at: [0.25, 0.5, 0.75] }, 1e-3],
      [{ kind: "knock-out", below: 80, value: 1, from: 0.2, until: 0.6 }, 1e-3],
    ] as const) {
      const conditions = [condition];
      const { entries } = await solveOnSparseGrid({ ...shared, axes: sparseAxes, conditions, level: 0 }, { device });
      const full = await solve({ ...shared, axes: fullAxes, conditions }, { device });
      const exact = full.entries[0].at(100).value;
      expect(Math.abs(entries[0].at({ S: 100 }).value - exact)).toBeLessThan(tolerance);
    }
  });

  test.each([
    ["Dirichlet ends and a mixed derivative", "x^2+2*x*y+y", "exp(-t)*(1+3*y)", undefined, 4],
    ["a Neumann end", "x^2+3*x+y^2", undefined, "exp(-t)*5", 4],
  ] as const)("%s, in time, are exact for quadratics", async (_, at, high, slope, sum) => {
    // V = e^(−t)·q(x, y) solves V_t + V_xx + V_yy + V_xy + source = 0; q_xx + q_yy + q_xy = 4.
    const q = (x: string | number, y: string | number): string =>
      at.replaceAll("x", `(${x})`).replaceAll("y", `(${y})`);
    const exact = (x: number, y: number): number =>
      slope === undefined ? x * x + 2 * x * y + y : x * x + 3 * x + y * y;
    const dirichlet = (value: string) => ({ kind: "dirichlet", value }) as const;
    const { entries } = await solveOnSparseGrid(
      {
        axes: { x: { from: 0, to: 1 }, y: { from: 0, to: 2 } },
        equation: { xx: 1, xy: 1, yy: 1, source: `exp(-t)*(${at}) - ${sum}*exp(-t)` },
        terminal: `exp(-t)*(${at})`,
        averaging: false,
        expiry: 1,
        boundaries: {
          x: {
            low: dirichlet(`exp(-t)*(${q(0, "y")})`),
            high: slope === undefined ? dirichlet(high) : { kind: "neumann", slope },
          },
          y: { low: dirichlet(`exp(-t)*(${q("x", 0)})`), high: dirichlet(`exp(-t)*(${q("x", 2)})`) },
        },
        level: 3,
        steps: 160,
      },
      { device },
    );
    for (const [x, y] of [
      [0.5, 1],
      [0.3, 0.7],
      [0.9, 1.9],
    ])
      expect(Math.abs(entries[0].at({ x, y }).value - exact(x, y))).toBeLessThan(1e-4);
  });
});

describe("convergence by level", () => {
  const errors = async (terminal: string, exact: number, settings: object): Promise<number[]> => {
    const assets = { ...bestOf(2), terminal, knockedOut: false, ends: axesNamed(2).map(() => [40, 250] as const) };
    const all: number[] = [];
    for (const level of [1, 3, 5]) {
      const { point } = await priced(assets, { level, steps: 100, ...settings }, device);
      all.push(Math.abs(point.value - exact));
    }
    return all;
  };

  test("a smooth payoff: of second order, and of a higher one when extrapolated", async () => {
    // E[A·B] of independent lognormal assets, discounted once.
    const exact = 10000 * Math.exp(0.03);
    const plain = await errors("A*B", exact, { averaging: false });
    expect(plain[0] / plain[1]).toBeGreaterThan(6);
    expect(plain[1] / plain[2]).toBeGreaterThan(6);
    const more = await errors("A*B", exact, { averaging: false, extrapolate: "space" });
    // What is left of 1e-6 of the value is due to the ends.
    expect(more[0]).toBeLessThan(plain[1] / 4);
    expect(more[1] / exact).toBeLessThan(2e-6);
  });

  test("a kinked payoff: averaged of second order, otherwise not", async () => {
    const { expected } = casesOf("bestof-barrier").find(({ id }) => id === "BOB-O-02")!;
    const found: number[] = [];
    for (const averaging of [true, false])
      for (const level of [1, 3, 5]) {
        const { point } = await priced(bestOf(2), { level, averaging, steps: 100, axis: { width: 0.22 } }, device);
        found.push(Math.abs(point.value - expected["price"]));
      }
    const [first, , averaged, , , nodal] = found;
    expect(averaged).toBeLessThan(1e-3);
    expect(first / averaged).toBeGreaterThan(10);
    expect(nodal).toBeGreaterThan(10 * averaged);
  });
});

test("accuracy on request chooses levels and time steps", async () => {
  const { expected } = casesOf("bestof-barrier").find(({ id }) => id === "BOB-O-03")!;
  const accuracy = { at: { A: 100, B: 100, C: 100 }, relative: 1e-3 };
  const { point, entry } = await priced(bestOf(3), { accuracy }, device);
  expect(Math.abs(point.value - expected["price"])).toBeLessThan(point.errorEstimate!);
  expect(point.errorEstimate! / point.value).toBeLessThan(1e-3);
  expect(entry.grids.length).toBeGreaterThan(10);
});

test("mixed derivatives of three axes are each of its own two", async () => {
  // V = x·y + 3·x·z + 2·y·z solves V_xx + V_yy + V_zz + V_t = 0, and keeps its values at the ends.
  const at = "x*y+3*x*z+2*y*z";
  const end = (name: string, value: number): { readonly kind: "dirichlet"; readonly value: string } => ({
    kind: "dirichlet",
    value: at.replaceAll(name, `${value}`),
  });
  const names = ["x", "y", "z"] as const;
  const axis = { from: 0, to: 1, coordinate: "linear", density: "uniform" } as const;
  const { entries } = await solveOnSparseGrid(
    {
      axes: { x: axis, y: axis, z: axis },
      equation: { xx: 1, yy: 1, zz: 1 },
      terminal: at,
      averaging: false,
      expiry: 0.1,
      steps: 4,
      boundaries: Object.fromEntries(names.map((name) => [name, { low: end(name, 0), high: end(name, 1) }])),
      level: 3,
    },
    { device },
  );
  const { value, second } = entries[0].at({ x: 0.5, y: 0.5, z: 0.5 });
  expect(value).toBeCloseTo(1.5, 8);
  expect([second.xy, second.xz, second.yz].map((one) => Math.round(10 * one) / 10)).toEqual([1, 3, 2]);
});

test("entries of a batch are what each is alone, whatever is at their kinks", async () => {
  const settings = (K: number | readonly number[]) =>
    ({
      parameters: { K },
      equation: { SS: "0.02*S^2", S: "0.05*S", V: -0.05 },
      terminal: "max(K-S,0)",
      expiry: 1,
      steps: 20,
      axes: { S: { from: 0, to: 400, points: ["K"], width: 20, initialLevel: 5 } },
      level: 0,
    }) as const;
  const strikes = [70, 100, 160];
  const { entries } = await solveOnSparseGrid(settings(strikes), { device });
  for (const [k, strike] of strikes.entries()) {
    const alone = await solveOnSparseGrid(settings(strike), { device });
    for (const S of [80, 100, 150])
      expect(entries[k].at({ S }).value).toBeCloseTo(alone.entries[0].at({ S }).value, 12);
  }
});

test("an error estimate holds the error of an extrapolated value", async () => {
  const ends = axesNamed(2).map(() => [40, 250] as const);
  const assets = { ...bestOf(2), terminal: "A*B", knockedOut: false, ends };
  for (const level of [1, 2, 3]) {
    const settings = { level, steps: 40, averaging: false, errorEstimate: true, extrapolate: "space" } as const;
    const { point } = await priced(assets, settings, device);
    expect(Math.abs(point.value - 10000 * Math.exp(0.03))).toBeLessThan(point.errorEstimate!);
  }
});

test("who owes a payoff has the value and the grids of who is paid it, with the other sign", async () => {
  const accuracy = { at: { A: 100, B: 100 }, relative: 1e-3 };
  const { terminal } = bestOf(2);
  const [paid, owed] = await Promise.all(
    [terminal, `-(${terminal})`].map((of) => priced({ ...bestOf(2), terminal: of }, { accuracy, steps: 20 }, device)),
  );
  expect(owed.point.value).toBeCloseTo(-paid.point.value, 6);
  expect(owed.point.errorEstimate! / paid.point.errorEstimate!).toBeCloseTo(1, 3);
  const levelsOf = ({ entry }: typeof paid): readonly string[] => entry.grids.map(({ levels }) => levels.join()).sort();
  expect(levelsOf(owed)).toEqual(levelsOf(paid));
});

test("accuracy on request is reached where time steps alone leave an error", async () => {
  // V = e^−2 everywhere: implicit Euler has 1/(1 + 2h)^n with n = 1/h steps, an error of e^−2·2h.
  const axis = { from: 0, to: 1, initialLevel: 2 } as const;
  const [relative, steps] = [1e-3, 4];
  const { entries } = await solveOnSparseGrid(
    {
      axes: { x: axis, y: axis },
      equation: { xx: 0.1, yy: 0.1, V: -2 },
      terminal: "1",
      expiry: 1,
      scheme: { kind: "implicit-euler" },
      steps,
      accuracy: { at: { x: 0.5, y: 0.5 }, relative },
    },
    { device },
  );
  const { value, errorEstimate } = entries[0].at({ x: 0.5, y: 0.5 });
  expect(Math.abs(value / Math.exp(-2) - 1)).toBeLessThan(2 * relative);
  expect(errorEstimate! / value).toBeLessThan(relative);
  expect(entries[0].grids[0].systems).toBeGreaterThan(steps);
});

test("an estimate is the largest of its doubts, and what time adds to it", () => {
  const nodes = Float64Array.of(0, 1, 2, 3, 4);
  // A combination of one grid on which the solution is a number.
  const constant = (value: number) =>
    [
      {
        coefficient: 1,
        grid: { meshes: [{ values: nodes }], first: [0], counts: [nodes.length], values: nodes.map(() => value) },
      },
    ] as unknown as readonly CombinedGrid[];
  const estimateOf = (coarse: number, coarsest: number, plain: number, estimate?: number): number | undefined =>
    new SparseEntrySolution({
      axes: ["x"],
      parameters: {},
      warnings: [],
      error: undefined,
      endValue: () => 0,
      fine: constant(10),
      coarser: [constant(coarse), constant(coarsest)],
      plain: constant(plain),
      time: { all: constant(10), half: constant(10.3), by: 3 },
      estimate,
    }).at({ x: 1.7 }).errorEstimate;
  // The difference of the last two levels, a quarter of that before, half of what the extrapolation has added.
  expect(estimateOf(9, 9, 10)).toBeCloseTo(1 + 0.1, 12);
  expect(estimateOf(10, 2, 10)).toBeCloseTo(2 + 0.1, 12);
  expect(estimateOf(9, 9, 4)).toBeCloseTo(3 + 0.1, 12);
  expect(estimateOf(9, 9, 10, 4)).toBeCloseTo(4 + 0.1, 12);
});

test("values at several points have the bits of those at each", async () => {
  const {
    entries: [entry],
  } = await solveOnSparseGrid(
    {
      axes: { X: { from: -2, to: 2 }, Y: { from: -2, to: 2 } },
      equation: { XX: 0.5, YY: 0.5 },
      terminal: "max(X*Y, 0)",
      expiry: 1,
      errorEstimate: true,
    },
    { device },
  );
  const [X, Y] = [
    [0, 0.7, -1.3],
    [0.2, 0, 1.1],
  ];
  const { values, errorEstimates } = entry.valuesAt({ X, Y });
  X.forEach((x, k) => {
    const { value, errorEstimate } = entry.at({ X: x, Y: Y[k] });
    expect(values[k]).toBe(value);
    expect(errorEstimates[k]).toBe(errorEstimate);
  });
});
