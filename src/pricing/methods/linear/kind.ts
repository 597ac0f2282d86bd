/** Swaps, forward rate agreements, notes and forwards on currencies: sums of flows on curves, in closed form. */
import { SpecError } from "../../../base/errors.ts";
import { memoizeBy } from "../../../base/memoize.ts";
import { EVERY, type KeyRate, type LinearCurves, type LinearFigures, type LinearTrade } from "../../../book/index.ts";
import { doubtsAbout, ONE_SECOND } from "../../../market/index.ts";
import { isoOf } from "../../../market/conventions/index.ts";
import { type CurveGradient, endOf } from "../../../market/linear/index.ts";
import { spotMoveOf, type ResultColumns } from "../../columns/result-columns.ts";
import { equalUpToRounding } from "../../market-moves.ts";
import { type Pair, type RateSlopes, type TradeKind, UNBOUNDED, type SingleMoveCopies } from "../../plan/kind.ts";
import { type Batch, type PricingMethod, readEach } from "../../plan/method.ts";
import { MAX_RATE, addUnitWarning } from "../../term-warnings.ts";
import { linearBuckets } from "./buckets.ts";
import { creditFigures, hazardMove, sumOf, withSurvival } from "./credit.ts";
import { inMarket, rollForward, withSpots } from "./roll-forward.ts";
import { curvesOf, LinearValue, paymentOf, ROUNDING } from "./value.ts";

/** The time of a trade in microseconds of one core. */
const COST = 20;

const tradeOf = ({ columns }: Batch, trade: number): LinearTrade => columns.givenOf(trade) as LinearTrade;

/** The method of linear trades. Error: rounding. Verified: test/pricing/linear.test.ts. */
const byFlows: PricingMethod = {
  name: "closed-form",
  minCost: COST,
  accepts: () => COST,
  open: () => ({
    plan: (batch, trades) =>
      Promise.resolve({
        run: () => Promise.resolve(),
        read: (results, signal) => readEach(trades, results, signal, (trade) => read(batch, trade, results)),
        [Symbol.dispose]() {},
      }),
    [Symbol.dispose]() {},
  }),
};

function read(batch: Batch, i: number, results: ResultColumns): void {
  const trade = tradeOf(batch, i);
  const now = new LinearValue(trade);
  const value = now.value();
  const error = ROUNDING * now.size;
  const gradient = batch.settings.greeks === "all" || trade.report.length > 0 ? now.gradient() : undefined;
  // Of interest rates: hazard rates have a sensitivity of their own.
  const rho = gradient && [...byRates(trade, gradient).values()].reduce((sum, { parallel }) => sum + parallel, 0);
  const spots = spotGreeks(trade, now);
  results.setToday(
    i,
    value,
    error,
    { ...spots, theta: now.theta(), vega: 0, rho },
    { delta: 0, gamma: 0, theta: 0, vega: 0, rho: 0 },
  );
  results.own.set(i, {
    figures: figuresOf(trade, now, value, gradient),
    notes: [],
    computed: { precision: "f64", backend: "cpu" },
  });
  results.priced(i, "closed-form");
  const { cases, dates, scenarios } = batch.columns.cases;
  if (scenarios === undefined) return;
  cases.forEach(({ date, shift: { rate } }, k) => {
    const then = rollForward(trade, dates[date]);
    if (then === undefined) return;
    const moved = new LinearValue(then, rate);
    results.setScenarios(
      batch.columns.rowOf(i) + k,
      (s) => moved.value((pair) => 1 + spotMoveOf(scenarios.spot[s], pair)),
      () => error,
    );
  });
}

/** Derivatives by the spot of the pair: none of a trade on several, 0 of a trade on none. */
function spotGreeks(trade: LinearTrade, now: LinearValue): { readonly delta?: number; readonly gamma?: number } {
  const { pair, legs } = trade;
  if (pair === undefined) return legs.every(({ conversion }) => conversion.length === 0) ? { delta: 0, gamma: 0 } : {};
  const gamma = now.legs.reduce((sum, { leg, value, unit }) => {
    const power = leg.conversion.reduce<number>((all, step) => all + step.power, 0);
    return sum + (power * (power - 1) * unit * value) / pair.spot ** 2;
  }, 0);
  return { delta: byPair(now).get(pair.name) ?? 0, gamma };
}

/** Returns the derivatives by the spot of each pair. */
function byPair({ legs }: LinearValue): ReadonlyMap<string, number> {
  const slopes = new Map<string, number>();
  for (const { leg, value, unit } of legs)
    for (const { pair, spot, power } of leg.conversion)
      slopes.set(pair, (slopes.get(pair) ?? 0) + (power * unit * value) / spot);
  return slopes;
}

function figuresOf(
  trade: LinearTrade,
  now: LinearValue,
  value: number,
  gradient: CurveGradient | undefined,
): LinearFigures {
  const { report, market } = trade;
  const own = now.legs.map(({ leg, value: one }) => ({ currency: leg.currency, value: leg.sign * one }));
  return {
    ...fairOf(trade, now, value),
    ...creditFigures(trade, now, gradient),
    legs: own,
    ...(report.includes("cashflows") ? { cashflows: cashflowsOf(now) } : {}),
    ...(report.includes("nodes") && gradient !== undefined ? { nodeSensitivities: nodesOf(market, gradient) } : {}),
    ...(report.includes("quotes") && gradient !== undefined ? { quoteSensitivities: quotesOf(market, gradient) } : {}),
  };
}

function fairOf({ fair }: LinearTrade, now: LinearValue, value: number): LinearFigures {
  if (fair === undefined || fair.kind === "credit") return {};
  const { leg, unit } = now.legs[fair.leg];
  // The value without the leg, in its currency.
  const missing = value / unit;
  if (fair.kind === "zeroCoupon") {
    const { amount, discount } = paymentOf(now.legs[fair.leg], 0);
    const fairAmount = amount - missing / discount;
    return { fairRate: (1 + fairAmount / fair.notional) ** (1 / fair.years) - 1, annuity: fair.notional * discount };
  }
  const byRate = now.valueOf(leg.byRate);
  const at = fair.at - missing / byRate;
  if (fair.kind === "spread") return { fairSpread: at, annuity: byRate };
  return { fairRate: at, ...(fair.kind === "rate" ? { annuity: Math.abs(byRate) } : {}) };
}

function cashflowsOf({ legs }: LinearValue): NonNullable<LinearFigures["cashflows"]> {
  return legs
    .flatMap((valued, leg) =>
      valued.left.flatMap(({ date, atDefault }, k) =>
        // A payment at default has no day.
        atDefault === undefined
          ? [{ leg, date: isoOf(date), currency: valued.leg.currency, ...paymentOf(valued, k) }]
          : [],
      ),
    )
    .sort((a, b) => a.leg - b.leg || (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
}

/** The derivatives by the nodes of curves on which the trade depends. */
function nodesOf({ names, curves }: LinearCurves, gradient: CurveGradient) {
  const entries = gradient.map((part, c) => {
    const nodes = Array.from(part, (slope, k): KeyRate => [curves[c].times[k], slope]);
    return [names[c], nodes] as const;
  });
  // Svensson's curve has parameters, and no nodes.
  const isUsed = ([, nodes]: (typeof entries)[number], c: number): boolean =>
    curves[c].rule !== "svensson" && nodes.some(([, slope]) => slope !== 0);
  return Object.fromEntries(entries.filter(isUsed));
}

/** Returns the derivatives by the rates of each currency: a parallel move is one of Svensson's first parameter. */
function byRates({ market }: LinearTrade, gradient: CurveGradient): ReadonlyMap<string, RateSlopes> {
  const slopes = new Map<string, RateSlopes>();
  gradient.forEach((part, c) => {
    if (market.recoveries[c] !== undefined || part.every((slope) => slope === 0)) return;
    const { rule, times } = market.curves[c];
    const of = market.owners[c] ?? EVERY;
    const { parallel, nodes } = slopes.get(of) ?? { parallel: 0, nodes: [] };
    const hasNodes = rule !== "svensson";
    const own = Array.from(part, (slope, k): KeyRate => [times[k], slope]);
    slopes.set(of, {
      parallel: parallel + (hasNodes ? sumOf(part) : part[0]),
      nodes: hasNodes && nodes !== undefined ? [...nodes, ...own] : undefined,
    });
  });
  return slopes;
}

/** The first quote that moves each node, and the one after the last. */
const movedBy = memoizeBy(({ byQuotes }: LinearCurves) =>
  byQuotes.map((row) => [row.findIndex((one) => one !== 0), row.findLastIndex((one) => one !== 0) + 1] as const),
);

/** The derivatives by the quotes of curves: those by nodes times those of the nodes by the quotes. */
function quotesOf(market: LinearCurves, gradient: CurveGradient) {
  const { names, instruments, byQuotes } = market;
  const moved = movedBy(market);
  const found = instruments.flatMap((of, c) => (of.length === 0 ? [] : [c]));
  const slopes = new Float64Array(byQuotes[0]?.length ?? 0);
  let node = 0;
  for (const c of found)
    for (const slope of gradient[c]) {
      const row = byQuotes[node];
      const [from, to] = moved[node++];
      if (slope !== 0) for (let quote = Math.max(from, 0); quote < to; quote++) slopes[quote] += slope * row[quote];
    }
  const result: Record<string, Record<string, number>> = {};
  let from = 0;
  for (const c of found) {
    const own = slopes.subarray(from, (from += instruments[c].length));
    if (own.some((slope) => slope !== 0))
      result[names[c]] = Object.fromEntries(instruments[c].map((name, k) => [name, own[k]]));
  }
  return result;
}

function views({ rolled, after }: Pair<LinearTrade>): SingleMoveCopies<LinearTrade> {
  const bySpot = withSpots(rolled, after);
  // The fixings of rates belong to the curves.
  const isCredit = rolled.fair?.kind === "credit";
  const calm = isCredit ? { ...after, market: withSurvival(after.market, rolled.market, -rolled.seen) } : after;
  const byRate = withSpots(calm, rolled);
  const byCredit = { ...rolled, market: withSurvival(rolled.market, after.market, rolled.seen) };
  const value = new LinearValue(rolled).value();
  const isMoved = (one: LinearTrade): boolean => !equalUpToRounding(new LinearValue(one).value(), value);
  return {
    spot: equalUpToRounding(bySpot.legs, rolled.legs) ? undefined : bySpot,
    rate: isMoved(byRate) ? byRate : undefined,
    ...(isCredit ? { credit: isMoved(byCredit) ? byCredit : undefined } : {}),
  };
}

/** What is doubtful about the curves that a trade needs: rates beyond the last instrument. */
function doubtsOf({ legs, market, expiry }: LinearTrade): readonly string[] {
  const isUsed: boolean[] = [];
  let lastDefault = 0;
  for (const { flows } of legs)
    for (const { factors, growth, atDefault } of flows) {
      for (const { curve } of factors) isUsed[curve] = true;
      if (growth !== undefined && growth.periods.length > 0) isUsed[growth.curve] = true;
      if (atDefault === undefined) continue;
      isUsed[atDefault.survival] = true;
      lastDefault = Math.max(lastDefault, atDefault.end);
    }
  return market.instruments.flatMap((instruments, c) => {
    const last = instruments.at(-1);
    if (last === undefined || !isUsed[c]) return [];
    const time = market.curves[c].times.at(-1)!;
    const place = `market.curves.${market.names[c]}`;
    // The last coupon is paid after the issuer has survived.
    const until = market.recoveries[c] === undefined ? expiry : lastDefault;
    return doubtsAbout({ place, doubts: [], last: { time, written: `instrument, ${last}` } }, until);
  });
}

/** The trade kind of linear trades, such as swaps: their pricing methods, error targets, bounds and warnings. */
export const linearKind: TradeKind<LinearTrade> = {
  methods: [byFlows],
  add() {},
  targetErrorOf: () => Number.NaN,
  boundsOf: () => Promise.resolve({ at: () => () => UNBOUNDED, rounding: () => 0 }),
  warnings({ market, id, fair }) {
    const warnings: string[] = [];
    market.curves.forEach(({ zeros }, c) => {
      // Hazard rates of issuers in distress are larger than interest rates are.
      if (market.recoveries[c] === undefined) addUnitWarning(warnings, "rate", market.names[c], [...zeros], MAX_RATE);
    });
    if (fair !== undefined && fair.kind !== "forward" && "at" in fair)
      addUnitWarning(warnings, "rate", id, [fair.at], MAX_RATE);
    if (fair?.kind === "credit") addUnitWarning(warnings, "coupon", id, [fair.coupon], MAX_RATE);
    return warnings;
  },
  doubts: doubtsOf,
  buckets: {
    directions: () => [],
    known: (trade) =>
      linearBuckets(trade, {
        value: (one, factorOf) => new LinearValue(one).value(factorOf),
        byQuotes: ({ market }) => quotesOf(market, new LinearValue(trade).gradient()),
        rounding: (one) => ROUNDING * new LinearValue(one).size,
      }),
  },
  byPair: (trade) => byPair(new LinearValue(trade)),
  byRates: (trade) => byRates(trade, new LinearValue(trade).gradient()),
  rollForward,
  inMarket,
  difference(rolled, after) {
    if (rolled.currency !== after.currency) return "its currency differs";
    return equalUpToRounding(rolled.terms, after.terms) ? undefined : "its terms differ";
  },
  views,
  paid(before, years) {
    const now = new LinearValue(before);
    return now.legs.reduce((sum, valued) => {
      // The issuer has survived, so that nothing was paid at default.
      const paid = valued.left.filter((one) => one.atDefault === undefined && endOf(one) <= years + ONE_SECOND);
      const isReset = valued.leg.resets !== undefined;
      const open = paid.find(({ growth }) => isReset || (growth !== undefined && growth.periods.length > 0));
      if (open !== undefined)
        throw new SpecError(`a payment of ${isoOf(open.date)} depends on a fixing between the two dates`);
      return paid.reduce((all, flow) => all + valued.unit * paymentOf(valued, valued.left.indexOf(flow)).amount, sum);
    }, 0);
  },
  firstOrder({ before, rolled, after, years }) {
    const [from, to] = [curvesOf(rolled.market), curvesOf(after.market)];
    const [{ factors, atDefault }] = rolled.legs.flatMap(({ flows }) => flows);
    const curve = atDefault?.discount ?? factors[0].curve;
    const logDiscount = (t: number): number =>
      from[curve].logDiscount(rolled.seen + t) - from[curve].logDiscount(rolled.seen) - to[curve].logDiscount(t);
    const rate = after.expiry === 0 ? 0 : -logDiscount(after.expiry) / after.expiry;
    const spot = (after.pair?.spot ?? 0) - (before.pair?.spot ?? 0);
    return { moves: { years, spot, paid: 0, volatility: 0, rate }, logDiscount, credit: hazardMove(rolled, after) };
  },
};
