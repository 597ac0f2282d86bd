/** The directions, and the known buckets, of trades on underlyings. */
import { limitedMoves, type MoveLimits, MOVES } from "../../base/differences.ts";
import {
  type AnyTrade,
  type Bucket,
  curveInputsOf,
  dividendDates,
  hasQuotes,
  type MovableInput,
  type PricedTrade,
  quoteInputs,
  volatilityInputs,
  inputsOf,
} from "../../book/index.ts";
import {
  type DiscreteDividend,
  type Dividends,
  type ForwardCurve,
  ONE_SECOND,
  pairRates,
  type Underlying,
  type Volatility,
} from "../../market/index.ts";
import { DIRECTION_SIZES } from "./bump-sizes.ts";
import type { Direction, MoveSizes } from "./directions.ts";

/** The least part of a size that moves to both sides of an input are; below it they are to one side. */
const LEAST = 0.25;
const ANYWHERE: MoveLimits = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };

/** Returns the moves of a usual size within limits. */
export function movesOf(usual: number, limits = ANYWHERE): Pick<Direction, "size" | "moves"> {
  const { by, side } = limitedMoves(usual, limits, { least: LEAST * usual, beside: usual, share: 0.5 });
  return side === 0 ? { size: by, moves: MOVES.CENTRAL } : { size: side * by, moves: MOVES.BESIDE };
}

/** Returns the directions of inputs that a trade depends on, given how the trade is made with a moved object. */
export function directionsOfInputs<P>(
  inputs: readonly MovableInput<P>[],
  { factor, of, size, last }: Pick<Direction, "factor" | "of" | "size"> & { readonly last: number },
  made: (part: P) => AnyTrade,
): readonly Direction[] {
  return inputs
    .filter(({ from }) => from < last - ONE_SECOND)
    .map((input) => ({
      factor,
      of: input.of ?? of,
      at: input.at,
      ...movesOf(size, input.limits),
      moved: (by) => made(input.moved(by)),
    }));
}

/** A trade on one or several underlyings. */
type OnUnderlyings = Extract<AnyTrade, { readonly underlying: Underlying }>;

/** An underlying of a trade, with its volatility if the trade has one. */
interface Asset {
  readonly underlying: Underlying;
  readonly volatility?: Volatility;
}

function assetsOf(trade: OnUnderlyings): readonly Asset[] {
  return ("assets" in trade ? trade.assets : undefined) ?? [trade];
}

/** Returns the trade with each of its assets changed. */
function withAssets<T extends OnUnderlyings>(trade: T, change: (asset: Asset) => Asset): T {
  const changed = (asset: Asset): Asset => {
    const { underlying, volatility } = change(asset);
    return volatility === undefined ? { underlying } : { underlying, volatility };
  };
  const assets = "assets" in trade ? trade.assets?.map(changed) : undefined;
  return { ...trade, ...changed(trade), ...(assets === undefined ? {} : { assets }) };
}

/** The underlyings with one part moved, which trades share, by that part. */
const moved = new WeakMap<Underlying, WeakMap<object, Underlying>>();

/** Returns the underlying that `make` makes of a moved object, the same for the same object. */
function sharedWith(underlying: Underlying, object: object, make: () => Underlying): Underlying {
  let ofUnderlying = moved.get(underlying);
  if (ofUnderlying === undefined) moved.set(underlying, (ofUnderlying = new WeakMap<object, Underlying>()));
  let known = ofUnderlying.get(object);
  if (known === undefined) ofUnderlying.set(object, (known = make()));
  return known;
}

const withPart = <Part extends "rates" | "volatility" | "dividends">(
  underlying: Underlying,
  part: Part,
  object: Underlying[Part] & object,
): Underlying => sharedWith(underlying, object, () => ({ ...underlying, [part]: object }));

/** Returns an underlying with a moved curve in the place of one that it may have; a currency of a script has two. */
function withCurve(underlying: Underlying, curve: ForwardCurve, object: ForwardCurve): Underlying {
  const { pair, rates, dividends } = underlying;
  if (rates === curve) return withPart(underlying, "rates", object);
  if (pair?.domestic !== curve && pair?.foreign !== curve) return underlying;
  const [domestic, foreign] = [pair.domestic, pair.foreign].map((own) => (own === curve ? object : own));
  const both = { ...pair, domestic, foreign };
  return sharedWith(underlying, object, () => ({ ...underlying, pair: both, rates: pairRates(both, dividends.yield) }));
}

/** The curves on which a trade depends, with their currencies. */
function curvesOf(trade: OnUnderlyings): ReadonlyMap<ForwardCurve, string> {
  const isScript = trade.kind === "scripted";
  return new Map(
    assetsOf(trade).flatMap(({ underlying: { rates, pair, currency } }): [ForwardCurve, string][] =>
      isScript && pair !== undefined
        ? [
            [pair.domestic, currency],
            [pair.foreign, pair.base],
          ]
        : [[rates, currency]],
    ),
  );
}

/** The inputs of an asset's volatility; undefined for one that moves as a whole. */
function inputsOfVolatility({ underlying, volatility }: Asset): readonly MovableInput<Volatility>[] | undefined {
  if (volatility === undefined) return [];
  const quotes = volatility === underlying.volatility ? quoteInputs(underlying) : [];
  return quotes.length > 0 ? quotes : inputsOf(volatilityInputs, volatility);
}

/** Returns the directions of a trade that ends at the time `last` in years. */
export function underlyingDirections<T extends OnUnderlyings>(
  trade: T,
  given: MoveSizes,
  last: number,
): readonly Direction[] {
  // In moved markets of other kinds an option on a smile is priced by its local volatility.
  const { rate, dividend } = hasQuotes(trade.underlying) ? DIRECTION_SIZES.discretised : given;
  const sizes = { ...given, rate, dividend };
  const assets = assetsOf(trade);
  const own = assets.flatMap((asset) => {
    const { underlying, volatility } = asset;
    const { name, spot, dividends } = underlying;
    const isOwn = (one: Asset): boolean => one.underlying === underlying;
    const byVolatility = directionsOfInputs(
      inputsOfVolatility(asset) ?? [],
      { factor: "volatility", of: name, size: sizes[hasQuotes(underlying) ? "quote" : "volatility"], last },
      (part) =>
        withAssets(trade, (one) => {
          if (!isOwn(one) || one.volatility !== volatility) return one;
          const isShared = volatility === underlying.volatility;
          return { underlying: isShared ? withPart(underlying, "volatility", part) : underlying, volatility: part };
        }),
    );
    // The yield of a pair is the rate of its first currency.
    const isPair = trade.kind === "scripted" && underlying.pair !== undefined;
    const inputs = isPair ? [] : dividendInputs(dividends, spot, sizes, last);
    const byDividend = inputs.map((input): Direction => ({
      ...input,
      of: name,
      moved: (by) =>
        withAssets(trade, (one) =>
          isOwn(one) ? { ...one, underlying: withPart(underlying, "dividends", input.moved(by)) } : one,
        ),
    }));
    return [...byVolatility, ...byDividend];
  });
  const byRate = [...curvesOf(trade)].flatMap(([curve, currency]) =>
    directionsOfInputs(curveInputsOf(curve), { factor: "rate", of: currency, size: sizes.rate, last }, (part) =>
      withAssets(trade, (one) => ({ ...one, underlying: withCurve(one.underlying, curve, part) })),
    ),
  );
  return [...own, ...byRate];
}

/** A dividend or yield that is moved. */
interface DividendInput extends Pick<Direction, "factor" | "at" | "size" | "moves"> {
  moved(by: number): Dividends;
}

/** The inputs of dividends: the yield, and the cash of each date, or its share of the spot where it pays no cash. */
function dividendInputs(dividends: Dividends, spot: number, sizes: MoveSizes, last: number): readonly DividendInput[] {
  const { yield: rate, excess, discrete } = dividends;
  const each = discrete.flatMap((dividend, i): DividendInput[] => {
    const { time, cash, proportional } = dividend;
    if (time > last + ONE_SECOND) return [];
    const part = cash > 0 ? "cash" : "proportional";
    const limits = part === "cash" ? { ...ANYWHERE, down: cash } : { up: 1 - proportional, down: proportional };
    const at = (by: number): DiscreteDividend => ({ ...dividend, [part]: dividend[part] + by });
    return [
      {
        factor: "dividend",
        at: dividendDates.get(dividend) ?? time,
        ...movesOf(sizes.dividend * (part === "cash" ? spot : 1), limits),
        moved: (by) => ({ ...dividends, discrete: discrete.with(i, at(by)) }),
      },
    ];
  });
  if (rate === 0 && excess === undefined) return each;
  const moved = (by: number): Dividends => ({ ...dividends, yield: rate + by });
  return [{ factor: "dividend", at: "yield", ...movesOf(sizes.rate), moved }, ...each];
}

/** The name of a bucket whose input is moved as a whole. */
const PARALLEL = "parallel";

/** Returns the buckets that a trade's own sensitivities are: its spots, and volatilities that move as a whole. */
export function underlyingBuckets(trade: OnUnderlyings, result: PricedTrade): readonly Bucket[] {
  const assets = assetsOf(trade);
  const { sensitivities, sensitivityErrorEstimates: errors } = result;
  return assets.flatMap((asset): Bucket[] => {
    const { name } = asset.underlying;
    const own = sensitivities?.[name] ?? result;
    const error = sensitivities === undefined ? errors : errors?.sensitivities?.[name];
    const bucket = (factor: "spot" | "volatility", at: string | null, of: "delta" | "vega"): Bucket[] =>
      own[of] === null ? [] : [{ factor, of: name, at, value: own[of], errorEstimate: error?.[of] ?? null }];
    return [
      ...bucket("spot", null, "delta"),
      ...(inputsOfVolatility(asset) === undefined ? bucket("volatility", PARALLEL, "vega") : []),
    ];
  });
}
