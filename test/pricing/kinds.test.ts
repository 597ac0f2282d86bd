/**
 * What each kind of trade says of itself: rolled forward it is what a later book has, it has paid what the later book
 * misses, and it finds each term that has changed.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AnyTrade, type BookInput, parseBook, type TradeInput } from "../../src/book/index.ts";
import { isoOf } from "../../src/market/conventions/index.ts";
import { kindOf } from "../../src/pricing/kinds.ts";

const FIRST = Date.parse("2026-11-20") / 86_400_000;
const iso = (day: number): string => isoOf(FIRST + day);
const SPOT = 100;
const RATE = 0.03;
const TERMS = { notional: 100, coupon: 0.04, frequency: 2 } as const;

/** What is drawn of a book: days from the first one. */
interface Drawn {
  /** In increasing order; some lie before the later book, the last one after it. */
  readonly days: readonly number[];
  readonly later: number;
}

/** The zero rates of a curve with forward rates of 1 % up to 400 days and 4 % from there on, as a day has them. */
const zeros = (now: number) =>
  [400, 2000]
    .filter((day) => day > now)
    .map((day) => {
      const early = Math.max(Math.min(day, 400) - now, 0);
      return { date: iso(day), zero: (0.01 * early + 0.04 * (day - now - early)) / (day - now) };
    });

/** The book of a day: what lies before it has happened. */
function bookAt(now: number, { days }: Drawn, patch: Readonly<Record<string, object>> = {}): BookInput {
  const left = days.filter((day) => day >= now);
  const passed = days.filter((day) => day < now);
  const after = left.filter((day) => day > now);
  const [from, to] = [days[0], days.at(-1)!];
  const expiry = iso(1600);
  const on = { underlying: "A", payoff: "call", strike: 100, expiry } as const;
  const leg = { start: iso(-40), end: iso(1786), frequency: 2, notional: 100 } as const;
  const maturity = iso(1786);
  const windows = days.slice(1).map((end, k) => ({ from: iso(days[k]), to: iso(end - 1), price: 100 + k }));
  const dated = left.map((day) => ({ date: iso(day), price: 100 }));
  // The half year of the leg that has begun, and its rate: fixed before the first book, or its forward rate since.
  const [begun, end] = [[-40, 142] as const, [142, 325] as const, [325, 508] as const].findLast(
    ([start]) => start < now,
  )!;
  const simple = Math.expm1((RATE * (end - begun)) / 365) / ((end - begun) / 365);
  const fixing = begun < 0 ? 0.07 : simple;
  const mean = (2 * 90 + passed.length * SPOT) / (2 + passed.length);
  const geometric = (90 ** 2 * SPOT ** passed.length) ** (1 / (2 + passed.length));
  const average = (kind: "arithmetic" | "geometric") => ({
    kind,
    dates: left.map(iso),
    past: { count: 2 + passed.length, mean: kind === "geometric" ? geometric : mean },
  });
  const trades: TradeInput[] = [
    { id: "european", ...on },
    { id: "american", ...on, exercise: "american" },
    { id: "formula", underlying: "A", payoff: { expression: "max(S - 100, 0)" }, expiry },
    { id: "bermudan", ...on, exercise: left.map(iso) },
    { id: "arithmetic", ...on, average: average("arithmetic") },
    { id: "geometric", ...on, average: average("geometric") },
    {
      id: "lookback",
      ...on,
      lookback: {
        strike: "fixed",
        from: iso(Math.max(from, now)),
        monitoring: "continuous",
        ...(from < now ? { extremum: SPOT } : {}),
      },
    },
    { id: "swing", ...on, swing: { dates: left.map(iso), min: 0, max: 1 } },
    { id: "window", ...on, barriers: [{ type: "up-and-in", level: 140, from: iso(Math.max(from, now)), to: iso(to) }] },
    { id: "dates", ...on, barriers: [{ type: "down-and-out", level: 60, rebate: 2, monitoring: left.map(iso) }] },
    { id: "basket", underlyings: ["A", "B"], payoff: { basket: "put", weights: [1, 2] }, strike: 250, expiry },
    { id: "forward", underlying: "A", forward: 105, expiry },
    { id: "bond", currency: "HW", bond: { maturity, ...TERMS, calls: windows } },
    { id: "puttable", currency: "HW", bond: { maturity, ...TERMS, puts: dated } },
    { id: "flows", currency: "HW", cashflows: after.map((day) => [iso(day), day]) },
    {
      id: "early",
      currency: "BK",
      on: { bond: { maturity, ...TERMS } },
      payoff: "put",
      strike: 99,
      expiry,
      exercise: "american",
    },
    { id: "once", currency: "V", on: { bond: { maturity, ...TERMS } }, payoff: "put", strike: 99, expiry },
    { id: "lattice", currency: "T", bond: { maturity, ...TERMS } },
    { id: "cap", currency: "E", cap: end > now ? { ...leg, fixing } : leg, strike: 0.03, volatility: { normal: 0.01 } },
    {
      id: "swaption",
      currency: "HW",
      swaption: "payer",
      strike: 0.03,
      expiry: iso(700),
      swap: { ...leg, start: iso(700) },
    },
    {
      id: "convertible",
      underlying: "A",
      convertible: {
        maturity,
        ...TERMS,
        ratio: 1,
        conversion: { from: iso(from), to: iso(to) },
        calls: windows,
        puts: dated,
      },
    },
  ];
  return {
    asOf: iso(now),
    market: {
      rates: {
        E: RATE,
        C: zeros(now),
        V: { vasicek: { r0: 0.04 - 0.03 * Math.exp((-0.5 * now) / 365), kappa: 0.5, theta: 0.04, sigma: 0.01 } },
        HW: {
          hullWhite: {
            curve: zeros(now),
            meanReversion: 0.1,
            volatility: after.map((day) => ({ date: iso(day), volatility: 1e-5 * day })),
          },
        },
        BK: { blackKarasinski: { curve: RATE, meanReversion: 0.1, volatility: 0.2 } },
        T: { bdt: { annualYields: [0.1, 0.11, 0.12, 0.125, 0.13], yieldVolatilities: [0.2, 0.19, 0.18, 0.17, 0.16] } },
      },
      underlyings: {
        A: {
          spot: SPOT,
          currency: "C",
          volatility: { termStructure: [{ date: iso(1600), volatility: 0.2 }] },
          dividends: { yield: 0.01, discrete: after.map((day) => ({ date: iso(day), cash: 1e-4 * day })) },
        },
        B: { spot: 80, currency: "C", volatility: 0.3 },
      },
      credit: { A: { spread: after.map((day) => ({ date: iso(day), spread: 1e-5 * day })) } },
    },
    trades: trades.map((trade) => Object.assign(trade, patch[trade.id])),
  };
}

function tradesOf(input: BookInput): ReadonlyMap<string, AnyTrade> {
  const trades = parseBook(input).trades.map((parsed) => {
    if (!parsed.ok) throw parsed.error;
    return [parsed.trade.id, parsed.trade] as const;
  });
  return new Map(trades);
}

/** Where two values of plain data differ by more than rounding. */
function differing(a: unknown, b: unknown, path = ""): string | undefined {
  if (typeof a === "number" && typeof b === "number")
    return Math.abs(a - b) <= 1e-9 * (1 + Math.abs(a)) ? undefined : `${path}: ${a} and ${b}`;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null)
    return a === b ? undefined : `${path}: ${String(a)} and ${String(b)}`;
  const [one, other] = [a, b].map((of) => new Map(Object.entries(of).filter(([, value]) => value !== undefined)));
  for (const name of new Set([...one.keys(), ...other.keys()])) {
    const found = differing(one.get(name), other.get(name), `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

const drawn = fc
  .record({
    days: fc.uniqueArray(fc.integer({ min: 2, max: 1500 }), { minLength: 2, maxLength: 6 }),
    // Two of them are dates of coupons.
    later: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 480 }) }, fc.constantFrom(142, 325)),
    isOnDate: fc.boolean(),
  })
  .map(({ days, later, isOnDate }): Drawn => {
    const sorted = [...days, 1550].sort((a, b) => a - b);
    // Often the later book is of one of the days.
    return { days: sorted, later: isOnDate ? Math.min(sorted[0], 480) : later };
  });

describe("a trade of each kind", () => {
  it("rolled forward is what the later book has, and has paid what that misses", () => {
    fc.assert(
      fc.property(drawn, (of) => {
        const [before, after] = [tradesOf(bookAt(0, of)), tradesOf(bookAt(of.later, of))];
        for (const [id, trade] of before) {
          const kind = kindOf(trade);
          const rolled = kind.rollForward(trade, of.later / 365)!;
          const then = after.get(id)!;
          expect(differing(rolled, then, id)).toBeUndefined();
          expect(kind.difference(rolled, then)).toBeUndefined();
          if (kind.paid === undefined || id === "cap") continue;
          const sum = (one: AnyTrade): number => {
            if (one.kind === "convertible") return one.convertible.coupons.reduce((all, { amount }) => all + amount, 0);
            return one.kind === "rates" && one.product.kind === "bond"
              ? one.product.bond.flows.reduce((all, [, amount]) => all + amount, 0)
              : 0;
          };
          expect(kind.paid(trade, of.later / 365)).toBeCloseTo(sum(trade) - sum(then), 9);
        }
      }),
      { numRuns: 60 },
    );
  });

  const fixed: Drawn = { days: [5, 300, 1550], later: 10 };
  const differenceOf = (id: string, later: BookInput): string | undefined => {
    const trade = tradesOf(bookAt(0, fixed)).get(id)!;
    const kind = kindOf(trade);
    return kind.difference(kind.rollForward(trade, fixed.later / 365)!, tradesOf(later).get(id)!);
  };

  it.each([
    ["european", { underlying: "B" }, "underlying"],
    ["european", { strike: 101 }, "payoff"],
    ["european", { payoff: "put" }, "payoff"],
    ["european", { exercise: "american" }, "exercise"],
    ["bermudan", { exercise: [iso(20)] }, "exercise"],
    ["formula", { payoff: { expression: "max(S - 101, 0)" } }, "payoff"],
    ["window", { barriers: [] }, "barriers"],
    ["dates", { barriers: [{ type: "down-and-out", level: 60, rebate: 3, monitoring: [iso(20)] }] }, "barriers"],
    ["basket", { underlyings: ["B", "A"] }, "underlying"],
    ["forward", { underlying: "B" }, "underlying"],
    ["forward", { forward: 106 }, "strike"],
    ["bond", { currency: "E" }, "currency"],
    ["bond", { bond: { maturity: iso(1786), ...TERMS } }, "terms"],
    ["cap", { strike: 0.04 }, "terms"],
    ["convertible", { underlying: "B" }, "underlying"],
    ["convertible", { convertible: { maturity: iso(1786), ...TERMS, ratio: 2 } }, "terms"],
  ])("%s finds that %j is another %s", (id, patch, what) => {
    const reason = what === "terms" || what === "barriers" ? `its ${what} differ` : `its ${what} differs`;
    expect(differenceOf(id, bookAt(fixed.later, fixed, { [id]: patch }))).toBe(reason);
  });

  it("takes fixings, quotes and its place in the book for no terms, but its currency", () => {
    const later = bookAt(fixed.later, fixed, {
      cap: { cap: { start: iso(-40), end: iso(1786), frequency: 2, notional: 100, fixing: 0.02 }, volatility: 0.3 },
      arithmetic: { average: { kind: "arithmetic", dates: [300, 1550].map(iso), past: { count: 3, mean: 95 } } },
      lookback: { lookback: { strike: "fixed", monitoring: "continuous", extremum: 120 } },
    });
    const reversed = { ...later, trades: later.trades.toReversed() };
    for (const { id } of later.trades) expect([id, differenceOf(id, reversed)]).toEqual([id, undefined]);
    const dollars = Object.entries(later.market.underlyings!).map(([name, of]) => [name, { ...of, currency: "E" }]);
    const market = { ...later.market, underlyings: Object.fromEntries(dollars) as BookInput["market"]["underlyings"] };
    expect(differenceOf("european", { ...later, market })).toBe("its currency differs");
  });

  /** The first book with a number changed, whose place begins with a trade's id or in the market. */
  function withNumber(path: string, move: number): BookInput {
    const book = structuredClone(bookAt(0, fixed));
    const [first, ...rest] = path.split(".");
    const last = rest.pop() ?? "";
    const trade: object | undefined = book.trades.find(({ id }) => id === first);
    let part: object = trade ?? (Reflect.get(book.market, first) as object);
    for (const name of rest) part = Reflect.get(part, name) as object;
    Reflect.set(part, last, (Reflect.get(part, last) as number) + move);
    return book;
  }

  it.each([
    ["underlyings.A.spot", 1, "spot", ["european", "american", "forward", "convertible"]],
    ["underlyings.A.volatility.termStructure.0.volatility", 0.01, "volatility", ["european", "dates", "convertible"]],
    ["underlyings.A.dividends.yield", 0.01, "dividends", ["european", "forward", "convertible"]],
    ["rates.C.1.zero", 0.001, "rate", ["european", "forward", "convertible"]],
    ["rates.E", 0.001, "rate", ["cap"]],
    ["rates.HW.hullWhite.curve.1.zero", 0.001, "rate", ["bond", "swaption"]],
    ["rates.HW.hullWhite.volatility.0.volatility", 0.001, "volatility", ["bond", "swaption"]],
    ["rates.BK.blackKarasinski.curve", 0.001, "rate", ["early"]],
    ["rates.BK.blackKarasinski.volatility", 0.01, "volatility", ["early"]],
    ["rates.V.vasicek.r0", 0.001, "rate", ["once"]],
    ["rates.V.vasicek.theta", 0.001, "rate", ["once"]],
    ["rates.V.vasicek.sigma", 0.001, "volatility", ["once"]],
    ["rates.T.bdt.annualYields.0", 0.001, "rate", ["lattice"]],
    ["rates.T.bdt.yieldVolatilities.0", 0.01, "volatility", ["lattice"]],
    ["cap.cap.fixing", 0.001, "rate", ["cap"]],
    ["cap.volatility.normal", 0.001, "volatility", ["cap"]],
    ["credit.A.spread.0.spread", 0.001, "credit", ["convertible"]],
  ] as const)("%s moved by %d is the later trade as its %s alone", (path, by, part, ids) => {
    const [before, after] = [tradesOf(bookAt(0, fixed)), tradesOf(withNumber(path, by))];
    for (const id of ids) {
      const pair = { before: before.get(id)!, rolled: before.get(id)!, after: after.get(id)!, years: 0 };
      const kind = kindOf(pair.before);
      const { [part]: moved, ...others } = kind.views(pair);
      // The volatility of the trade counts, not that of its underlying.
      const [view, then] = [moved, pair.after].map((one) =>
        one !== undefined && "underlying" in one
          ? { ...one, underlying: { ...one.underlying, volatility: undefined } }
          : one,
      );
      expect(differing(view, then, id)).toBeUndefined();
      expect(Object.values(others).filter((other) => other !== undefined)).toEqual([]);
      const known = kind.firstOrder?.(pair);
      if (known === undefined || part === "dividends" || /curve.1|C.1|vasicek.[rt]|bdt|fixing/.test(path)) continue;
      expect({ ...known.moves, credit: known.credit }[part]).toBeCloseTo(by, 12);
    }
  });
});
