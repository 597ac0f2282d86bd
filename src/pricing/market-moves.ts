/** The moves of a market between two dates. */
import type { AnyTrade, Settlement, Trade } from "../book/index.ts";
import { power } from "../base/elementary.ts";
import { SpecError } from "../base/errors.ts";
import { totalVariance, volatilityAt } from "../pde/fdm/index.ts";
import {
  afterDividend,
  alphaOf,
  type DiscreteDividend,
  ONE_SECOND,
  integrate,
  isStochastic,
  type Underlying,
  varianceOf,
  type Volatility,
} from "../market/index.ts";
import type { MarketMoves, Pair, SingleMoveCopies } from "./plan/kind.ts";
import { settlementBetween } from "./settlement-moves.ts";
import { tradeProblem } from "./trade-problem.ts";

/** Moves below this are rounding. */
const NEGLIGIBLE = 1e-12;

/** Returns the moves of an option's market. @throws SpecError a dividend that pays all of the spot */
export function marketMoves({ before, rolled, after, years }: Pair<Trade>): MarketMoves {
  const { spot } = after.underlying;
  return {
    years,
    spot: spot - before.underlying.spot,
    paid: withDividends(spot, paidDividends(before, years)) - spot,
    volatility: significant(volatilityMove(rolled, after)),
    rate: significant(rateMove(rolled, after)),
  };
}

function significant(move: number): number {
  return Math.abs(move) < NEGLIGIBLE ? 0 : move;
}

/** Returns the dividends that a trade's underlying pays within the given years. */
export function paidDividends({ underlying }: Pick<Trade, "underlying">, years: number): readonly DiscreteDividend[] {
  return underlying.dividends.discrete.filter(({ time }) => time <= years + ONE_SECOND);
}

/**
 * Returns the spot before dividends were paid, given the spot after their payment. @throws SpecError a dividend that
 * pays all of the spot
 */
export function withDividends(spot: number, paid: readonly DiscreteDividend[]): number {
  return paid.toReversed().reduce((price, { cash, proportional }) => {
    if (proportional >= 1) throw new SpecError("a dividend between the two dates pays all of the spot");
    return (price + cash) / (1 - proportional);
  }, spot);
}

/**
 * Returns the spot after dividends were paid, given the spot before their payment. @throws SpecError nothing is left of
 * the spot
 */
export function withoutDividends(spot: number, paid: readonly DiscreteDividend[]): number {
  const left = paid.reduce(afterDividend, spot);
  if (left > 0) return left;
  throw new SpecError(`the dividends between the two dates pay all of the spot, ${spot}`);
}

/** A trade on one underlying. */
type OnUnderlying = AnyTrade & { readonly underlying: Underlying; readonly volatility: Volatility };

/**
 * Returns copies of a trade, one for each part of its market that has moved, volatility included: in each copy only
 * that part has its later value. @throws as `withoutDividends`
 */
export function viewsOfMarket<T extends OnUnderlying>(pair: Pair<T>): SingleMoveCopies<T> {
  const { rolled, after } = pair;
  const volatility = equalUpToRounding(rolled.volatility, after.volatility)
    ? undefined
    : { ...rolled, volatility: after.volatility };
  const views: SingleMoveCopies<T> = { ...viewsOfUnderlying(pair), volatility };
  const [from, to] = [settlementIn(rolled), settlementIn(after)];
  if (from === undefined || to === undefined) return views;
  const settled = (part: "spot" | "rate" | "volatility"): T | undefined => {
    const settlement = settlementBetween(from, to, 0, { [part]: 1 }, (_, later) => later);
    const isMoved = !equalUpToRounding({ ...settlement, payment: 0 }, { ...from, payment: 0 });
    const view = views[part];
    return view === undefined && !isMoved ? undefined : { ...(view ?? rolled), settlement };
  };
  return { ...views, spot: settled("spot"), rate: settled("rate"), volatility: settled("volatility") };
}

const settlementIn = (trade: AnyTrade): Settlement | undefined =>
  "settlement" in trade ? trade.settlement : undefined;

/**
 * Returns copies of a trade, one for each part of its underlying's market that has moved: in each copy only that part
 * has its later value. @throws as `withoutDividends`
 */
export function viewsOfUnderlying<T extends AnyTrade & { readonly underlying: Underlying }>({
  before,
  rolled,
  after,
  years,
}: Pair<T>): SingleMoveCopies<T> {
  const [from, to] = [rolled.underlying, after.underlying];
  const market = (change: Partial<Underlying>): T => ({ ...rolled, underlying: { ...from, ...change } });
  const paid = paidDividends(before, years);
  return {
    exDividend: paid.length === 0 ? undefined : market({ spot: withoutDividends(from.spot, paid) }),
    spot: from.spot === to.spot ? undefined : market({ spot: to.spot }),
    rate: equalUpToRounding([from.rates, from.pair], [to.rates, to.pair])
      ? undefined
      : // The yield of a pair is the rate of its first currency.
        market({ rates: to.rates, ...(to.pair === undefined ? {} : { pair: to.pair, dividends: to.dividends }) }),
    dividends:
      to.pair !== undefined || equalUpToRounding(from.dividends, to.dividends)
        ? undefined
        : market({ dividends: to.dividends }),
  };
}

/**
 * Deterministic volatilities: the Δ with ∫(σ + Δ)² dt = ∫σ′² dt to expiry, so that Black and Scholes' prices are
 * matched. Others: the volatility today at the earlier spot, σ′ − σ.
 */
function volatilityMove(rolled: Trade, after: Trade): number {
  if (after.expiry === 0) return 0;
  if (isStochastic(rolled.volatility) || isStochastic(after.volatility))
    return volatilityToday(after, rolled.underlying.spot) - volatilityToday(rolled, rolled.underlying.spot);
  const [from, to] = [tradeProblem(rolled, undefined), tradeProblem(after, undefined)];
  const { expiry } = to;
  if (from.diffusion.kind === "deterministic" && to.diffusion.kind === "deterministic") {
    const mean = integrate(from.diffusion.sigma, expiry);
    const gained = totalVariance(to) - totalVariance(from);
    return gained === 0 ? 0 : gained / (mean + Math.sqrt(Math.max(mean * mean + expiry * gained, 0)));
  }
  const spot = from.spots[0];
  return volatilityAt(to.diffusion, spot, 0) - volatilityAt(from.diffusion, spot, 0);
}

/** Returns today's volatility at a spot: √v₀ in Heston's model, α·S^(β−1) in SABR, otherwise σ(S, 0). */
export function volatilityToday(trade: Trade, spot: number): number {
  const { volatility } = trade;
  if (volatility.kind === "heston") return Math.sqrt(varianceOf(volatility));
  if (volatility.kind === "sabr") return alphaOf(volatility, spot) * power(spot, volatility.beta - 1);
  return volatilityAt(tradeProblem(trade, undefined).diffusion, spot, 0);
}

function rateMove(rolled: Trade, after: Trade): number {
  const { expiry } = after;
  if (expiry === 0) return 0;
  return (integrate(after.underlying.rates, expiry) - integrate(rolled.underlying.rates, expiry)) / expiry;
}

/** Relative: what the same terms differ by when they are written with another date. */
const ROUNDING = 1e-9;

/**
 * Tells whether two values of plain data are equal up to the rounding of their numbers, because times in years are
 * rounded differently for another `asOf`. The state of a fit is not compared, because it is not part of the market.
 */
export function equalUpToRounding(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) <= ROUNDING * (1 + Math.abs(a));
  if (!isObject(a) || !isObject(b)) return a === b;
  const [names, others] = [a, b].map((of) => Object.keys(of).filter((name) => name !== "fit"));
  return names.length === others.length && names.every((name) => equalUpToRounding(a[name], b[name]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
