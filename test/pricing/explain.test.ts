import { describe, expect, it } from "vitest";
import { readBook } from "../../src/book/index.ts";
import { explainBook, type ExplainedTrade, type ExplainMethod, type ExplainReport } from "../../src/pricing/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { normalCdf } from "../support/normal.ts";

const device = new PlainDevice();
const methods: readonly ExplainMethod[] = ["taylor", "revaluation"];

interface Setting {
  readonly asOf?: string;
  readonly spot?: number;
  readonly volatility?: unknown;
  readonly rate?: unknown;
  readonly yield?: number;
  readonly discrete?: readonly unknown[];
  readonly trades?: readonly unknown[];
}

const EXPIRY = "2027-05-19";

function option(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { id: "T1", underlying: "ACME", payoff: "call", strike: 105, expiry: EXPIRY, ...changes };
}

function book({
  asOf = "2026-11-20T16:00:00Z",
  spot = 100,
  volatility = 0.2,
  rate = 0.03,
  yield: yieldRate = 0.01,
  discrete = [],
  trades = [option()],
}: Setting = {}): ReturnType<typeof readBook> {
  const underlying = { spot, currency: "EUR", volatility, dividends: { yield: yieldRate, discrete } };
  return readBook({ asOf, market: { rates: { EUR: rate }, underlyings: { ACME: underlying } }, trades });
}

function explain(
  before: Setting,
  after: Setting,
  method: ExplainMethod = "taylor",
  on: Device = device,
): Promise<ExplainReport> {
  const trades = before.trades ?? [option()];
  return explainBook(book(before), book({ ...before, trades, ...after }), { device: on, method });
}

async function explained(before: Setting, after: Setting, method: ExplainMethod = "taylor"): Promise<ExplainedTrade> {
  const [row] = (await explain(before, after, method)).results;
  if (row.status === "error") throw new Error(row.error?.message);
  return row;
}

function sumOf(terms: ExplainedTrade["terms"]): number {
  return Object.values(terms ?? {}).reduce((sum, term) => sum + term, 0);
}

/** The lines' own arithmetic, and that of the totals, hold to rounding. */
function expectSums({ results, totals }: ExplainReport): void {
  for (const { id, change, before, after, cash, terms, unexplained } of results) {
    if (terms === null) continue;
    const scale = 1e-13 * (1 + Math.abs(before ?? 0) + Math.abs(after ?? 0) + Math.abs(cash ?? 0));
    expect({ id, off: Math.abs(sumOf(terms) + (unexplained ?? 0) - (change ?? 0)) < scale }).toEqual({ id, off: true });
    expect(Math.abs((after ?? 0) + (cash ?? 0) - (before ?? 0) - (change ?? 0))).toBeLessThan(scale);
  }
  for (const { change, before, after, cash, terms, unexplained, trading } of totals) {
    const scale = 1e-12 * (1 + Math.abs(before) + Math.abs(after));
    expect(Math.abs(after + cash - before - change)).toBeLessThan(scale);
    expect(Math.abs(sumOf(terms) + unexplained + trading - change)).toBeLessThan(scale);
  }
}

/**
 * Black and Scholes' Greeks in calendar time, as in E. G. Haug, The Complete Guide to Option Pricing Formulas (2007),
 * chapter 2.
 */
function greeks(s: number, k: number, t: number, r: number, q: number, sigma: number, phi: 1 | -1) {
  const root = sigma * Math.sqrt(t);
  const d1 = (Math.log(s / k) + (r - q + 0.5 * sigma * sigma) * t) / root;
  const d2 = d1 - root;
  const density = Math.exp(-0.5 * d1 * d1) / Math.sqrt(2 * Math.PI);
  const [growth, discount] = [Math.exp(-q * t), Math.exp(-r * t)];
  const [n1, n2] = [normalCdf(phi * d1), normalCdf(phi * d2)];
  const vega = s * growth * density * Math.sqrt(t);
  const rho = phi * k * t * discount * n2;
  return {
    value: phi * (s * growth * n1 - k * discount * n2),
    delta: phi * growth * n1,
    gamma: (growth * density) / (s * root),
    theta: (-0.5 * vega * sigma) / t - phi * r * k * discount * n2 + phi * q * s * growth * n1,
    vega,
    rho,
    charm: phi * q * growth * n1 - (growth * density * (2 * (r - q) * t - d2 * root)) / (2 * t * root),
    vanna: (-growth * density * d2) / sigma,
    volga: (vega * d1 * d2) / sigma,
    veta: vega * (q + ((r - q) * d1) / root - (1 + d1 * d2) / (2 * t)),
    rhoSpot: (growth * density * Math.sqrt(t)) / sigma,
    rhoVolatility: (-vega * d1 * Math.sqrt(t)) / sigma,
    rhoRate: -t * rho + (vega * t) / sigma,
  };
}

describe("Taylor's terms", () => {
  const [T, DT, DS, DV, DR] = [180 / 365, 1 / 365, 1.5, 0.004, 0.001];

  it.each([
    ["call", 1],
    ["put", -1],
  ] as const)("of a European %s are Black and Scholes' Greeks times the moves", async (payoff, phi) => {
    const trades = [option({ payoff })];
    const moved = { asOf: "2026-11-21T16:00:00Z", spot: 100 + DS, volatility: 0.2 + DV, rate: 0.03 + DR };
    const row = await explained({ trades }, moved);
    const g = greeks(100, 105, T, 0.03, 0.01, 0.2, phi);
    const thetaAfter = (years: number, rate: number): number => greeks(100, 105, T - years, rate, 0.01, 0.2, phi).theta;
    // Derivatives of the formula's theta, by central differences: 1e-7 of them.
    const slope = (f: (h: number) => number, h: number): number => (f(h) - f(-h)) / (2 * h);
    const exact = {
      theta: g.theta * DT,
      delta: g.delta * DS,
      gamma: 0.5 * g.gamma * DS ** 2,
      vega: g.vega * DV,
      rho: g.rho * DR,
      exDividend: 0,
      dividends: 0,
      thetaTime: 0.5 * slope((h) => thetaAfter(h, 0.03), 1e-4) * DT ** 2,
      charm: g.charm * DS * DT,
      vanna: g.vanna * DS * DV,
      volga: 0.5 * g.volga * DV ** 2,
      veta: g.veta * DT * DV,
      rhoSpot: g.rhoSpot * DS * DR,
      rhoTime: slope((h) => thetaAfter(0, 0.03 + h), 1e-4) * DT * DR,
      rhoVolatility: g.rhoVolatility * DV * DR,
      rhoRate: 0.5 * g.rhoRate * DR ** 2,
      dividendCross: 0,
    };
    expect(row.before).toBeCloseTo(g.value, 10);
    expect(Object.keys(row.terms ?? {})).toEqual(Object.keys(exact));
    // The Greeks of the formula are exact. Central differences of second order with steps of 2 % of σ and 0.1 % of r:
    // 1e-3. One-sided ones over a day of 180: a day's part of what they change by, 1 %.
    const tolerance = (name: string): number =>
      ["theta", "delta", "gamma", "vega", "rho"].includes(name)
        ? 1e-9
        : ["thetaTime", "charm"].includes(name)
          ? 0.015
          : 2e-3;
    for (const [name, term] of Object.entries(exact)) {
      const got = row.terms?.[name as "theta"] as number;
      expect({ name, got, term, near: Math.abs(got - term) <= tolerance(name) * Math.abs(term) }).toMatchObject({
        near: true,
      });
    }
  });

  it("of another forecast of dividends are priced anew, and what that does to delta", async () => {
    const row = await explained({}, { spot: 101, yield: 0.03 });
    const [was, is] = [0.01, 0.03].map((q) => greeks(100, 105, T, 0.03, q, 0.2, 1));
    expect(row.terms?.dividends).toBeCloseTo(is.value - was.value, 9);
    expect(row.terms?.dividendCross).toBeCloseTo(is.delta - was.delta, 9);
    // Third order: gamma's change, ½·ΔΓ·ΔS², is most of it.
    expect(row.unexplained).toBeCloseTo(0.5 * (is.gamma - was.gamma), 3);
  });

  it("leave a remainder of third order in the moves", async () => {
    const remainder = async (part: number): Promise<number> => {
      const asOf = new Date(Date.parse("2026-11-20T16:00:00Z") + part * 10 * 86_400_000).toISOString();
      const moved = { asOf, spot: 100 + 4 * part, volatility: 0.2 + 0.02 * part, rate: 0.03 + 0.005 * part };
      // An instant of expiry, so that the life is as long as the clock says.
      return (await explained({ trades: [option({ expiry: "2027-05-19T16:00:00Z" })] }, moved)).unexplained as number;
    };
    const [whole, half, quarter] = [await remainder(1), await remainder(0.5), await remainder(0.25)];
    const change = Math.abs((await explained({}, { spot: 104, volatility: 0.22, rate: 0.035 })).change as number);
    expect(Math.abs(whole)).toBeLessThan(0.02 * change);
    expect(Math.log2(whole / half)).toBeGreaterThan(2.8);
    expect(Math.log2(half / quarter)).toBeGreaterThan(2.8);
  });

  it("explain American options on the mesh, with dividends, to a thousandth of a small move's change", async () => {
    const discrete = [
      { date: "2027-01-15", cash: 1.5 },
      { date: "2027-04-15", proportional: 0.01 },
    ];
    const trades = ["call", "put"].map((payoff) => option({ id: payoff, payoff, exercise: "american" }));
    const moved = { asOf: "2026-11-21T16:00:00Z", spot: 100.6, volatility: 0.203, rate: 0.0305 };
    const report = await explain({ discrete, trades }, moved);
    expectSums(report);
    for (const row of report.results)
      // Third order, and the noise of vega and rho at an exercise boundary: 3e-4 of S·√T times the moves.
      expect(Math.abs(row.unexplained as number)).toBeLessThan(1e-3);
  });
});

describe("revaluation", () => {
  it("moves one part of the market at a time: each is a pricing of its own", async () => {
    const discrete = [{ date: "2027-02-01", cash: 1 }];
    const before = { discrete, trades: [option({ exercise: "american", payoff: "put" })] };
    const moved = {
      asOf: "2026-12-10T16:00:00Z",
      spot: 97,
      volatility: 0.25,
      rate: 0.02,
      discrete: [{ date: "2027-02-01", cash: 3 }],
    };
    const row = await explained(before, moved, "revaluation");
    const { asOf } = moved;
    // The later value of a book in which only one thing is different.
    const value = async (change: Setting): Promise<number> =>
      (await explained(before, { asOf, ...change })).after as number;
    const start = await value({});
    const alone = {
      time: start - (row.before as number),
      exDividend: 0,
      spot: (await value({ spot: 97 })) - start,
      volatility: (await value({ volatility: 0.25 })) - start,
      rate: (await value({ rate: 0.02 })) - start,
      dividends: (await value({ discrete: moved.discrete })) - start,
    };
    for (const [name, term] of Object.entries(alone)) expect(row.terms?.[name as "time"]).toBeCloseTo(term, 8);
    expect(row.terms?.cross).toBeCloseTo((row.change as number) - sumOf(alone), 8);
    expect(Math.abs(row.terms?.cross as number)).toBeGreaterThan(0.01);
    expect(Math.abs(row.unexplained as number)).toBeLessThan(1e-12);
  });
});

describe("both methods", () => {
  const all = [
    option(),
    option({ id: "T2", payoff: "put", exercise: "american", quantity: -7 }),
    option({ id: "T3", payoff: { digital: "call", cash: 10 }, quantity: 3 }),
    option({ id: "T4", volatility: { local: "0.15 + 0.05*exp(-S/100) + 0.02*t" } }),
    option({ id: "T5", volatility: { cev: { sigma: 2, beta: 0.5 } }, exercise: "american" }),
    option({ id: "T6", payoff: { expression: "abs(S - 100)", kinks: [100] }, quantity: 0.5 }),
  ];

  it.each(methods)(
    "%s: terms and what is unexplained add up to the change, line by line and in total",
    async (method) => {
      const discrete = [{ date: "2026-12-01", cash: 1, proportional: 0.01 }];
      const moved = { asOf: "2026-12-10T16:00:00Z", spot: 96, volatility: 0.24, rate: 0.025, yield: 0.02 };
      const report = await explain({ discrete, trades: all }, moved, method);
      expect(report).toMatchObject({ explained: 6, failed: 0, years: 20 / 365 });
      expectSums(report);
      for (const row of report.results) expect(Object.values(row.terms ?? {}).every(Number.isFinite)).toBe(true);
    },
  );

  it.each(methods)("%s: nothing moved, nothing to explain", async (method) => {
    const discrete = [{ date: "2026-12-01", cash: 1 }];
    const { results, totals } = await explain({ discrete, trades: all }, {}, method);
    for (const { change, terms, unexplained } of results)
      expect([change, unexplained, ...Object.values(terms ?? {})].every((x) => x === 0)).toBe(true);
    expect(totals[0]).toMatchObject({ change: 0, unexplained: 0, trading: 0, cash: 0 });
  });

  it.each(methods)("%s: a spot that falls by its dividend alone leaves the value where it was", async (method) => {
    // Ten seconds about the ex-date; a proportional dividend has a closed form.
    const discrete = [{ date: "2026-11-20T16:00:05Z", proportional: 0.03 }];
    const trades = [option({ expiry: "2027-05-19T16:00:00Z" })];
    const row = await explained({ discrete, trades }, { asOf: "2026-11-20T16:00:10Z", spot: 97 }, method);
    expect(row.moves).toMatchObject({ spot: -3, volatility: 0, rate: 0 });
    expect(row.moves?.paid).toBeCloseTo(3, 12);
    expect(Math.abs(row.change as number)).toBeLessThan(1e-5);
    expect(Math.abs(row.unexplained as number)).toBeLessThan(1e-8);
    // What the fall of the spot took, in whichever terms, the dividend gives back.
    const { delta = 0, gamma = 0, spot = 0, exDividend } = row.terms ?? {};
    expect(exDividend).toBeCloseTo(-(delta + gamma + spot), 5);
    expect(exDividend).toBeGreaterThan(0.8);
  });

  it.each(methods)("%s: an ex-date between the two dates, cash and proportional", async (method) => {
    const discrete = [
      { date: "2026-11-25", cash: 2 },
      { date: "2026-11-27", proportional: 0.02 },
    ];
    const trades = [option({ exercise: "american" }), option({ id: "T2", payoff: "put" })];
    const spot = (100.5 - 2) * 0.98;
    const report = await explain({ discrete, trades }, { asOf: "2026-12-01T16:00:00Z", spot }, method);
    expectSums(report);
    for (const row of report.results) {
      expect(row.moves?.paid).toBeCloseTo(100.5 - spot, 12);
      // Theta jumps on an ex-date, by ½·Γ·σ²·(S² − S′²); it goes on for five days, and gamma is at most 0.03.
      const jump = 0.5 * 0.03 * 0.04 * (100.5 ** 2 - spot ** 2) * (5 / 365);
      expect(Math.abs(row.unexplained as number)).toBeLessThan(method === "taylor" ? jump : 1e-12);
    }
  });

  it.each(methods)("%s: on its expiry day a trade is worth its payoff", async (method) => {
    const row = await explained({}, { asOf: `${EXPIRY}T16:00:00Z`, spot: 112 }, method);
    expect(row).toMatchObject({ status: "explained", after: 7, cash: 0 });
    expect(row.change).toBeCloseTo(7 - (row.before as number), 12);
  });

  it.each(methods)("%s: a dividend that is due after the second date is no part of the settlement", async (method) => {
    const discrete = [
      { date: "2027-05-20", cash: 2 },
      { date: "2027-05-30", cash: 4 },
    ];
    const row = await explained({ discrete }, { asOf: "2027-05-21T16:00:00Z", spot: 110, trades: [] }, method);
    // The spot at expiry was 110 + 2, before the one dividend that was paid since: 7 above the strike.
    expect(row).toMatchObject({ status: "matured", cash: 7 });
  });

  it.each(methods)("%s: after its expiry its payoff has been paid, at the spot that is known", async (method) => {
    const discrete = [
      { date: "2027-05-10", cash: 1 },
      { date: "2027-05-20", cash: 2 },
    ];
    const trades = [option({ quantity: 10 })];
    for (const later of [[], trades]) {
      const after = { asOf: "2027-05-21T16:00:00Z", spot: 110, trades: later };
      const report = await explain({ discrete, trades }, after, method);
      const [row] = report.results;
      // The dividend after expiry is no part of the settlement's spot.
      expect(row).toMatchObject({ status: "matured", after: 0, cash: 7, quantityAfter: null });
      expect(row.change).toBeCloseTo(7 - (row.before as number), 12);
      expect(row.warnings).toEqual(["expired between the two dates: settled at the later book's spot, 112"]);
      expect(report).toMatchObject({ explained: 1, failed: 0 });
      expect(report.totals[0]).toMatchObject({ after: 0, cash: 70, trading: 0 });
      expectSums(report);
    }
  });
});

describe("moves", () => {
  it("of a term structure are the parallel ones that reprice to expiry", async () => {
    const [day, T] = [1 / 365, 179 / 365];
    const nodes = (first: number, second: number): unknown => ({
      termStructure: [
        { date: "2027-02-20", volatility: first },
        { date: "2027-11-20", volatility: second },
      ],
    });
    const zeros = (first: number, second: number): unknown => [
      { date: "2027-02-20", zero: first },
      { date: "2027-11-20", zero: second },
    ];
    const [before, after] = [
      { volatility: nodes(0.2, 0.25), rate: zeros(0.02, 0.03) },
      { asOf: "2026-11-21T16:00:00Z", volatility: nodes(0.23, 0.26), rate: zeros(0.025, 0.03) },
    ];
    const { moves } = await explained(before, after);
    // Instantaneous variances and forward rates on (0, 92 d) and (92 d, 365 d) from the first date, and (0, 91 d) …
    // from the second.
    const [a, b] = [92 / 365, 1];
    const [v1, v2] = [0.04, (0.0625 * b - 0.04 * a) / (b - a)];
    const [w1, w2] = [0.23 ** 2, (0.26 ** 2 * (b - day) - 0.23 ** 2 * (a - day)) / (b - a)];
    const [x, y] = [a - day, T - (a - day)];
    const shift = moves?.volatility as number;
    const total = x * (Math.sqrt(v1) + shift) ** 2 + y * (Math.sqrt(v2) + shift) ** 2;
    expect(total).toBeCloseTo(x * w1 + y * w2, 12);
    const [f2, g2] = [(0.03 * b - 0.02 * a) / (b - a), (0.03 * (b - day) - 0.025 * (a - day)) / (b - a)];
    expect(moves?.rate).toBeCloseTo((x * (0.025 - 0.02) + y * (g2 - f2)) / T, 12);
  });

  it("of a local volatility are those at the earlier spot", async () => {
    const at = (level: number): Setting => ({
      volatility: { local: `${level} + 0.1*exp(-S/100)` },
      trades: [option({ exercise: "american" })],
    });
    const row = await explained(at(0.2), at(0.21));
    expect(row.moves?.volatility).toBeCloseTo(0.01, 12);
    expect(Math.abs(row.unexplained as number)).toBeLessThan(1e-3);
  });

  it("follow the life that is left: books of different hours are whole days apart for a trade that expires on a date", async () => {
    const { moves, status } = await explained({}, { asOf: "2026-11-21T09:30:00Z" });
    expect(status).toBe("explained");
    expect(moves?.years).toBeCloseTo(1 / 365, 12);
    expect((await explained({}, { asOf: "2026-11-20T18:00:00Z" })).moves?.years).toBe(0);
  });
});

describe("trades of one book only, or of other terms, are listed", () => {
  const listed = async (before: readonly unknown[], after: readonly unknown[]): Promise<ExplainReport> => {
    const report = await explain({ trades: before }, { trades: after, spot: 101 });
    expectSums(report);
    return report;
  };

  it("new and gone ones count as trading", async () => {
    const report = await listed([option({ quantity: 2 })], [option({ id: "N", quantity: 3 })]);
    expect(report.results.map(({ id, status, change }) => [id, status, change])).toEqual([
      ["T1", "gone", null],
      ["N", "new", null],
    ]);
    const [gone, found] = report.results;
    expect(report.totals[0].trading).toBeCloseTo(3 * (found.after as number) - 2 * (gone.before as number), 10);
    expect(report).toMatchObject({ explained: 0, failed: 0 });
  });

  it.each([
    [{ strike: 106 }, "its payoff differs"],
    [{ exercise: "american" }, "its exercise differs"],
    [{ expiry: "2027-05-20" }, "its expiry differs; one in years moves with asOf: write the date"],
  ])("changed: %o", async (change, reason) => {
    const report = await listed([option()], [option(change)]);
    expect(report.results[0]).toMatchObject({ status: "changed", reason, terms: null, change: null });
    expect(report.totals[0].trading).toBeCloseTo(report.totals[0].change, 12);
  });

  it("another place in the book is not: a formula keeps its terms", async () => {
    const formula = option({ payoff: { expression: "max(S - 100, 0)" }, strike: undefined });
    const trade = Object.fromEntries(Object.entries(formula).filter(([, value]) => value !== undefined));
    const report = await explain({ trades: [option({ id: "A" }), trade] }, { trades: [trade], spot: 101 });
    expect(report.results.map(({ status }) => status)).toEqual(["gone", "explained"]);
  });

  it("an expiry in years is another one a day later", async () => {
    const report = await explain({ trades: [option({ expiry: 0.5 })] }, { asOf: "2026-11-21T16:00:00Z" });
    expect(report.results[0].status).toBe("changed");
  });

  it("another quantity is trading at the later value", async () => {
    const report = await listed([option({ quantity: 2 })], [option({ quantity: 5 })]);
    const [row] = report.results;
    expect(row).toMatchObject({ status: "explained", quantityBefore: 2, quantityAfter: 5 });
    expect(report.totals[0].trading).toBeCloseTo(3 * (row.after as number), 10);
    expect(report.totals[0].terms.delta).toBeCloseTo(2 * (row.terms?.delta as number), 10);
  });
});

describe("what cannot be explained", () => {
  const messages = ({ results }: ExplainReport): (string | undefined)[] => results.map((row) => row.error?.message);

  it("is a line with its book and path, beside the others", async () => {
    const before = [option(), option({ id: "B", strike: -5 }), option({ id: "A" }), 7];
    const after = [option(), option({ id: "B" }), option({ id: "A", expiry: "never" }), option()];
    const report = await explain({ trades: before }, { trades: after, spot: 101 });
    expect(report.results.map(({ id, status }) => [id, status])).toEqual([
      ["T1", "explained"],
      ["B", "error"],
      ["A", "error"],
      [null, "error"],
      ["T1", "error"],
    ]);
    expect(messages(report).slice(1)).toEqual([
      "before: trades[1].strike: expected a positive number, got -5",
      expect.stringMatching(/^after: trades\[2\]\.expiry: expected an ISO date/),
      "before: trades[3]: expected a trade (an object), got 7",
      'after: trades[3].id: expected an id of its own, got "T1" again',
    ]);
    expect(report.results[1].error).toMatchObject({ code: "BOOK", path: "before: trades[1].strike" });
    expect(report).toMatchObject({ explained: 1, failed: 4 });
    expectSums(report);
  });

  it("a dividend that pays everything", async () => {
    const discrete = [{ date: "2026-11-21", proportional: 1 }];
    for (const method of methods) {
      const report = await explain({ discrete }, { asOf: "2026-11-22T16:00:00Z" }, method);
      expect(messages(report)).toEqual(["a dividend between the two dates pays all of the spot"]);
    }
  });

  it("a trade that expired, on an underlying that the later market has not", async () => {
    const market = { rates: { EUR: 0.03 }, underlyings: {} };
    const after = readBook({ asOf: "2027-06-01T16:00:00Z", market, trades: [] });
    const report = await explainBook(book(), after, { device });
    expect(messages(report)).toEqual([
      'after: market.underlyings: expected "ACME", whose spot settles a trade that expired between the dates',
    ]);
  });

  it("averages and lookbacks, whose fixings since are no change of terms", async () => {
    const past = { count: 1, mean: 100 };
    const trade = { id: "T1", underlying: "ACME", payoff: "call", expiry: "2027-06-01" };
    const dates = ["2026-11-21", "2027-06-01"];
    const average = (rest: object): object => ({ ...trade, strike: 100, average: { kind: "arithmetic", ...rest } });
    const lookback = (rest: object): object => ({
      ...trade,
      lookback: { strike: "floating", monitoring: "continuous", ...rest },
    });
    for (const [before, after] of [
      [average({ dates }), average({ dates: dates.slice(1), past })],
      [lookback({}), lookback({ extremum: 95 })],
    ]) {
      const report = await explain({ trades: [before] }, { asOf: "2026-11-23T16:00:00Z", trades: [after], spot: 98 });
      expect(messages(report)).toEqual([expect.stringMatching(/^averages, lookbacks, swings .* are not explained/)]);
    }
    const later = { asOf: "2026-11-23T16:00:00Z", trades: [average({ dates: ["2027-05-01"], past })] };
    // Derivatives along paths need a compiler.
    using compiling = await openDevice({ backend: "cpu", threads: 1 });
    const report = await explain({ trades: [average({ dates })] }, later, "taylor", compiling);
    expect(report.results[0]).toMatchObject({ status: "changed", reason: "its payoff differs" });
  });

  it("books in the wrong order", async () => {
    await expect(explain({}, { asOf: "2026-11-19T16:00:00Z" })).rejects.toThrow(
      "after: asOf: expected a date not before the first book's, 2026-11-20T16:00:00.000Z, got 2026-11-19T16:00:00.000Z",
    );
  });
});

it("the error of a position that has grown counts for all of it", async () => {
  const { results, totals } = await explain(
    { trades: [option({ quantity: 1 })] },
    { spot: 101, trades: [option({ quantity: 3 })] },
  );
  expect(results[0].errorEstimate).toBeGreaterThan(0);
  expect(totals[0].errorEstimate).toBe(3 * results[0].errorEstimate!);
});

it.each(methods)("%s: a dividend on the second date itself has been paid", async (method) => {
  const discrete = [{ date: "2026-12-01T16:00:00Z", cash: 2 }];
  const row = await explained({ discrete }, { asOf: "2026-12-01T16:00:00Z", spot: 98.5 }, method);
  expect(row.moves?.paid).toBeCloseTo(2, 12);
  const left = await explained({ discrete }, { asOf: "2026-11-30T16:00:00Z", spot: 98.5 }, method);
  expect(left.moves?.paid).toBe(0);
});

it("another forecast of dividends changes delta and theta, which their moves take", async () => {
  const [T, DT, DS] = [180 / 365, 1 / 365, 1.5];
  const moved = { asOf: "2026-11-21T16:00:00Z", spot: 100 + DS, yield: 0.03 };
  const row = await explained({ trades: [option({ expiry: "2027-05-19T16:00:00Z" })] }, moved);
  const [was, is] = [0.01, 0.03].map((q) => greeks(100, 105, T, 0.03, q, 0.2, 1));
  const exact = (is.delta - was.delta) * DS + (is.theta - was.theta) * DT;
  expect(Math.abs((is.theta - was.theta) * DT)).toBeGreaterThan(1e-3);
  expect(row.terms?.dividendCross).toBeCloseTo(exact, 6);
});
