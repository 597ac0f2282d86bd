/** Swaps, forward rate agreements, notes and forwards on currencies: sums of flows on curves, in closed form. */
import { memoizeBy } from "../../../base/memoize.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Conversion, KeyRate, LinearCurves, LinearFigures, LinearLeg, LinearTrade } from "../../../book/index.ts";
import { doubtsAbout, ONE_SECOND } from "../../../market/index.ts";
import { isoOf } from "../../../market/conventions/index.ts";
import {
  Curve,
  type CurveGradient,
  type FlowView,
  type PaidFlow,
  type PreparedFlows,
  Valuation,
} from "../../../market/linear/index.ts";
import { spotMoveOf, type ResultColumns } from "../../columns/result-columns.ts";
import { equalUpToRounding } from "../../market-moves.ts";
import { type Pair, type TradeKind, UNBOUNDED, type SingleMoveCopies } from "../../plan/kind.ts";
import { type Batch, type PricingMethod, readEach } from "../../plan/method.ts";
import { MAX_RATE, addUnitWarning } from "../../term-warnings.ts";
import { linearBuckets } from "./buckets.ts";

/** Rounding, relative to the sum of the sizes of all flows. */
const ROUNDING = 1e-14;

/** The time of a trade in microseconds of one core. */
const COST = 20;

/** Years over which slopes of curves are taken, which have none at nodes. */
const STEP = 1e-5;

const curvesOf = memoizeBy(({ curves }: LinearCurves): readonly Curve[] =>
  curves.map(({ times, zeros, rule, turns }) => new Curve(times, zeros, rule, turns)),
);

const todays = memoizeBy((market: LinearCurves) => new Valuation(curvesOf(market)));

/** The forward rates of the curves of a market today, −d ln P/dt at 0. */
const slopesOf = memoizeBy((market: LinearCurves): Float64Array =>
  Float64Array.from(curvesOf(market), (curve) => curve.logDiscount(STEP) / STEP),
);

/** A leg as it is valued: the flows that are left, and the value of a unit of its currency, with its sign. */
interface ValuedLeg {
  readonly leg: LinearLeg;
  readonly left: readonly PaidFlow[];
  readonly flows: PreparedFlows;
  /** The value in the leg's own currency. */
  readonly value: number;
  readonly unit: number;
}

/** A trade in one market: values of its legs, and of a unit of each leg's currency in that of the trade. */
class LinearValue {
  readonly legs: readonly ValuedLeg[];
  readonly #trade: LinearTrade;
  readonly #seen: FlowView;
  readonly #on: Valuation;

  constructor(trade: LinearTrade, shift = 0) {
    this.#trade = trade;
    this.#seen = { years: trade.seen, shift };
    const isToday = trade.seen === 0 && shift === 0;
    this.#on = isToday ? todays(trade.market) : new Valuation(curvesOf(trade.market), this.#seen);
    this.legs = trade.legs.map((leg) => {
      const left = this.#left(leg.flows);
      const flows = this.#on.prepare(left);
      return { leg, left, flows, value: this.#on.value(flows), unit: leg.sign * this.unit(leg) };
    });
  }

  /** Returns the value to the holder, with the spots of pairs multiplied by the given factors. */
  value(factorOf?: (pair: string) => number): number {
    return this.legs.reduce(
      (sum, { leg, value, unit }) =>
        sum + value * (factorOf === undefined ? unit : leg.sign * this.unit(leg, factorOf)),
      0,
    );
  }

  /** Returns the value of the derivatives of a leg's flows by its rate, in its currency. */
  byRate({ byRate }: LinearLeg): number {
    return this.#on.value(this.#left(byRate));
  }

  /** Returns the value of a unit of a leg's currency. */
  unit({ conversion }: LinearLeg, factorOf: (pair: string) => number = () => 1): number {
    return conversion.reduce((unit, step) => {
      const { pair, spot, power, base, quote, lag } = step;
      const at = this.#seen.years + lag;
      const rate = spot * factorOf(pair) * (this.#on.discount(quote, at) / this.#on.discount(base, at));
      return power === 1 ? unit * rate : unit / rate;
    }, 1);
  }

  /** Returns the flows that are not yet paid. */
  #left(flows: readonly PaidFlow[]): readonly PaidFlow[] {
    const { years } = this.#seen;
    return years === 0 ? flows : flows.filter(({ factors }) => factors[0].time > years + ONE_SECOND);
  }

  /** Returns the derivatives by all nodes of all curves, as seen today. */
  gradient(): CurveGradient {
    const gradient = this.#on.curves.map(({ zeros }) => new Float64Array(zeros.length));
    for (const { leg, flows, value, unit } of this.legs) {
      this.#on.addSlopes(flows, unit);
      for (const { base, quote, power, lag } of leg.conversion) {
        this.#on.addFactor(quote, lag, power * unit * value);
        this.#on.addFactor(base, lag, -power * unit * value);
      }
    }
    this.#on.takeSlopes((curve, node, slope) => (gradient[curve][node] += slope));
    return gradient;
  }

  /** The sum of the sizes of all amounts. */
  get size(): number {
    let size = 0;
    for (const { flows, unit } of this.legs)
      for (let k = 0; k < flows.amounts.length; k++) size += Math.abs(unit * flows.scaled[k] * flows.amounts[k]);
    return size;
  }

  /** Returns the derivative by the valuation time, along forward rates and at constant spots. */
  theta(): number {
    const curves = curvesOf(this.#trade.market);
    const slopes = slopesOf(this.#trade.market);
    const later = (curve: number, at: number): number =>
      (curves[curve].logDiscount(at + STEP) - curves[curve].logDiscount(at)) / STEP;
    const grown = ({ base, quote, power, lag }: Conversion): number =>
      power * (slopes[quote] - later(quote, lag) - slopes[base] + later(base, lag));
    let theta = 0;
    for (const { leg, left, flows, unit } of this.legs) {
      const drift = leg.conversion.reduce((all, step) => all + grown(step), 0);
      left.forEach(({ factors }, k) => {
        let own = drift;
        for (const { curve, power } of factors) own += power * slopes[curve];
        theta += unit * flows.scaled[k] * flows.amounts[k] * own;
      });
    }
    return theta;
  }
}

/** What a flow pays, and the product of its factors. */
const paymentOf = ({ left, flows }: ValuedLeg, k: number): { readonly amount: number; readonly discount: number } => ({
  amount: left[k].scale * flows.amounts[k],
  discount: flows.scaled[k] / left[k].scale,
});

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
  const rho = gradient?.reduce((sum, part) => part.reduce((all, one) => all + one, sum), 0);
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
  let [delta, gamma] = [0, 0];
  for (const { leg, value, unit } of now.legs) {
    const power = leg.conversion.reduce<number>((sum, step) => sum + step.power, 0);
    delta += (power * unit * value) / pair.spot;
    gamma += (power * (power - 1) * unit * value) / pair.spot ** 2;
  }
  return { delta, gamma };
}

function figuresOf(
  trade: LinearTrade,
  now: LinearValue,
  value: number,
  gradient: CurveGradient | undefined,
): LinearFigures {
  const { report, market } = trade;
  const own = now.legs.map(({ leg, value: one }) => ({ currency: leg.currency, value: leg.sign * one }));
  const nodes = report.includes("nodes") && gradient !== undefined ? nodesOf(market, gradient) : undefined;
  const quotes = report.includes("quotes") && gradient !== undefined ? quotesOf(market, gradient) : undefined;
  return {
    ...fairOf(trade, now, value),
    legs: own,
    ...(report.includes("cashflows") ? { cashflows: cashflowsOf(now) } : {}),
    ...(nodes === undefined ? {} : { nodeSensitivities: nodes }),
    ...(quotes === undefined ? {} : { quoteSensitivities: quotes }),
  };
}

function fairOf({ fair }: LinearTrade, now: LinearValue, value: number): LinearFigures {
  if (fair === undefined) return {};
  const { leg, unit } = now.legs[fair.leg];
  // The value without the leg, in its currency.
  const missing = value / unit;
  if (fair.kind === "zeroCoupon") {
    const { amount, discount } = paymentOf(now.legs[fair.leg], 0);
    const fairAmount = amount - missing / discount;
    return { fairRate: (1 + fairAmount / fair.notional) ** (1 / fair.years) - 1, annuity: fair.notional * discount };
  }
  const byRate = now.byRate(leg);
  const at = fair.at - missing / byRate;
  if (fair.kind === "spread") return { fairSpread: at, annuity: byRate };
  return { fairRate: at, ...(fair.kind === "rate" ? { annuity: Math.abs(byRate) } : {}) };
}

function cashflowsOf({ legs }: LinearValue): NonNullable<LinearFigures["cashflows"]> {
  return legs
    .flatMap((valued, leg) =>
      valued.left.map(({ date }, k) => ({
        leg,
        date: isoOf(date),
        currency: valued.leg.currency,
        ...paymentOf(valued, k),
      })),
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

function rollForward(trade: LinearTrade, years: number): LinearTrade | undefined {
  if (years === 0) return trade;
  const expiry = trade.expiry - years;
  return expiry < ONE_SECOND ? undefined : { ...trade, seen: trade.seen + years, expiry };
}

/** The spots of a trade's pairs, as another trade has them. */
function withSpots(trade: LinearTrade, { legs, pair }: LinearTrade): LinearTrade {
  const spots = new Map(legs.flatMap(({ conversion }) => conversion.map(({ pair: name, spot }) => [name, spot])));
  const moved = trade.legs.map((leg) => ({
    ...leg,
    conversion: leg.conversion.map((step) => ({ ...step, spot: spots.get(step.pair) ?? step.spot })),
  }));
  return { ...trade, legs: moved, ...(pair === undefined ? {} : { pair }) };
}

function views({ rolled, after }: Pair<LinearTrade>): SingleMoveCopies<LinearTrade> {
  const bySpot = withSpots(rolled, after);
  // The fixings of rates belong to the curves.
  const byRate = withSpots(after, rolled);
  return {
    spot: equalUpToRounding(bySpot.legs, rolled.legs) ? undefined : bySpot,
    rate: equalUpToRounding(new LinearValue(byRate).value(), new LinearValue(rolled).value()) ? undefined : byRate,
  };
}

/** What is doubtful about the curves that a trade needs: rates beyond the last instrument. */
function doubtsOf({ legs, market, expiry }: LinearTrade): readonly string[] {
  const isUsed: boolean[] = [];
  for (const { flows } of legs)
    for (const { factors, growth } of flows) {
      for (const { curve } of factors) isUsed[curve] = true;
      if (growth !== undefined && growth.periods.length > 0) isUsed[growth.curve] = true;
    }
  return market.instruments.flatMap((instruments, c) => {
    const last = instruments.at(-1);
    if (last === undefined || !isUsed[c]) return [];
    const time = market.curves[c].times.at(-1)!;
    const place = `market.curves.${market.names[c]}`;
    return doubtsAbout({ place, doubts: [], last: { time, written: `instrument, ${last}` } }, expiry);
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
    market.curves.forEach(({ zeros }, c) => addUnitWarning(warnings, "rate", market.names[c], [...zeros], MAX_RATE));
    if (fair !== undefined && fair.kind !== "forward" && "at" in fair)
      addUnitWarning(warnings, "rate", id, [fair.at], MAX_RATE);
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
  rollForward,
  difference(rolled, after) {
    if (rolled.currency !== after.currency) return "its currency differs";
    return equalUpToRounding(rolled.terms, after.terms) ? undefined : "its terms differ";
  },
  views,
  paid(before, years) {
    const now = new LinearValue(before);
    return now.legs.reduce((sum, valued) => {
      const paid = valued.left.filter(({ factors }) => factors[0].time <= years + ONE_SECOND);
      const open = paid.find(({ growth }) => growth !== undefined && growth.periods.length > 0);
      if (open !== undefined)
        throw new SpecError(`a payment of ${isoOf(open.date)} depends on a fixing between the two dates`);
      return paid.reduce((all, flow) => all + valued.unit * paymentOf(valued, valued.left.indexOf(flow)).amount, sum);
    }, 0);
  },
  firstOrder({ before, rolled, after, years }) {
    const [from, to] = [curvesOf(rolled.market), curvesOf(after.market)];
    const curve = rolled.legs[0].flows[0].factors[0].curve;
    const logDiscount = (t: number): number =>
      from[curve].logDiscount(rolled.seen + t) - from[curve].logDiscount(rolled.seen) - to[curve].logDiscount(t);
    const rate = after.expiry === 0 ? 0 : -logDiscount(after.expiry) / after.expiry;
    const spot = (after.pair?.spot ?? 0) - (before.pair?.spot ?? 0);
    return { moves: { years, spot, paid: 0, volatility: 0, rate }, logDiscount, credit: 0 };
  },
};
