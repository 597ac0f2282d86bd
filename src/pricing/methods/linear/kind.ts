/** Swaps, forward rate agreements, notes and forwards on currencies: sums of flows on curves, in closed form. */
import { memoizeBy } from "../../../base/memoize.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Conversion, KeyRate, LinearCurves, LinearFigures, LinearLeg, LinearTrade } from "../../../book/index.ts";
import { doubtsAbout, ONE_SECOND } from "../../../market/index.ts";
import { isoOf } from "../../../market/conventions/index.ts";
import {
  Curve,
  type CurveGradient,
  type Flow,
  type PaidFlow,
  type FlowView,
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

/** A trade in one market: values of its legs, and of a unit of each leg's currency in that of the trade. */
class LinearValue {
  readonly #trade: LinearTrade;
  readonly #seen: FlowView;
  readonly #on: Valuation;

  constructor(trade: LinearTrade, shift = 0) {
    this.#trade = trade;
    this.#seen = { years: trade.seen, shift };
    const isToday = trade.seen === 0 && shift === 0;
    this.#on = isToday ? todays(trade.market) : new Valuation(curvesOf(trade.market), this.#seen);
  }

  /** Returns the value to the holder, with the spots of pairs multiplied by the given factors. */
  value(factorOf: (pair: string) => number = () => 1): number {
    return this.#trade.legs.reduce(
      (sum, leg) => sum + leg.sign * this.unit(leg, factorOf) * this.#on.value(this.left(leg.flows)),
      0,
    );
  }

  /** Returns the value of flows in their own currency. */
  of(flows: readonly PaidFlow[]): number {
    return this.#on.value(this.left(flows));
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
  left(flows: readonly PaidFlow[]): readonly PaidFlow[] {
    const { years } = this.#seen;
    return years === 0 ? flows : flows.filter(({ factors }) => factors[0].time > years + ONE_SECOND);
  }

  /** Returns what a flow pays, and the product of its factors. */
  payment(flow: PaidFlow): { readonly amount: number; readonly discount: number } {
    const discount = flow.factors.reduce(
      (all, { curve, time, power }) => all * this.#on.discount(curve, time) ** power,
      1,
    );
    return { amount: flow.scale * this.#on.amount(flow), discount };
  }

  /** Returns the derivatives by all nodes of all curves, as seen today. */
  gradient(): CurveGradient {
    return this.#on.gradient(this.#trade.legs.flatMap((leg) => leg.flows.map((flow) => converted(flow, leg))));
  }

  /** The sum of the sizes of all amounts. */
  get size(): number {
    return this.#trade.legs.reduce((sum, leg) => {
      const unit = this.unit(leg);
      return leg.flows.reduce((all, flow) => {
        const { amount, discount } = this.payment(flow);
        return all + Math.abs(unit * amount * discount);
      }, sum);
    }, 0);
  }

  /** Returns the derivative by the valuation time, along forward rates and at constant spots. */
  theta(): number {
    const curves = curvesOf(this.#trade.market);
    const forward = (curve: number, at: number): number =>
      (curves[curve].logDiscount(at + STEP) - curves[curve].logDiscount(at)) / STEP;
    const grown = ({ base, quote, power, lag }: Conversion): number =>
      power * (forward(quote, 0) - forward(quote, lag) - forward(base, 0) + forward(base, lag));
    return this.#trade.legs.reduce((sum, leg) => {
      const unit = leg.sign * this.unit(leg);
      const drift = leg.conversion.reduce((all, step) => all + grown(step), 0);
      return leg.flows.reduce((all, flow) => {
        const own = flow.factors.reduce((rate, { curve, power }) => rate + power * forward(curve, 0), drift);
        const { amount, discount } = this.payment(flow);
        return all + unit * amount * discount * own;
      }, sum);
    }, 0);
  }
}

/** A flow in the currency of its trade. */
function converted(flow: Flow, { sign, conversion }: LinearLeg): Flow {
  const factors = conversion.flatMap(({ base, quote, power, lag }) => [
    { curve: quote, time: lag, power },
    { curve: base, time: lag, power: power === 1 ? (-1 as const) : (1 as const) },
  ]);
  const unit = conversion.reduce<number>((all, { spot, power }) => all * spot ** power, sign);
  return { ...flow, scale: flow.scale * unit, factors: [...flow.factors, ...factors] };
}

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
  for (const leg of legs) {
    const power = leg.conversion.reduce<number>((sum, step) => sum + step.power, 0);
    const value = leg.sign * now.unit(leg) * now.of(leg.flows);
    delta += (power * value) / pair.spot;
    gamma += (power * (power - 1) * value) / pair.spot ** 2;
  }
  return { delta, gamma };
}

function figuresOf(
  trade: LinearTrade,
  now: LinearValue,
  value: number,
  gradient: CurveGradient | undefined,
): LinearFigures {
  const { legs, report, market } = trade;
  const own = legs.map((leg) => ({ currency: leg.currency, value: leg.sign * now.of(leg.flows) }));
  const nodes = report.includes("nodes") && gradient !== undefined ? nodesOf(market, gradient) : undefined;
  const quotes = report.includes("quotes") && gradient !== undefined ? quotesOf(market, gradient) : undefined;
  return {
    ...fairOf(trade, now, value),
    legs: own,
    ...(report.includes("cashflows") ? { cashflows: cashflowsOf(trade, now) } : {}),
    ...(nodes === undefined ? {} : { nodeSensitivities: nodes }),
    ...(quotes === undefined ? {} : { quoteSensitivities: quotes }),
  };
}

function fairOf({ fair, legs }: LinearTrade, now: LinearValue, value: number): LinearFigures {
  if (fair === undefined) return {};
  const leg = legs[fair.leg];
  // The value without the leg, in its currency.
  const missing = value / (leg.sign * now.unit(leg));
  if (fair.kind === "zeroCoupon") {
    const [flow] = leg.flows;
    const { amount, discount } = now.payment(flow);
    const fairAmount = amount - missing / discount;
    return { fairRate: (1 + fairAmount / fair.notional) ** (1 / fair.years) - 1, annuity: fair.notional * discount };
  }
  const byRate = now.of(leg.byRate);
  const at = fair.at - missing / byRate;
  if (fair.kind === "spread") return { fairSpread: at, annuity: byRate };
  return { fairRate: at, ...(fair.kind === "rate" ? { annuity: Math.abs(byRate) } : {}) };
}

function cashflowsOf({ legs }: LinearTrade, now: LinearValue): NonNullable<LinearFigures["cashflows"]> {
  return legs
    .flatMap(({ flows, currency }, leg) =>
      flows.map((flow) => ({ leg, date: isoOf(flow.date), currency, ...now.payment(flow) })),
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

/** The derivatives by the quotes of curves: those by nodes times those of the nodes by the quotes. */
function quotesOf({ names, instruments, byQuotes }: LinearCurves, gradient: CurveGradient) {
  const found = instruments.flatMap((of, c) => (of.length === 0 ? [] : [c]));
  const byNode = found.flatMap((c) => [...gradient[c]]);
  let at = 0;
  const entries = found.map((c) => {
    const own = instruments[c].map((name) => {
      const quote = at++;
      return [name, byNode.reduce((sum, one, node) => sum + one * byQuotes[node][quote], 0)] as const;
    });
    return [names[c], Object.fromEntries(own)] as const;
  });
  return Object.fromEntries(entries.filter(([, own]) => Object.values(own).some((one) => one !== 0)));
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
  const used = new Set(
    legs
      .flatMap(({ flows }) =>
        flows.flatMap(({ factors, growth }) => [...factors, ...(growth?.periods.length ? [growth] : [])]),
      )
      .map(({ curve }) => curve),
  );
  return [...used].flatMap((c) => {
    const last = market.instruments[c].at(-1);
    if (last === undefined) return [];
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
    return before.legs.reduce((sum, leg) => {
      const paid = leg.flows.filter(({ factors }) => factors[0].time <= years + ONE_SECOND);
      const open = paid.find(({ growth }) => growth !== undefined && growth.periods.length > 0);
      if (open !== undefined)
        throw new SpecError(`a payment of ${isoOf(open.date)} depends on a fixing between the two dates`);
      const unit = leg.sign * now.unit(leg);
      return paid.reduce((all, flow) => all + unit * now.payment(flow).amount, sum);
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
