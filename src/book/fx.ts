/** The exchange rates of a book: quoted pairs, and the rates of all others that follow from them. */
import { BookError } from "../base/errors.ts";
import {
  type Calendar,
  calendarOf,
  CURRENCY_CALENDARS,
  type Day,
  pairCalendars,
  spotDate,
} from "../market/conventions/index.ts";
import { didYouMean, quote } from "./names.ts";
import type { PathOf } from "./paths.ts";
import type { FxSpec } from "./schema/index.ts";
import { type AsOf, dayNumber, dayOfAsOf } from "./time.ts";

/** A quoted pair: units of `quote` for one unit of `base`, delivered on the spot day. */
export interface FxPair {
  readonly name: string;
  readonly base: string;
  readonly quote: string;
  readonly spot: number;
  readonly spotDay: Day;
  readonly calendar: Calendar;
  /** Returns the day on which what is agreed or exercised on a day is delivered. */
  readonly deliveryOf: (day: Day) => Day;
}

/**
 * A step of a conversion between two currencies by a quoted pair. `power` is 1 from its base to its quote currency, and
 * −1 for the opposite direction.
 */
export interface FxStep {
  readonly pair: FxPair;
  readonly power: 1 | -1;
}

/** The exchange rates of a book. */
export interface FxMarket {
  /** The spots of the quoted pairs by name. */
  readonly spots: ReadonlyMap<string, number>;
  /** Returns a quoted pair. @throws BookError where there is none of the name */
  pair(name: string, path: string): FxPair;
  /**
   * Returns a pair by its name: as it is quoted, as the inverse of a quoted one, or by way of other currencies. The
   * discount factors of two currencies convert rates for one spot date to another. @throws BookError as `steps`
   */
  anyPair(name: string, discount: (currency: string, day: Day) => number, path: string): FxPair;
  /**
   * Returns the steps by which an amount in one currency is converted to another. @throws BookError where there are
   * none
   */
  steps(from: string, to: string, path: string): readonly FxStep[];
}

/** Quotes that follow from others may differ from them by this, relatively: they are rounded to five digits. */
const ROUNDED = 2e-4;

const PAIR = /^([A-Z]{3})\/?([A-Z]{3})$/;

/**
 * Reads exchange rates. @throws BookError for a name that is no pair, a pair whose spot date is not known, and rates
 * that contradict each other
 */
export function fxMarket(spec: ReadonlyMap<string, FxSpec> | undefined, asOf: AsOf, pathOf: PathOf): FxMarket {
  const pairs = [...(spec ?? [])].map(([name, one]) => pairOf(name, one, asOf, pathOf));
  pairs.forEach((pair, i) => {
    const others = pairs.filter((_, k) => k !== i);
    const steps = path(pair.base, pair.quote, others);
    const implied = steps?.reduce((rate, { pair: { spot }, power }) => rate * spot ** power, 1);
    if (implied !== undefined && !(Math.abs(implied / pair.spot - 1) <= ROUNDED))
      throw new BookError(
        pathOf(pair.name),
        `${pair.spot} contradicts ${steps!.map((step) => quote(step.pair.name)).join(" and ")}, from which ` +
          `${Number(implied.toPrecision(7))} follows; correct one of them or leave one out`,
      );
  });
  return {
    spots: new Map(pairs.map(({ name, spot }) => [name, spot])),
    pair(name, at) {
      const found = pairs.find((pair) => pair.name === name.replace("/", ""));
      if (found !== undefined) return found;
      const known = pairs.map((pair) => pair.name);
      throw new BookError(at, `market.fx has no pair ${quote(name)}${didYouMean(name, known)}; add its spot rate`);
    },
    anyPair(name, discount, at) {
      const quoted = pairs.find((pair) => pair.name === name.replace("/", ""));
      if (quoted !== undefined) return quoted;
      const [, base, second] = PAIR.exec(name) ?? [];
      if (base === undefined || base === second)
        throw new BookError(at, `expected the name of a pair of two currencies, such as "EURUSD", got ${quote(name)}`);
      const steps = this.steps(base, second, at);
      const known = [base, second].every((currency) => CURRENCY_CALENDARS[currency] !== undefined);
      // The inverse of a quoted pair has its spot date, and a cross its own.
      const own = steps.length === 1 ? steps[0].pair : known ? pairOf(name, { rate: 1 }, asOf, pathOf) : undefined;
      const last = steps.map(({ pair }) => pair).toSorted((a, b) => b.spotDay - a.spotDay)[0];
      const { spotDay, calendar, deliveryOf } = own ?? last;
      const spot = steps.reduce((rate, { pair, power }) => {
        const moved =
          pair.spotDay === spotDay
            ? 1
            : ((discount(pair.quote, pair.spotDay) / discount(pair.quote, spotDay)) * discount(pair.base, spotDay)) /
              discount(pair.base, pair.spotDay);
        return rate * (pair.spot * moved) ** power;
      }, 1);
      return { name: base + second, base, quote: second, spot, spotDay, calendar, deliveryOf };
    },
    steps(from, to, at) {
      const found = path(from, to, pairs);
      if (found !== undefined) return found;
      throw new BookError(at, `no exchange rate leads from ${from} to ${to}; add "${from}${to}" to market.fx`);
    },
  };
}

function pairOf(written: string, { rate: spot, date }: FxSpec, asOf: AsOf, pathOf: PathOf): FxPair {
  const [, base, second] = PAIR.exec(written) ?? [];
  if (base === undefined || base === second)
    throw new BookError(pathOf(written), 'expected the name of a pair of two currencies, such as "EURUSD"');
  const known = [base, second].map((currency) => CURRENCY_CALENDARS[currency]);
  const unknown = [base, second].find((_, i) => known[i] === undefined);
  if (unknown !== undefined && date === undefined)
    throw new BookError(
      pathOf(written),
      `the calendar of ${unknown} is not known; write { "rate", "date" } with the pair's spot date`,
    );
  const calendars = pairCalendars(unknown === undefined ? known : ["weekends"]);
  const spotDay = date === undefined ? spotDate(dayOfAsOf(asOf), calendars) : dayNumber(asOf, date);
  const calendar = unknown === undefined ? calendars.joint : calendarOf("weekends");
  // A written spot date says how many days delivery takes.
  const lag = spotDay - dayOfAsOf(asOf);
  const deliveryOf = (day: Day): Day => (date === undefined ? spotDate(day, calendars) : day + lag);
  return { name: base + second, base, quote: second, spot, spotDay, calendar, deliveryOf };
}

/** Returns the shortest way between two currencies, by pairs in the order of their names; undefined for none. */
function path(from: string, to: string, pairs: readonly FxPair[]): readonly FxStep[] | undefined {
  const ordered = pairs.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const ways = new Map<string, readonly FxStep[]>([[from, []]]);
  for (const [currency, way] of ways)
    for (const pair of ordered) {
      const power = pair.base === currency ? 1 : pair.quote === currency ? -1 : undefined;
      if (power === undefined) continue;
      const next = power === 1 ? pair.quote : pair.base;
      if (!ways.has(next)) ways.set(next, [...way, { pair, power }]);
    }
  return ways.get(to);
}
