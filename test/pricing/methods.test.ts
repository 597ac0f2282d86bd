/** The methods of a book: which one prices which trade, and what a trade says that the chosen one does not price. */
import { afterAll, describe, expect, it } from "vitest";
import { METHOD_NAMES, parseBook, type Trade, type TradeResult } from "../../src/book/index.ts";
import { constant, dividendSchedule } from "../../src/market/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { ScenarioCases } from "../../src/pricing/columns/result-columns.ts";
import { TradeColumns } from "../../src/pricing/columns/trade-columns.ts";
import { type Method, priceBook } from "../../src/pricing/index.ts";
import { METHODS } from "../../src/pricing/kinds.ts";
import { type Batch, TimeBudget } from "../../src/pricing/plan/method.ts";
import { RowProblems } from "../../src/pricing/trade-problem.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { results, trade } from "./reference.ts";

const device = new PlainDevice();
// Paths have kernel functions made of text, which plain JavaScript does not run.
const compiler = createCpuDevice({ threads: 1 });
afterAll(() => {
  compiler[Symbol.dispose]();
});
const base = trade();
const stepped = { kind: "deterministic", sigma: { times: [0.2], values: [0.2, 0.3] } } as const;
const flat = { kind: "deterministic", sigma: constant(0) } as const;
const out = {
  type: "up-and-out",
  level: 150,
  rebate: 0,
  rebateAt: "hit",
  monitoring: { kind: "continuous" },
  from: 0,
  to: base.expiry,
} as const;
const cash = { ...base.underlying, dividends: dividendSchedule(0, [{ time: 0.25, cash: 1, proportional: 0 }]) };

const TRADES: readonly (readonly [string, Partial<Trade>, string])[] = [
  ["a European put", {}, "black-scholes"],
  ["an American put", { exercise: { kind: "american" } }, "integral"],
  ["an American put on a volatility by time", { volatility: stepped, exercise: { kind: "american" } }, "fdm"],
  ["a Bermudan put", { exercise: { kind: "bermudan", times: [0.5 * base.expiry] } }, "fdm"],
  ["a Bermudan put on expiry alone", { exercise: { kind: "bermudan", times: [base.expiry] } }, "black-scholes"],
  ["a formula", { payoff: { kind: "expression", expression: "abs(S - 100)", kinks: [100] } }, "fdm"],
  ["a knock-out", { barriers: [out] }, "fdm"],
  ["a knock-in that has been hit", { barriers: [{ ...out, type: "up-and-in", level: 50 }] }, "black-scholes"],
  ["a CEV volatility", { volatility: { kind: "cev", sigma: 2, beta: 0.5 } }, "fdm"],
  ["a cash dividend", { underlying: cash }, "fdm"],
  ["no volatility, American", { volatility: flat, exercise: { kind: "american" } }, "deterministic"],
  ["expiry today", { expiry: 0, exercise: { kind: "american" } }, "payoff"],
];

const messageOf = (result: TradeResult): string => (result.status === "error" ? result.error.message : "priced");

function batchOf(parts: Partial<Trade>, method: Method): Batch {
  const one = trade(parts);
  const columns = new TradeColumns([{ ok: true, trade: one }], new ScenarioCases(undefined));
  columns.add(0, one, 0);
  const settings = {
    method,
    greeks: "all",
    sensitivityErrorEstimates: false,
    accuracy: 1e-5,
    timePerTrade: undefined,
    strict: false,
    seed: 1,
  } as const;
  const budget = new TimeBudget(undefined);
  return { columns, problems: new RowProblems(columns), settings, budget, precision: "f64" };
}

describe("auto", () => {
  it.each(TRADES)("%s", async (_, parts, method) => {
    expect(await results([trade(parts)], { device, greeks: "none" })).toMatchObject([{ status: "ok", method }]);
  });
});

describe("a method by name", () => {
  it("is one that the book's format lists, and each that it lists is there", () => {
    expect(["auto", ...METHODS.map(({ name }) => name)]).toEqual(METHOD_NAMES);
  });

  it.each(TRADES)("prices %s for its least cost at least", (_, parts) => {
    for (const method of METHODS) {
      const cost = method.accepts(batchOf(parts, "auto"), 0);
      if (typeof cost === "number") expect(cost).toBeGreaterThanOrEqual(method.minCost);
    }
  });

  it.each(TRADES)("prices %s, or is refused with the reason and the methods that do", async (_, parts) => {
    const batch = batchOf(parts, "auto");
    const accepting = METHODS.filter((one) => typeof one.accepts(batch, 0) === "number").map(({ name }) => name);
    expect(accepting).toContain("fdm");
    const one = trade(parts);
    for (const { name, accepts } of METHODS) {
      const [result] = await results([one], {
        device: name === "montecarlo" || name === "sparse-grid" ? compiler : device,
        greeks: "none",
        method: name,
      });
      const answer = accepts(batch, 0);
      if (typeof answer === "number") {
        expect(messageOf(result)).toBe("priced");
        continue;
      }
      const remedy = ["auto", ...accepting].map((other) => `"${other}"`).join(" or ");
      expect(messageOf(result)).toBe(
        `trades[0]: method "${name}" does not price this trade, it has ${answer}; expected method ${remedy}`,
      );
      expect(result).toMatchObject({ error: { code: "BOOK", path: "trades[0]" } });
    }
  });

  it("prices what it accepts as auto does, and leaves the others of the book to themselves", async () => {
    const trades = TRADES.map(([, parts], i) => trade({ ...parts, id: String(i) }));
    const byAuto = await results(trades, { device });
    const byFormula = await results(trades, { device, method: "closed-form" });
    for (const [i, result] of byFormula.entries())
      if (byAuto[i].method === "black-scholes") expect(result).toEqual(byAuto[i]);
      else expect(messageOf(result)).toMatch(`trades[${i}]: method "closed-form" does not price this trade, it has `);
  });
});

describe("a trade that no method prices", () => {
  const times = [0.5 * base.expiry, base.expiry];
  const past = { count: 0, mean: 1 };
  const terms = { right: "call", strike: 100, times } as const;
  const average = { ...terms, kind: "average", mean: "arithmetic", past } as const;
  const sabr = { kind: "sabr", alpha: 0.2, beta: 1, nu: 0.5, rho: -0.3 } as const;

  it.each<[string, Partial<Trade>, RegExp]>([
    [
      "an average beside a barrier",
      { payoff: average, barriers: [out] },
      /^trades\[0\]: it has barriers beside an average or an extreme, which method "montecarlo" does not price yet; the/,
    ],
    [
      "an average under SABR volatility",
      { payoff: average, volatility: sabr },
      /^trades\[0\]: it has SABR volatility, which method "montecarlo"/,
    ],
    [
      "a swing and cash dividends",
      { payoff: { ...terms, kind: "swing", min: 0, max: 1 }, underlying: cash },
      /^trades\[0\]: it has [^,]*dividends[^,]*, which method "quantization" does not price yet/,
    ],
  ])("%s: begins with the reason of the method that is for it", async (_, parts, message) => {
    const [result] = await results([trade(parts)], { device, greeks: "none" });
    expect(messageOf(result)).toMatch(message);
    // Every other method has its reason, too.
    for (const { name } of METHODS) expect(messageOf(result)).toContain(`"${name}"`);
  });
});

describe("cases of scenarios", () => {
  it("are the same wherever a date stands among the others, with the barriers of that date", async () => {
    const barriers = [
      { ...out, to: 0.3 },
      { ...out, type: "down-and-out", level: 50 },
    ] as const;
    const one = trade({ barriers, exercise: { kind: "bermudan", times: [0.2, 0.4] } });
    const rest = { spot: [0, 0.1], volatility: [0], rate: [0, 0.01] };
    const options = { device, greeks: "none" } as const;
    const [mixed] = await results([one], options, { time: [0.1, 0, 0.35, 0, 0.1], ...rest });
    const [plain] = await results([one], options, { time: [0, 0.1, 0.35], ...rest });
    if (mixed.status === "error" || plain.status === "error") throw new Error("not priced");
    const [today, soon, late] = plain.scenarios ?? [];
    expect(mixed.scenarios).toEqual([soon, today, late, today, soon]);
    expect(today[0][0][0]).toBe(plain.value);
  });
});

describe("the method of a book", () => {
  const book = (method?: string): string =>
    JSON.stringify({
      asOf: "2026-01-01",
      ...(method === undefined ? {} : { method }),
      market: { rates: { EUR: 0.02 }, underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } } },
      trades: [{ id: "1", underlying: "A", payoff: "put", strike: 100, expiry: 1 }],
    });
  const methodOf = async (text: string, method?: Method): Promise<string | null> => {
    const report = await priceBook(parseBook(text), { device, ...(method === undefined ? {} : { method }) });
    return report.results[0].method;
  };

  it("prices its trades, unless the options name another", async () => {
    expect(await methodOf(book())).toBe("black-scholes");
    expect(await methodOf(book("fdm"))).toBe("fdm");
    expect(await methodOf(book("fdm"), "closed-form")).toBe("black-scholes");
    expect(await methodOf(book("fdm"), "auto")).toBe("black-scholes");
  });

  it("is one of those that are known", () => {
    expect(() => parseBook(book("fmd"))).toThrow(
      'method: expected "auto", "closed-form", "deterministic", "integral", "fdm", "adi", "sparse-grid", "montecarlo", "quantization" or "convolution", got "fmd" (did you mean "fdm"?)',
    );
  });
});
