/** The curves of a book by name: given by zero rates, or found together from quoted instruments. */
import { BookError } from "../base/errors.ts";
import {
  basisSwap,
  CurveError,
  type CurveToFind,
  findCurves,
  forwardPeriod,
  forwardPoints,
  type PairQuotes,
  parSwap,
  type QuotedInstrument,
  simpleRate,
  type SwapQuotes,
  tenorBasis,
} from "../calibration/index.ts";
import {
  calendarOf,
  conventionsOf,
  type Day,
  immDate,
  type IndexConventions,
  type IndexName,
  INDICES,
  isoOf,
  type Tenor,
} from "../market/conventions/index.ts";
import { Curve, SVENSSON, timeOf, type Turn, turnsUntil } from "../market/linear/index.ts";
import { checkCredit, checkRateCurves, checkSurvival, creditInstrument, recoverySlopes } from "./credit-curves.ts";
import { fxMarket, type FxMarket } from "./fx.ts";
import type { NamedCurves } from "./named-curves.ts";
import { didYouMean, quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import type { CurveInstrument, MarketSpec, NamedCurveSpec, NamedRatesSpec, RateSpec } from "./schema/index.ts";
import { type AsOf, dayNumber, dayOfAsOf, timeText } from "./time.ts";

/** Returns the named curves that the rates of a currency refer to; undefined where they name none. */
export function namedRatesOf(spec: RateSpec | undefined): NamedRatesSpec | undefined {
  if (spec?.kind === "named") return spec;
  return spec !== undefined && "curve" in spec && spec.curve.kind === "named" ? spec.curve : undefined;
}

/**
 * Finds the curves of a market. @throws BookError for quotes that no curve reproduces, instruments that the curve's
 * index does not have, or names of other curves that do not exist
 */
export function resolveCurves(spec: MarketSpec, asOf: AsOf, pathOf: PathOf): NamedCurves {
  const at = inside(pathOf, "curves");
  const given = [...(spec.curves ?? [])];
  // Known curves come first, those found from credit default swaps last.
  const rank = ({ zeros, recovery }: NamedCurveSpec): number => (zeros ? 0 : recovery === undefined ? 1 : 2);
  const all = given.toSorted(([, a], [, b]) => rank(a) - rank(b));
  const names = all.map(([name]) => name);
  const reference = dayOfAsOf(asOf);
  const fx = fxMarket(spec.fx, asOf, inside(pathOf, "fx"));
  const known = all.flatMap(([name, { zeros, interpolation }], i) => {
    if (zeros === undefined) return [];
    const times = zeros.map(({ date }) => timeOf(dayNumber(asOf, date), reference));
    times.forEach((time, i) => {
      if (!(time > (times[i - 1] ?? 0)))
        throw new BookError(at(name, "zeros", i, "date"), "expected dates after asOf in increasing order");
    });
    const turns = turnsOf(all[i][1], reference, asOf, inside(at, name));
    // The given rates are those with the turns.
    const rates = zeros.map(({ zero }, k) => zero - turnsUntil(turns, times[k]) / times[k]);
    const curve = new Curve(times, rates, interpolation, turns);
    if (all[i][1].recovery !== undefined) checkSurvival(curve, inside(at, name));
    return [curve];
  });
  for (const [name, one] of given) checkCredit(one, inside(at, name));
  checkForwards(spec, names, pathOf);
  for (const [name, { fit, instruments }] of all)
    if (fit === "svensson" && (instruments ?? []).length < SVENSSON.length)
      throw new BookError(
        at(name, "instruments"),
        `expected at least ${SVENSSON.length} quotes, one for each parameter of "svensson", got ${instruments!.length}`,
      );
  const maker = new InstrumentMaker(spec, new Map(all), names, fx, asOf, pathOf);
  const wanted = all.slice(known.length).map(([name, one]): CurveToFind => {
    const turns = turnsOf(one, reference, asOf, inside(at, name));
    const instruments = (one.instruments ?? []).map((quoted, i) =>
      maker.make(quoted, name, inside(at, name, "instruments", i)),
    );
    const rule = one.fit === "svensson" ? "svensson" : one.interpolation;
    return { name, rule, turns, instruments, isSurvival: one.recovery !== undefined };
  });
  try {
    const set = findCurves(known, wanted);
    const byQuotes = wanted.length === 0 ? [] : set.byQuotes();
    return {
      names,
      curves: set.curves,
      instruments: [
        ...known.map(() => []),
        ...wanted.map(({ instruments }, c) => set.orders[c].map((i) => instruments[i].name)),
      ],
      dates: all.map(([, { zeros = [] }]) => zeros.map(({ date }) => timeText(asOf, date))),
      byQuotes,
      indices: all.map(([, { index }]) => index),
      recoveries: all.map(([, { recovery }]) => recovery),
      byRecovery: recoverySlopes(set, wanted, byQuotes),
      fx,
    };
  } catch (error) {
    if (!(error instanceof CurveError)) throw error;
    const { curve, instrument, message } = error;
    const path = at(wanted[curve].name, "instruments", instrument);
    throw new BookError(path, message, { cause: error });
  }
}

/**
 * Converts the turns of a curve to years, without those that have passed. @throws BookError for one that does not end
 * after it begins
 */
function turnsOf({ turns = [] }: NamedCurveSpec, reference: Day, asOf: AsOf, pathOf: PathOf): Turn[] {
  return turns.flatMap(({ from, to, spread }, i) => {
    const [start, end] = [from, to].map((time) => timeOf(dayNumber(asOf, time), reference));
    if (!(end > start)) throw new BookError(pathOf("turns", i, "to"), 'expected a day after "from"');
    return end > 0 ? [{ from: Math.max(start, 0), to: end, spread }] : [];
  });
}

/** @throws BookError for an index that is not known, or a curve that does not exist, in the rates or the fixings */
function checkForwards(
  { rates, fixings, underlyings, curves, fx }: MarketSpec,
  names: readonly string[],
  pathOf: PathOf,
): void {
  const known = Object.keys(INDICES);
  const check = (index: string, at: string): void => {
    if (!known.includes(index)) throw new BookError(at, `unknown index ${quote(index)}${didYouMean(index, known)}`);
  };
  for (const one of fixings?.keys() ?? [])
    if (underlyings?.has(one) !== true && fx?.has(one) !== true) check(one, pathOf("fixings", one));
  const named = [...rates].map(([currency, rate]) => [currency, namedRatesOf(rate)] as const);
  checkRateCurves(curves ?? new Map(), named, pathOf);
  for (const [currency, of] of named)
    for (const [index, curve] of of?.forward ?? []) {
      const at = pathOf("rates", currency, "forward", index);
      check(index, at);
      curveIndexOf(curve, names, at);
    }
}

/** Returns the index of a curve by name. @throws BookError where there is none of the name */
export function curveIndexOf(name: string, names: readonly string[], path: string): number {
  const at = names.indexOf(name);
  if (at < 0) throw new BookError(path, `unknown curve ${quote(name)}${didYouMean(name, names)}`);
  return at;
}

/** Returns the name of the only curve that has an index; undefined where none has it. @throws BookError for several */
export function onlyCurveOf(
  index: IndexName,
  curves: Iterable<readonly [string, { readonly index?: IndexName | undefined }]>,
  path: string,
): string | undefined {
  const having = [...curves].filter(([, of]) => of.index === index).map(([name]) => name);
  if (having.length > 1)
    throw new BookError(path, `${having.map(quote).join(" and ")} are curves of ${index}; write which one is meant`);
  return having[0];
}

/** Makes quoted instruments by the conventions of the curves that they belong to. */
class InstrumentMaker {
  readonly #market: MarketSpec;
  readonly #specs: ReadonlyMap<string, NamedCurveSpec>;
  readonly #names: readonly string[];
  readonly #fx: FxMarket;
  readonly #asOf: AsOf;
  readonly #place: PathOf;
  readonly #made = new Map<string, SwapQuotes>();

  constructor(
    market: MarketSpec,
    specs: ReadonlyMap<string, NamedCurveSpec>,
    names: readonly string[],
    fx: FxMarket,
    asOf: AsOf,
    pathOf: PathOf,
  ) {
    this.#market = market;
    this.#specs = specs;
    this.#names = names;
    this.#fx = fx;
    this.#asOf = asOf;
    this.#place = pathOf;
  }

  /** Returns an instrument of the curve of a name. */
  make(one: CurveInstrument, name: string, pathOf: PathOf): QuotedInstrument {
    if ("tenor" in one && one.kind !== "fra" && !(one.tenor.count > 0))
      throw new BookError(pathOf(), `expected a tenor above zero, got "${textOf(one.tenor)}"`);
    switch (one.kind) {
      case "cds":
        return this.#creditSwap(one, name, pathOf);
      case "deposit":
        return simpleRate(`${textOf(one.tenor)} deposit`, one.quote, one.tenor, this.#quotes(name));
      case "fra": {
        const { months } = this.#conventions(name);
        if (months === undefined || one.tenor.unit !== "M")
          throw new BookError(pathOf("fra"), 'expected a start in months, "3M", on a curve of a term index');
        const length = { count: months, unit: "M" } as const;
        return simpleRate(`${textOf(one.tenor)} FRA`, one.quote, length, this.#quotes(name), one.tenor.count);
      }
      case "future": {
        const { months } = this.#conventions(name);
        const start = dayNumber(this.#asOf, one.start);
        const end =
          one.end !== undefined
            ? dayNumber(this.#asOf, one.end)
            : months === undefined
              ? immDate(start)
              : calendarOf(this.#conventions(name).calendar).advance(start, { count: months, unit: "M" }, "following");
        if (start < dayOfAsOf(this.#asOf))
          throw new BookError(pathOf("future"), "it began before asOf: its rate is known; leave it out");
        if (!(end > start)) throw new BookError(pathOf("end"), `expected a day after the start, ${isoOf(start)}`);
        return forwardPeriod(`${isoOf(start)} future`, one.quote, start, end, this.#quotes(name));
      }
      case "swap":
        return parSwap(`${textOf(one.tenor)} swap`, one.quote, one.tenor, this.#quotes(name));
      case "basis": {
        const { forward, index } = this.#specs.get(name)!;
        if (one.against === index)
          throw new BookError(pathOf("against"), `expected another index than the curve's own, ${index}`);
        const other = forward?.get(one.against) ?? onlyCurveOf(one.against, this.#specs, pathOf("against"));
        if (other === undefined)
          throw new BookError(pathOf("against"), `no curve has the index ${one.against}; add one to market.curves`);
        curveIndexOf(other, this.#names, this.#place("curves", name, "forward", one.against));
        const against = this.#side(other, one.against);
        return tenorBasis(`${textOf(one.tenor)} basis`, one.quote, one.tenor, this.#quotes(name), against);
      }
      case "fxSwap":
        return forwardPoints(`${textOf(one.tenor)} FX swap`, one.quote, one.tenor, this.#pair(name));
      case "crossCurrency": {
        const quotes = { ...this.#quotes(name), ...this.#pair(name), discount: this.#names.indexOf(name) };
        return basisSwap(`${textOf(one.tenor)} cross-currency swap`, one.quote, one.tenor, quotes);
      }
      default:
        return one satisfies never;
    }
  }

  #creditSwap(one: Extract<CurveInstrument, { readonly kind: "cds" }>, name: string, pathOf: PathOf): QuotedInstrument {
    const spec = this.#specs.get(name)!;
    const named = spec.discount ?? namedRatesOf(this.#market.rates.get(spec.currency!))?.discount;
    const at = this.#place("curves", name, "discount");
    if (named === undefined)
      throw new BookError(at, `expected a curve by name, here or as the "discount" of market.rates.${spec.currency!}`);
    const discount = curveIndexOf(named, this.#names, at);
    const survival = this.#names.indexOf(name);
    return creditInstrument(one, { spec, asOf: this.#asOf, survival, discount }, pathOf);
  }

  #conventions(name: string): IndexConventions {
    const { index } = this.#specs.get(name)!;
    if (index !== undefined) return conventionsOf(index);
    throw new BookError(this.#place("curves", name, "index"), 'expected the index of the instruments, such as "ESTR"');
  }

  /** The index of a curve, and the periods of its floating leg. */
  #side(curve: string, name: IndexName): Pick<SwapQuotes, "index" | "overnight" | "floatingMonths"> {
    const { calendar, dayCount, months, fixingLag } = conventionsOf(name);
    const index = { name, curve: this.#names.indexOf(curve), calendar: calendarOf(calendar), dayCount, fixingLag };
    return { index, overnight: months === undefined, floatingMonths: months ?? 12 };
  }

  #quotes(name: string): SwapQuotes {
    let made = this.#made.get(name);
    if (made === undefined) this.#made.set(name, (made = this.#quotesOf(name)));
    return made;
  }

  #quotesOf(name: string): SwapQuotes {
    const spec = this.#specs.get(name)!;
    const { calendar, spotLag, endOfMonth, paymentLag, fixed } = this.#conventions(name);
    const projecting = spec.pair === undefined ? name : this.#projecting(name);
    return {
      ...this.#side(projecting, spec.index!),
      reference: dayOfAsOf(this.#asOf),
      calendar: calendarOf(calendar),
      spotLag,
      endOfMonth,
      paymentLag,
      fixedMonths: fixed.months,
      fixedDayCount: fixed.dayCount,
      discount: this.#discountOf(name),
    };
  }

  /** The curve that projects the index of a curve that only discounts. */
  #projecting(name: string): string {
    const { index, forward } = this.#specs.get(name)!;
    const others = [...this.#specs].filter(([other, { pair }]) => other !== name && pair === undefined);
    const path = this.#place("curves", name, "forward");
    const found = forward?.get(index!) ?? onlyCurveOf(index!, others, path);
    if (found === undefined) throw new BookError(path, `no curve projects ${index!}; add one to market.curves`);
    curveIndexOf(found, this.#names, path);
    return found;
  }

  #discountOf(name: string): number {
    const { discount, index } = this.#specs.get(name)!;
    if (discount !== undefined) return curveIndexOf(discount, this.#names, this.#place("curves", name, "discount"));
    const { currency, months } = conventionsOf(index!);
    if (months === undefined) return this.#names.indexOf(name);
    const named = namedRatesOf(this.#market.rates.get(currency));
    if (named === undefined)
      throw new BookError(
        this.#place("curves", name, "discount"),
        `expected the curve that discounts swaps of ${index!}, such as that of an overnight index`,
      );
    return curveIndexOf(named.discount, this.#names, this.#place("rates", currency, "discount"));
  }

  /** The pair whose forward rates imply a curve, with the numbers of both currencies' curves. */
  #pair(name: string): PairQuotes {
    const { pair, currency = pair?.slice(0, 3), discount } = this.#specs.get(name)!;
    const at = inside(this.#place, "curves", name);
    if (pair === undefined || currency === undefined)
      throw new BookError(at("pair"), 'expected the currency pair of the quotes, such as "EURUSD"');
    const { base, quote: second, spot, spotDay, calendar } = this.#fx.pair(pair, at("pair"));
    if (currency !== base && currency !== second)
      throw new BookError(at("currency"), `expected one of the pair's, ${base} or ${second}, got ${currency}`);
    const other = currency === base ? second : base;
    const theirs = discount ?? namedRatesOf(this.#market.rates.get(other))?.discount;
    if (theirs === undefined)
      throw new BookError(at("discount"), `expected the curve that discounts ${other}, which the quotes are against`);
    const [own, known] = [this.#names.indexOf(name), curveIndexOf(theirs, this.#names, at("discount"))];
    const numbers = currency === base ? { base: own, quote: known } : { base: known, quote: own };
    return { ...numbers, reference: dayOfAsOf(this.#asOf), calendar, spotLag: 0, spotDay, spot };
  }
}

const textOf = ({ count, unit }: Tenor): string =>
  unit === "M" && count % 12 === 0 ? `${count / 12}Y` : `${count}${unit}`;
