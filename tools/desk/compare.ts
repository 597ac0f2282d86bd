/** Random schedules and swaps, computed by the library and by `naive.ts`. */
import { readBook } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { calendarOf, dayOf, isoOf, scheduleOf, tenorOf } from "../../src/market/conventions/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import {
  naiveDates,
  naiveLeg,
  type CalendarName,
  type NaiveCurve,
  type NaiveDayCount,
  type NaiveLeg,
  type NaiveMarket,
  type NaiveSchedule,
  plusDays,
} from "./naive.ts";

/** A difference, with what it was found on. */
export interface Miss {
  readonly number: number;
  readonly what: object;
  readonly got: unknown;
  readonly expected: unknown;
}

/** Draws of a generator that each number of a case seeds (Marsaglia's xorshift with 32 bits). */
class Draws {
  #state: number;

  constructor(seed: number, number: number) {
    this.#state = (Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b)) | 1;
    for (let k = 0; k < 8; k++) this.unit();
  }

  unit(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return (x >>> 0) / 2 ** 32;
  }

  whole(from: number, to: number): number {
    return from + Math.floor(this.unit() * (to - from + 1));
  }

  of<T>(...list: readonly T[]): T {
    return list[this.whole(0, list.length - 1)];
  }

  between(low: number, high: number): number {
    return low + this.unit() * (high - low);
  }

  isTrue(probability: number): boolean {
    return this.unit() < probability;
  }
}

const ADJUST = ["unadjusted", "following", "modified-following", "preceding", "modified-preceding"] as const;

/** The rules by which a random schedule has its dates. */
function rulesOf(draw: Draws): Omit<NaiveSchedule, "from" | "to" | "every"> {
  return {
    calendar: draw.of<CalendarName>("TARGET", "weekends"),
    adjust: draw.of(...ADJUST),
    roll: draw.of("backward", "forward"),
    stub: draw.of("short", "long"),
    endOfMonth: draw.isTrue(0.5),
    ...(draw.isTrue(0.2) ? { rollDay: draw.whole(1, 31) } : {}),
  };
}

/** A day of the years from 1999 on; one in four is an end of a month. */
function dayOfLife(draw: Draws, from: string, days: number): string {
  const day = plusDays(from, draw.whole(0, days));
  return draw.isTrue(0.25) ? plusDays(`${plusDays(`${day.slice(0, 7)}-28`, 4).slice(0, 7)}-01`, -1) : day;
}

function randomSchedule(draw: Draws): NaiveSchedule {
  const from = dayOfLife(draw, "1999-01-01", 20_000);
  const every = draw.of("1M", "2M", "3M", "6M", "1Y", "2W", "10D", "28D", "1W");
  const to = dayOfLife(draw, plusDays(from, 40), /[WD]/.test(every) ? 1200 : 5000);
  const length = (Date.parse(to) - Date.parse(from)) / 86_400_000;
  const part = (low: number, high: number): string => plusDays(from, Math.round(draw.between(low, high) * length));
  return {
    from,
    to,
    every,
    ...rulesOf(draw),
    ...(draw.isTrue(0.2) ? { first: part(0.01, 0.4) } : {}),
    ...(draw.isTrue(0.2) ? { penultimate: part(0.5, 0.99) } : {}),
  };
}

/** Returns the schedules whose dates differ. */
export function differentSchedules(count: number, seed: number): Miss[] {
  const misses: Miss[] = [];
  for (let number = 0; number < count; number++) {
    const spec = randomSchedule(new Draws(seed, number));
    const { from, to, every, calendar, adjust, roll: counted, first, penultimate, ...rules } = spec;
    const { dates } = scheduleOf({
      ...rules,
      from: dayOf(from),
      to: dayOf(to),
      every: tenorOf(every),
      calendar: calendarOf(calendar),
      adjust,
      counted,
      first: first === undefined ? undefined : dayOf(first),
      penultimate: penultimate === undefined ? undefined : dayOf(penultimate),
    });
    const [got, expected] = [dates.map(isoOf), naiveDates(spec)];
    if (got.join() !== expected.join()) misses.push({ number, what: spec, got, expected });
  }
  return misses;
}

const AS_OF = "2026-11-20";

function curveOf(draw: Draws, level: number): NaiveCurve {
  const zeros = [90, 370, 1100, 2600, 5500].map((days) => ({
    date: plusDays(AS_OF, days + draw.whole(0, 60)),
    zero: level + draw.between(-0.012, 0.012),
  }));
  return { zeros, interpolation: draw.of("log-discount", "zero-rate") };
}

const INDICES = ["ESTR", "EURIBOR-3M", "EURIBOR-6M"] as const;

function marketOf(draw: Draws): NaiveMarket {
  const days = Array.from({ length: 1300 }, (_, k) => plusDays(AS_OF, -k));
  const published = (level: number, isToday: boolean): Record<string, number> =>
    Object.fromEntries(days.slice(isToday ? 0 : 1).map((day) => [day, level * draw.between(0.7, 1.3)]));
  const fixings = {
    ...Object.fromEntries(INDICES.map((index) => [index, published(0.02, draw.isTrue(0.5))])),
    EURUSD: published(1.1, draw.isTrue(0.5)),
  };
  const estr = curveOf(draw, 0.02);
  return {
    asOf: AS_OF,
    discount: { EUR: estr, USD: curveOf(draw, 0.035) },
    projection: { ESTR: estr, "EURIBOR-3M": curveOf(draw, 0.022), "EURIBOR-6M": curveOf(draw, 0.024) },
    fixings,
    eurusd: draw.between(0.9, 1.3),
  };
}

/** The market of a book that says the same. */
const bookMarket = ({ discount, projection, fixings, eurusd }: NaiveMarket): object => ({
  curves: { D: discount.EUR, U: discount.USD, T: projection["EURIBOR-3M"], S: projection["EURIBOR-6M"] },
  rates: {
    EUR: { discount: "D", forward: { ESTR: "D", "EURIBOR-3M": "T", "EURIBOR-6M": "S" } },
    USD: { discount: "U" },
  },
  fx: { EURUSD: { rate: eurusd, date: AS_OF } },
  fixings,
});

/** A swap as a book has it, in euros. */
interface Swap {
  readonly start: string;
  readonly end: string;
  readonly currency: "EUR";
  readonly pay: NaiveLeg;
  readonly receive: NaiveLeg;
}

const COUNTS: readonly NaiveDayCount[] = ["Act/360", "Act/365F", "30/360", "30E/360", "Act/Act ISDA"];

function stepsOf(draw: Draws, low: number, high: number): number | number[] {
  const one = (): number => draw.between(low, high);
  return draw.isTrue(0.7) ? one() : Array.from({ length: draw.whole(2, 5) }, one);
}

/** Both legs of a swap. One that resets has the notional of the other one, in euros. */
function legsOf(draw: Draws): readonly [NaiveLeg, NaiveLeg] {
  const first = legOf(draw);
  let other = legOf(draw);
  const isOther = ({ notional, resets, currency }: NaiveLeg): boolean =>
    typeof notional === "number" && resets !== true && currency === "EUR";
  if (first.resets !== true) {
    while (other.resets === true) other = legOf(draw);
    return [first, other];
  }
  while (!isOther(other)) other = legOf(draw);
  return [{ ...first, notional: other.notional }, other];
}

/** A leg as a book has it. */
const bookLeg = ({ notional, exchange, resets, ...leg }: NaiveLeg): object =>
  resets === true ? { ...leg, resets } : { ...leg, notional, exchange };

function legOf(draw: Draws): NaiveLeg {
  const kind = draw.of("fixed", "term", "term", "overnight", "averaged", "dollars", "resets");
  const isOvernight = kind === "overnight" || kind === "averaged";
  const index = kind === "term" ? draw.of("EURIBOR-3M", "EURIBOR-6M") : isOvernight ? "ESTR" : undefined;
  const notional = kind === "resets" ? 1e6 : stepsOf(draw, 5e5, 2e6);
  const observed = isOvernight ? draw.of("plain", "plain", "lookback", "shift", "lockout") : "plain";
  const isStepped = typeof notional !== "number";
  return {
    ...rulesOf(draw),
    // Overnight rates are compounded between business days.
    ...(isOvernight ? { calendar: "TARGET" as const, adjust: draw.of("following", "modified-following") } : {}),
    every: isOvernight ? draw.of("3M", "6M", "1Y") : draw.of("1M", "3M", "6M", "1Y"),
    ...(index === undefined ? { rate: stepsOf(draw, -0.01, 0.05) } : { index, spread: stepsOf(draw, -0.002, 0.004) }),
    notional,
    currency: kind === "dollars" || kind === "resets" ? "USD" : "EUR",
    dayCount: draw.of(...COUNTS),
    paymentLag: draw.whole(0, 3),
    exchange:
      kind === "resets" ? "none" : isStepped ? draw.of("none", "final", "all") : draw.of("none", "final", "ends"),
    ...(isOvernight ? { compounding: kind === "averaged" ? ("averaged" as const) : ("compounded" as const) } : {}),
    ...(observed === "plain" ? {} : { [observed]: draw.whole(1, 5) }),
    ...(kind === "resets" ? { resets: true } : {}),
  };
}

/** Returns the swaps whose value, or that of one of their legs, differs by more than 1e-9 of the notional. */
export async function differentSwaps(count: number, seed: number, perMarket = 100): Promise<Miss[]> {
  using device = createCpuDevice({ threads: 1 });
  const misses: Miss[] = [];
  for (let first = 0; first < count; first += perMarket) {
    const market = marketOf(new Draws(seed + 1, first));
    const numbers = Array.from({ length: Math.min(perMarket, count - first) }, (_, k) => first + k);
    const swaps = numbers.map((number): Swap => {
      const draw = new Draws(seed, number);
      const start = plusDays(AS_OF, draw.whole(-700, 700));
      const end = plusDays(start > AS_OF ? start : AS_OF, draw.whole(60, 4000));
      const [pay, receive] = draw.isTrue(0.5) ? legsOf(draw) : legsOf(draw).toReversed();
      return { start, end, currency: "EUR", pay, receive };
    });
    const trades = swaps.map((swap, k) => ({
      id: String(first + k),
      swap: { ...swap, pay: bookLeg(swap.pay), receive: bookLeg(swap.receive) },
    }));
    const { results } = await priceBook(readBook({ asOf: AS_OF, market: bookMarket(market), trades }), { device });
    results.forEach((result, k) => {
      const { start, end, pay, receive } = swaps[k];
      const inEuros = (leg: NaiveLeg): number =>
        naiveLeg(leg, start, end, market) / (leg.currency === "USD" ? market.eurusd : 1);
      const expected = inEuros(receive) - inEuros(pay);
      const got = result.status === "error" ? result.error.message : result.value;
      if (typeof got === "number" && Math.abs(got - expected) <= 1e-9 * 1e6) return;
      misses.push({ number: first + k, what: swaps[k], got, expected });
    });
  }
  return misses;
}
