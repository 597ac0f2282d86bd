/** What linear trades need of a market: the numbers of curves, indices with their fixings, and exchange rates. */
import { BookError } from "../base/errors.ts";
import { discountFactor, type ForwardCurve } from "../market/index.ts";
import { calendarOf, conventionsOf, dayOf, type Day, type IndexName } from "../market/conventions/index.ts";
import { type CreditSwapSpec, Curve, type Fixings, type RateIndex, timeOf } from "../market/linear/index.ts";
import { creditCalendar } from "./credit-curves.ts";
import { curveIndexOf, namedRatesOf, onlyCurveOf } from "./curves.ts";
import { type NamedCurves, nodeInputs } from "./named-curves.ts";
import { fxMarket, type FxMarket } from "./fx.ts";
import type { Conversion, LinearCurves } from "./linear-types.ts";
import { curveInputsOf, inputsWithin, linearInputs, rememberInputs, type MovableInput } from "./market-inputs.ts";
import { didYouMean, quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import type { MarketSpec } from "./schema/index.ts";
import { type AsOf, dayOfAsOf } from "./time.ts";

/** The curves of currencies that are not named, by currency. */
type OwnCurves = ReadonlyMap<string, ForwardCurve | undefined>;

/** The credit of an issuer, by which credit default swaps on it are valued. */
export interface IssuerCredit extends Pick<CreditSwapSpec, "discount" | "survival" | "calendar"> {
  readonly recovery: number;
  readonly currency: string;
}

/** The curves, exchange rates and fixings that the linear trades of a book use. */
export class LinearMarket {
  /** The curves, which all linear trades of the book share. */
  readonly curves: LinearCurves;
  readonly asOf: AsOf;
  readonly reference: Day;
  readonly fx: FxMarket;
  readonly #spec: MarketSpec;
  readonly #pathOf: PathOf;
  readonly #own: OwnCurves;
  readonly #indices = new Map<IndexName, RateIndex>();

  constructor(spec: MarketSpec, named: NamedCurves | undefined, own: OwnCurves, asOf: AsOf, pathOf: PathOf) {
    const others = [...own].flatMap(([currency, curve]) =>
      curve === undefined || namedRatesOf(spec.rates.get(currency)) !== undefined
        ? []
        : [[ownName(currency), nodesOf(curve)] as const],
    );
    this.#spec = spec;
    this.#own = own;
    this.#pathOf = pathOf;
    this.asOf = asOf;
    this.reference = dayOfAsOf(asOf);
    this.fx = named?.fx ?? fxMarket(spec.fx, asOf, inside(pathOf, "fx"));
    this.curves = {
      names: [...(named?.names ?? []), ...others.map(([name]) => name)],
      curves: [...(named?.curves ?? []), ...others.map(([, curve]) => curve)],
      owners: [
        ...(named?.names ?? []).map((name) => ownerOf(name, spec)),
        ...others.map(([name]) => name.slice(OWN.length)),
      ],
      instruments: [...(named?.instruments ?? []), ...others.map(() => [])],
      byQuotes: named?.byQuotes ?? [],
      recoveries: named?.recoveries ?? [],
      byRecovery: named?.byRecovery ?? [],
    };
    rememberInputs(linearInputs, this.curves, () => this.#inputsOf(named, others.length));
  }

  /** The inputs of the curves that were not found from quotes; the last ones are those of currencies. */
  #inputsOf(named: NamedCurves | undefined, others: number): readonly MovableInput<LinearCurves>[] {
    const { names, curves } = this.curves;
    const moved = <T>(c: number, of: string, inputs: readonly MovableInput<T>[], made: (part: T) => Curve) =>
      inputsWithin(inputs, (part) => ({ ...this.curves, curves: curves.with(c, made(part)) })).map((one) => ({
        ...one,
        of,
      }));
    return names.flatMap((name, c) => {
      if (c >= names.length - others) {
        const currency = name.slice(OWN.length);
        return moved(c, currency, curveInputsOf(this.#own.get(currency)!), nodesOf);
      }
      const { instruments, dates, curves: all } = named!;
      return instruments[c].length > 0 ? [] : moved(c, name, nodeInputs(all[c], dates[c]), (curve) => curve);
    });
  }

  /** Returns the number of the curve that discounts a currency. @throws BookError where there is none */
  discount(currency: string, at: string): number {
    const { rates } = this.#spec;
    if (!rates.has(currency))
      throw new BookError(at, `market.rates has no ${quote(currency)}${didYouMean(currency, rates.keys())}`);
    const named = namedRatesOf(rates.get(currency));
    if (named !== undefined) return this.#numberOf(named.discount, "rates", currency, "discount");
    if (this.#own.get(currency) !== undefined) return this.#numberOf(ownName(currency), "rates", currency);
    throw new BookError(
      at,
      `the rates of ${currency} are a model without a curve; write a curve, or hullWhite around it`,
    );
  }

  /** Returns the curve of survival probabilities of a name. @throws BookError where there is none */
  credit(name: string, at: string): IssuerCredit {
    const survival = curveIndexOf(name, this.curves.names, at);
    const spec = this.#spec.curves?.get(name);
    if (spec?.recovery === undefined || spec.currency === undefined)
      throw new BookError(at, `${quote(name)} has discount factors, expected a curve with "recovery"`);
    const { recovery, currency, calendar } = spec;
    const discount =
      spec.discount === undefined
        ? this.discount(currency, this.#pathOf("curves", name, "currency"))
        : this.#numberOf(spec.discount, "curves", name, "discount");
    return { survival, discount, recovery, currency, calendar: creditCalendar(calendar) };
  }

  /** Returns an index with its projection curve and its fixings. @throws BookError where no curve projects it */
  index(name: IndexName, at: string): RateIndex {
    let index = this.#indices.get(name);
    if (index === undefined) {
      const { calendar, dayCount, fixingLag } = conventionsOf(name);
      const curve = this.#projection(name, at);
      index = { name, curve, calendar: calendarOf(calendar), dayCount, fixingLag, fixings: this.#fixingsOf(name) };
      this.#indices.set(name, index);
    }
    return index;
  }

  #projection(name: IndexName, at: string): number {
    const { rates, curves = new Map() } = this.#spec;
    const { currency } = conventionsOf(name);
    const named = namedRatesOf(rates.get(currency));
    const written = named?.forward?.get(name);
    if (written !== undefined) return this.#numberOf(written, "rates", currency, "forward", name);
    const projecting = [...curves].filter(([, { pair }]) => pair === undefined);
    const only = onlyCurveOf(name, projecting, this.#pathOf("rates", currency, "forward"));
    if (only !== undefined) return this.#numberOf(only, "curves", only);
    const isTerm = conventionsOf(name).months !== undefined;
    // A currency with one curve projects by what it discounts.
    if (!isTerm || named === undefined) return this.discount(currency, at);
    throw new BookError(
      this.#pathOf("rates", currency, "forward"),
      `no curve projects ${name}; add { "${name}": "…" }, or a curve whose "index" it is`,
    );
  }

  #fixingsOf(name: IndexName): Fixings {
    // No index that is known by name was ever fixed beyond 100 %.
    return this.#published(name, (rate) => Math.abs(rate) <= 1, "a rate (0.021 is 2.1 %)");
  }

  /** Returns the published rates of a currency pair by day. @throws BookError for a rate that is not positive */
  exchangeRates(pair: string): Fixings {
    return this.#published(pair, (rate) => rate > 0, "an exchange rate above 0");
  }

  #published(name: string, isUsual: (rate: number) => boolean, expected: string): Fixings {
    const known = [...(this.#spec.fixings?.get(name) ?? [])];
    return new Map(
      known.map(([date, rate]) => {
        if (!isUsual(rate))
          throw new BookError(this.#pathOf("fixings", name, date), `got ${rate}, expected ${expected}`);
        try {
          return [dayOf(date), rate];
        } catch (error) {
          throw new BookError(this.#pathOf("fixings", name, date), (error as Error).message, { cause: error });
        }
      }),
    );
  }

  /** Returns how an amount in one currency becomes one in another. @throws BookError where no rates lead there */
  conversion(from: string, to: string, at: string): Conversion[] {
    return this.fx.steps(from, to, at).map(({ pair, power }) => ({
      pair: pair.name,
      spot: pair.spot,
      power,
      base: this.discount(pair.base, at),
      quote: this.discount(pair.quote, at),
      lag: timeOf(pair.spotDay, this.reference),
    }));
  }

  #numberOf(name: string, ...path: readonly PropertyKey[]): number {
    return curveIndexOf(name, this.curves.names, this.#pathOf(...path));
  }
}

/** Returns the currency of a named curve: that whose rates name it, or that of its index; or its issuer. */
function ownerOf(name: string, { rates, curves }: MarketSpec): string | undefined {
  const { recovery, index, currency } = curves?.get(name) ?? {};
  if (recovery !== undefined) return name;
  for (const [owner, rate] of rates) {
    const own = namedRatesOf(rate);
    if (own?.discount === name || [...(own?.forward?.values() ?? [])].includes(name)) return owner;
  }
  return index === undefined ? currency : conventionsOf(index).currency;
}

/** The name of a currency's curve that has none of its own. */
const ownName = (currency: string): string => `${OWN}${currency}`;
const OWN = "rates.";

/** A curve of forward rates as nodes. */
function nodesOf(curve: ForwardCurve): Curve {
  const last = curve.times.at(-1) ?? 0;
  const times = [...curve.times, last + 1];
  return new Curve(
    times,
    times.map((time) => -Math.log(discountFactor(curve, time)) / time),
  );
}
