/** The transition of one underlying's market from the earlier book to the later one, part by part. */
import { forwardAt, quotedSmile, type QuotedSmile, type TradeAsset } from "../../book/index.ts";
import { BookError, SpecError } from "../../base/errors.ts";
import {
  type Dividends,
  type ForwardCurve,
  ONE_SECOND,
  integrate,
  integratedVariance,
  rollCurve,
  rollDividends,
  rollVolatility,
  shiftedVolatility,
  type Underlying,
  type Volatility,
  yieldsBefore,
} from "../../market/index.ts";
import { runBlocking } from "../../base/event-loop.ts";
import { paidDividends, equalUpToRounding, withDividends, withoutDividends } from "../market-moves.ts";
import { pairBetween } from "../settlement-moves.ts";
import { type SmileComponent, smileComponents } from "./smile-components.ts";
import type { MarketMoves, Sticky } from "./types.ts";

/** Moves of volatilities up to this are rounding. */
const NEGLIGIBLE = 1e-9;
/** A component that moves no volatility by more than a thousandth of a point is not priced by itself. */
const SMALL = 1e-5;

/**
 * The shares of the market's moves between two books that have been applied: 0 is the earlier book, 1 the later one.
 * Omitted parts have not moved.
 */
export interface MoveShares {
  /** 1 at the date of the later book. */
  readonly time?: 0 | 1;
  /** The share of the move of the quoted spot. */
  readonly spot?: number;
  /** The share of the dividends paid between the dates that is added back to the spot. */
  readonly paid?: number;
  readonly rate?: 0 | 1;
  /** The dividends after the later date, and the yield. */
  readonly dividends?: 0 | 1;
  /** The share of the move of the volatilities. */
  readonly volatility?: number;
  /** 1 for the later volatilities of underlyings whose earlier ones have no quotes to move. */
  readonly own?: 1;
  /** A share of one component of that move alone. */
  readonly component?: { readonly asset: number; readonly index: number; readonly share: number };
}

/** A component of the move of one underlying's volatilities; without an expiry it is a parallel move. */
export type VolatilityComponent = SmileComponent | { readonly part: "level"; readonly move: number; readonly time: 0 };

/** A volatility on the way: the earlier one, after a share of its move and of one component's move. */
interface VolatilityPath {
  /** The components that have an effect. */
  readonly components: readonly VolatilityComponent[];
  /** The move of the level for a trade with an expiry in years from the earlier date. */
  readonly levelAt: (expiry: number) => number;
  /** The largest move of a volatility. */
  readonly size: number;
  /** True if the way ends beside a later volatility that is no fit of moved quotes. */
  readonly hasOwnEnd: boolean;
  at(market: Underlying, position: MoveShares): Volatility;
}

/** The parts of a market whose moves have effects of their own. */
export type MarketPart = "spot" | "paid" | "rate" | "dividends" | "volatility";

/** The market of one underlying of a trade, at any stage between the earlier and the later book. */
export class AssetTransition {
  readonly moved: Readonly<Record<MarketPart, boolean>>;
  readonly volatility: VolatilityPath;
  readonly name: string;
  /** The spot in the earlier book. */
  readonly spot: number;
  /** The move of the quoted spot. */
  readonly spotMove: number;
  /** The amount by which dividends paid between the dates reduced the spot. */
  readonly paid: number;
  readonly #before: TradeAsset;
  readonly #after: TradeAsset;
  readonly #years: number;
  readonly #known = new Map<string, TradeAsset>();

  /**
   * At an expiry of 0 no volatility and no rate matters at the later date.
   *
   * @throws SpecError a dividend that pays all of the spot
   */
  constructor(before: TradeAsset, after: TradeAsset, span: Span) {
    const { years, expiry } = span;
    [this.#before, this.#after, this.#years] = [before, after, years];
    const [from, to] = [before.underlying, after.underlying];
    [this.name, this.spot] = [from.name, from.spot];
    const paid = paidDividends(before, years);
    this.paid = withDividends(to.spot, paid) - to.spot;
    this.spotMove = to.spot - from.spot;
    const isOver = expiry === 0;
    this.volatility = volatilityPath(before, after, span);
    this.moved = {
      spot: this.spotMove !== 0,
      paid: this.paid !== 0,
      rate:
        !isOver &&
        !(equalUpToRounding(rollCurve(from.rates, years), to.rates) && equalUpToRounding(from.shortRate, to.shortRate)),
      dividends: !isOver && !equalUpToRounding(rollDividends(from.dividends, years), to.dividends),
      volatility: this.volatility.size > 0,
    };
  }

  /** Returns the moves of the underlying's market for a trade with an expiry as seen from the later date. */
  movesTo(expiry: number): MarketMoves {
    const [from, to] = [rollCurve(this.#before.underlying.rates, this.#years), this.#after.underlying.rates];
    return {
      years: this.#years,
      spot: this.spotMove,
      paid: this.paid,
      volatility: this.volatility.levelAt(this.#years + expiry),
      rate: this.moved.rate ? (integrate(to, expiry) - integrate(from, expiry)) / expiry : 0,
    };
  }

  /** Returns the underlying at a place on the way. `asset` is its index in the trade. */
  at(position: MoveShares, asset: number): TradeAsset {
    const { time = 0, spot = 0, paid = 0, rate = 0, dividends = 0, volatility = 0, own } = position;
    const { component: any, ...parts } = position;
    const component = any?.asset === asset ? any : undefined;
    const key = [time, spot, paid, rate, dividends, volatility, own, component?.index, component?.share].join(" ");
    let known = this.#known.get(key);
    if (known === undefined)
      this.#known.set(key, (known = this.#made(component === undefined ? parts : { ...parts, component })));
    return known;
  }

  #made(position: MoveShares): TradeAsset {
    const { time = 0, rate = 0, dividends = 0, ...rest } = position;
    const [from, to] = [this.#before.underlying, this.#after.underlying];
    const isStart = Object.values({ time, rate, dividends, ...rest }).every((part) => part === 0);
    if (isStart) return this.#before;
    const market: Underlying = {
      ...from,
      spot: this.#spotAt(position),
      rates: this.#ratesAt(time, rate),
      pair: from.pair && to.pair && pairBetween(from.pair, to.pair, this.#years, { time, rate }, this.joined),
      shortRate: (rate === 1 ? to : from).shortRate,
      dividends: this.#dividendsAt(time, dividends),
    };
    const volatility = this.volatility.at(market, position);
    return { underlying: { ...market, volatility }, volatility };
  }

  /** Returns the curve of the earlier book up to the later date, and that of the later book from then on. */
  readonly joined = (before: ForwardCurve, after: ForwardCurve): ForwardCurve => joined(before, after, this.#years);

  #spotAt({ time = 0, spot = 0, paid = 0 }: MoveShares): number {
    const [from, to] = [this.#before.underlying.spot, this.#after.underlying.spot];
    if (time === 1 && spot === 1 && paid === 1) return to;
    const fallen = time === 0 ? from : withoutDividends(from, paidDividends(this.#before, this.#years));
    return fallen + paid * (time === 0 ? this.paid : from - fallen) + spot * (to - from);
  }

  #ratesAt(time: 0 | 1, moved: 0 | 1): ForwardCurve {
    const [from, to] = [this.#before.underlying.rates, this.#after.underlying.rates];
    if (time === 1) return moved === 1 ? to : rollCurve(from, this.#years);
    return moved === 1 ? this.joined(from, to) : from;
  }

  #dividendsAt(time: 0 | 1, moved: 0 | 1): Dividends {
    const [from, to] = [this.#before.underlying.dividends, this.#after.underlying.dividends];
    if (time === 1) return moved === 1 ? to : rollDividends(from, this.#years);
    if (moved === 0) return from;
    const forecast = to.discrete.map((dividend) => ({ ...dividend, time: dividend.time + this.#years }));
    return { ...yieldsBefore(to, this.#years), discrete: [...paidDividends(this.#before, this.#years), ...forecast] };
  }
}

/** The curve that is `before` for some years, and `after` from then on. */
function joined(before: ForwardCurve, after: ForwardCurve, years: number): ForwardCurve {
  if (years === 0) return after;
  const passed = before.times.filter((time) => time < years - ONE_SECOND).length;
  return {
    times: [...before.times.slice(0, passed), years, ...after.times.map((time) => time + years)],
    values: [...before.values.slice(0, passed + 1), ...after.values],
  };
}

/** The quotes of an asset whose volatility was fitted to them, and is not the trade's own. */
function smileOf({ underlying, volatility }: TradeAsset): QuotedSmile | undefined {
  return underlying.volatility === volatility ? quotedSmile(underlying) : undefined;
}

/** The time between the dates, the expiry of the trade as seen from the later one, and what the quotes keep. */
interface Span {
  readonly years: number;
  readonly expiry: number;
  readonly sticky: Sticky;
}

function volatilityPath(before: TradeAsset, after: TradeAsset, span: Span): VolatilityPath {
  const smile = smileOf(before);
  const isLeft = smile !== undefined && smile.quotes.some(({ time }) => time > span.years + ONE_SECOND);
  return isLeft ? quotedPath(smile, before, after, span) : parallelPath(before, after, span);
}

/**
 * The implied volatility of an asset at a time and a strike: that of its fit to quotes, or of a volatility that depends
 * on time only; NaN for others.
 */
function impliedOf(asset: TradeAsset, time: number, strike: number): number {
  const smile = smileOf(asset);
  if (smile !== undefined) return smile.impliedAt(time, strike);
  const { volatility } = asset;
  return volatility.kind === "deterministic"
    ? Math.sqrt(integratedVariance(volatility.sigma, time) / time)
    : Number.NaN;
}

/**
 * Quotes move at their strikes or at their moneyness, and are fitted again in each market. Components are those of the
 * move of the fitted smile. The quotes themselves end at the volatilities of the later fit, so that a fit which gives
 * its own volatilities back ends at the later one. The misfit of the earlier quotes, which they lose on the way, moves
 * no fit to first order, as it is orthogonal to what the fit can follow.
 */
function quotedPath(
  { quotes, impliedAt, refit }: QuotedSmile,
  before: TradeAsset,
  after: TradeAsset,
  { years, expiry, sticky }: Span,
): VolatilityPath {
  const ends = quotes.map(({ time, strike, forward }) => {
    const left = time - years;
    // A trade that is over has no later volatility.
    if (!(left > ONE_SECOND) || expiry === 0) return undefined;
    const then = sticky === "strike" ? strike : (strike * forwardAt(after.underlying, left)) / forward;
    const [from, to] = [impliedAt(time, strike), impliedOf(after, left, then)];
    return Number.isFinite(to - from) ? { from, to } : undefined;
  });
  const fitted = ends.map((end) => (end === undefined ? 0 : end.to - end.from));
  const isMoved = Math.max(...fitted.map(Math.abs)) > NEGLIGIBLE;
  const moves = quotes.map(({ implied }, i) => (isMoved ? (ends[i]?.to ?? implied) - implied : 0));
  const all = smileComponents(quotes, fitted);
  const components = all.filter(({ moves: own }) => Math.max(...own.map(Math.abs)) > SMALL);
  const levels = all.filter(({ part }) => part === "level");
  return {
    components,
    levelAt: (at) => (levels.find(({ time }) => time >= at - ONE_SECOND) ?? levels[levels.length - 1]).move,
    size: Math.max(...moves.map(Math.abs)),
    hasOwnEnd: false,
    at: (market, { time = 0, volatility = 0, component }) => {
      if (time === 1 && expiry === 0) return rollVolatility(before.volatility, years);
      const own = component === undefined ? undefined : components[component.index].moves;
      const shifts = moves.map((move, i) => volatility * move + (component?.share ?? 0) * (own?.[i] ?? 0));
      const keep = sticky === "strike" ? "strike" : "moneyness";
      return refitted(() => refit({ carry: market, years: time * years, keep, moves: shifts }), market);
    },
  };
}

/** The fit of moved quotes. @throws SpecError that names the underlying, if there is none */
function refitted(refit: () => Volatility | undefined, { name, spot }: Underlying): Volatility {
  let cause: unknown;
  try {
    const found = runBlocking(refit);
    if (found !== undefined) return found;
  } catch (error) {
    if (!(error instanceof SpecError || error instanceof BookError)) throw error;
    cause = error;
  }
  const reason = cause instanceof Error ? `: ${cause.message}` : "";
  throw new SpecError(
    `the quotes of ${name}, moved on the way to the later book, have no fit at the spot ${spot}${reason}; ` +
      "price both books and compare them",
    { cause },
  );
}

/**
 * A volatility without quotes moves in parallel, if it depends on time only: so that it has the later total variance to
 * expiry, or that of the later fit at the forward. Another volatility does not move on the way.
 */
function parallelPath(before: TradeAsset, after: TradeAsset, { years, expiry }: Span): VolatilityPath {
  const rolled = rollVolatility(before.volatility, years);
  const move = rolled.kind === "deterministic" && expiry > 0 ? parallelMove(rolled.sigma, after, expiry) : 0;
  const at: VolatilityPath["at"] = (_, { time = 0, volatility = 0, component, own: end }) => {
    if (end === 1) return after.volatility;
    const own = time === 1 ? rolled : before.volatility;
    const shift = move * (volatility + (component?.share ?? 0));
    return shift === 0 ? own : shiftedVolatility(own, shift);
  };
  return {
    components: move === 0 ? [] : [{ part: "level", move, time: 0 }],
    levelAt: () => move,
    size: Math.abs(move),
    hasOwnEnd:
      expiry > 0 && !equalUpToRounding(move === 0 ? rolled : shiftedVolatility(rolled, move), after.volatility),
    at,
  };
}

/** The shift Δ with ∫(σ + Δ)² dt = the later total variance to expiry. */
function parallelMove(sigma: Parameters<typeof integrate>[0], after: TradeAsset, expiry: number): number {
  const volatility = impliedOf(after, expiry, forwardAt(after.underlying, expiry));
  const gained = volatility * volatility * expiry - integratedVariance(sigma, expiry);
  if (!Number.isFinite(gained) || gained === 0) return 0;
  const mean = integrate(sigma, expiry);
  const move = gained / (mean + Math.sqrt(Math.max(mean * mean + expiry * gained, 0)));
  return Math.abs(move) > NEGLIGIBLE ? move : 0;
}

/**
 * A cache of the transitions of all underlyings between two books. Trades share its entries, so that each volatility is
 * fitted once.
 */
export class AssetTransitionCache {
  readonly #sticky: Sticky;
  readonly #known = new Map<Underlying, Map<Underlying, Map<string, AssetTransition>>>();

  constructor(sticky: Sticky) {
    this.#sticky = sticky;
  }

  /**
   * Returns the transition of an underlying. `expiry` is that of the trade as seen from the later date. @throws as
   * `AssetTransition`
   */
  between(before: TradeAsset, after: TradeAsset, years: number, expiry: number): AssetTransition {
    const make = (): AssetTransition => new AssetTransition(before, after, { years, expiry, sticky: this.#sticky });
    if (smileOf(before) === undefined || after.volatility !== after.underlying.volatility) return make();
    const ofBefore = entryOf(this.#known, before.underlying, () => new Map<Underlying, Map<string, AssetTransition>>());
    const ofBoth = entryOf(ofBefore, after.underlying, () => new Map<string, AssetTransition>());
    // Fits do not depend on the trade, unless it is over.
    return entryOf(ofBoth, `${years} ${expiry === 0}`, make);
  }
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let entry = map.get(key);
  if (entry === undefined) map.set(key, (entry = make()));
  return entry;
}
