/** Converts structured products from the form of the book: scripts are compiled, and past dates have run. */
import { BookError, KernelError, SpecError } from "../base/errors.ts";
import { ONE_SECOND } from "../market/index.ts";
import {
  compileScript,
  type DataKind,
  letters,
  library,
  type PaidRate,
  type Program,
  type ScriptInput,
} from "../market/scripts/index.ts";
import { History } from "./history.ts";
import type { ResolvedMarket } from "./market.ts";
import { didYouMean, quote } from "./names.ts";
import { type PathOf } from "./paths.ts";
import type { ScriptDataSpec, ScriptedTradeSpec } from "./schema/index.ts";
import { inCurrencies, type OnUnderlyings } from "./script-currencies.ts";
import { passScriptDates } from "./script-life.ts";
import { type AsOf, Clock, isoDay, MAX_YEARS, parseTime, type TimeSpec, yearsText } from "./time.ts";
import type { ScriptDateTerms, ScriptPayoff } from "./script-types.ts";
import type { ScriptedTrade } from "./types.ts";

/** The context of reading a structured product. */
interface Reader {
  readonly asOf: AsOf;
  readonly market: ResolvedMarket;
  readonly seenBefore: (id: string) => boolean;
  /** Returns the underlyings with these names, as trades have them. @throws BookError */
  underlyings(names: readonly string[], pathOf: PathOf, reader: Reader): OnUnderlyings;
}

/** A time of a script, as the book writes it and in years. */
interface Moment {
  readonly spec: TimeSpec;
  readonly time: number;
}

/** An event on one of its dates. */
interface Occurrence extends Moment {
  readonly event: number | "start";
  /** The index of the date among those of the event, and their number. */
  readonly index: number;
  readonly count: number;
}

/** The parts of a structured product that its dates are made of. */
interface Parts {
  readonly program: Program;
  readonly data: ReadonlyMap<string, ScriptDataSpec>;
  readonly clock: Clock;
  readonly pathOf: PathOf;
}

/** The name of the datum that accuracies are relative to, whether the script reads it or not. */
const NOTIONAL = "notional";

/** Returns a structured product after reading. @throws BookError what is wrong with it or with its script */
export function resolveScripted(spec: ScriptedTradeSpec, pathOf: PathOf, reader: Reader): ScriptedTrade {
  const { id, quantity = 1, tags, script: written, data = new Map() } = spec;
  const { names, own } = underlyingsOf(spec, pathOf);
  const alone = reader.underlyings(names, pathOf, reader);
  const { currency = alone.underlying.currency } = spec;
  const programWith = (rates?: readonly PaidRate[]): Program =>
    programOf(written, own, data, pathOf, reader.market, rates);
  const inOwn = programWith();
  const { on, paid, exchange } = inCurrencies(alone, {
    names,
    currency,
    paidIn: [...new Set(inOwn.sites.flatMap((site) => site.currency ?? []))],
    market: reader.market,
    pathOf,
    find: (all) => reader.underlyings(all, pathOf, reader),
  });
  const program = paid.length === 0 ? inOwn : programWith(paid);
  const spots = (alone.assets ?? [alone]).map(({ underlying }) => underlying.spot);
  const dividends = (on.assets ?? [on]).flatMap(({ underlying }) => underlying.dividends.discrete);
  const parts: Parts = { program, data, pathOf, clock: new Clock(reader.asOf, dividends) };
  checkNames(parts);
  const { dates, moments, end } = datesOf(spec, parts);
  if (end < -ONE_SECOND) throw new BookError(pathOf("script"), `its last date was ${yearsText(-end)} before asOf`);
  if (end > MAX_YEARS)
    throw new BookError(pathOf("script"), `expected dates up to ${MAX_YEARS} years, got ${end.toFixed(0)}`);
  const notional = data.get(NOTIONAL);
  const whole: ScriptPayoff = {
    kind: "script",
    program,
    scalars: program.scalars.map(({ name, part }) => scalarOf(parts, name, part)),
    dates,
    running: startOf(spec, parts),
    owed: [],
    unit: notional?.kind === "number" && notional.value !== 0 ? Math.abs(notional.value) : Math.max(...spots),
  };
  // What was decided in the past and is paid in another currency is owed in that: no exchange rate has a fixing.
  const rates = Array<number>((on.assets?.length ?? 1) - names.length).fill(1);
  const fixings = fixingsOf(names, moments, parts, reader);
  const payoff = passScriptDates(whole, 0, (date) => fixings(date)?.concat(rates));
  const left = [...payoff.dates.flatMap((date) => timesOf(program, date)), ...payoff.owed.map(({ time }) => time)];
  const trade: { -readonly [Key in keyof ScriptedTrade]: ScriptedTrade[Key] } = {
    kind: "scripted",
    id,
    ...on,
    currency,
    payoff,
    expiry: Math.max(0, ...left),
    exercise: { kind: "european" },
    barriers: [],
    quantity,
  };
  if (exchange !== undefined) trade.exchange = exchange;
  if (tags !== undefined) trade.tags = { ...tags };
  return trade;
}

/** The names of the underlyings in the market, and in the script. */
function underlyingsOf({ underlying, underlyings }: ScriptedTradeSpec, pathOf: PathOf) {
  if ((underlying === undefined) === (underlyings === undefined))
    throw new BookError(pathOf("underlyings"), 'expected either "underlying" or "underlyings"');
  if (underlyings === undefined) return { names: [underlying as string], own: letters(1) };
  if (Array.isArray(underlyings)) return { names: underlyings, own: letters(underlyings.length) };
  if (underlyings.size === 0) throw new BookError(pathOf("underlyings"), "expected at least one");
  return { names: [...underlyings.values()], own: [...underlyings.keys()] };
}

function programOf(
  written: string | ScriptInput,
  own: readonly string[],
  data: ReadonlyMap<string, ScriptDataSpec>,
  pathOf: PathOf,
  market: ResolvedMarket,
  paid?: readonly PaidRate[],
): Program {
  const at = pathOf("script");
  const script = typeof written === "string" ? namedScript(written, market, at) : written;
  const kinds = new Map([...data].map(([name, { kind }]): [string, DataKind] => [name, kind]));
  try {
    return compileScript(script, own, kinds, typeof written === "string" ? written : "of the trade", paid);
  } catch (cause) {
    if (!(cause instanceof KernelError || cause instanceof SpecError)) throw cause;
    throw new BookError(at, cause.message, { cause });
  }
}

function namedScript(name: string, { scripts }: ResolvedMarket, at: string): ScriptInput {
  const script = scripts.get(name) ?? (Object.hasOwn(library, name) ? library[name] : undefined);
  if (script !== undefined) return script;
  const known = [...scripts.keys(), ...Object.keys(library)];
  throw new BookError(at, `unknown script ${quote(name)}${didYouMean(name, known)}; known are ${known.join(", ")}`);
}

/** @throws BookError data that the script does not use, or no payments at all */
function checkNames({ program, data, pathOf }: Parts): void {
  if (program.sites.length + program.rights.length === 0)
    throw new BookError(pathOf("script"), "it pays nothing; expected pay(amount) in one of its events");
  const unused = [...data.keys()].find((name) => !program.uses.has(name) && name !== NOTIONAL);
  if (unused !== undefined)
    throw new BookError(
      pathOf("data", unused),
      `the script does not use it${didYouMean(unused, program.uses)}; it uses ${[...program.uses].join(", ")}`,
    );
}

/** All dates of a script, past ones as well, and the end of the last one or of the last payment. */
function datesOf(spec: ScriptedTradeSpec, parts: Parts) {
  const { program, clock, pathOf } = parts;
  const all: Occurrence[] = [];
  const add = (event: Occurrence["event"], moments: readonly Moment[], at: string): void => {
    moments.forEach((moment, index) => {
      if (index > 0 && !(moment.time > moments[index - 1].time))
        throw new BookError(
          at,
          `expected dates that increase, got ${yearsText(moment.time)} from asOf after a later one`,
        );
      all.push({ ...moment, event, index, count: moments.length });
    });
  };
  const start = program.initialAt === undefined || spec.start === undefined ? undefined : clock.years(spec.start);
  if (start !== undefined) add("start", [{ spec: spec.start!, time: start }], pathOf("start"));
  program.events.forEach(({ on }, event) => {
    const name = typeof on === "string" && parts.data.has(on) ? pathOf("data", on) : pathOf("script");
    add(
      event,
      (Array.isArray(on) ? on : [on]).flatMap((one) => momentsOf(one as string | number, parts)),
      name,
    );
  });
  const early = all.find(({ time }) => start !== undefined && time < start);
  if (early !== undefined)
    throw new BookError(
      pathOf("start"),
      `event ${Number(early.event) + 1} has a date ${yearsText(start! - early.time)} before it, when there are no ` +
        "initial fixings yet; expected a start up to the first date",
    );
  const times = [...new Set(all.map(({ time }) => time))].toSorted((a, b) => a - b);
  const moments = new Map<number, Moment>(all.map((one) => [one.time, one]));
  const dates = times.map((time): ScriptDateTerms => {
    const here = all.filter((one) => one.time === time);
    checkRights(here, parts);
    return { time, dated: program.columns.map((_, c) => datedNumber(parts, here, time, c)) };
  });
  return { dates, moments, end: Math.max(...dates.flatMap((date) => timesOf(program, date))) };
}

/** @throws BookError rights of the holder and of the issuer on one date, of which one would have to be the first */
function checkRights(here: readonly Occurrence[], { program: { rights }, pathOf }: Parts): void {
  const own = rights.filter(({ event }) => here.some((one) => one.event === event));
  const other = own.find(({ of }) => of !== own[0].of);
  if (other !== undefined)
    throw new BookError(
      pathOf("script"),
      `events ${own[0].event + 1} and ${other.event + 1} are on one date, and one of them has exercise(…), the other ` +
        "call(…); expected dates of their own",
    );
}

/** The time of a date, and those of its later payments. */
const timesOf = ({ columns }: Program, { time, dated }: ScriptDateTerms): readonly number[] => [
  time,
  ...dated.filter((_, c) => columns[c].kind === "delay"),
];

/** The dates that a name of the data, or a date, stands for. */
function momentsOf(on: string | number, { data, clock, pathOf }: Parts): readonly Moment[] {
  const moment = (spec: TimeSpec): Moment => ({ spec, time: clock.years(spec) });
  const years = (value: number): Moment => moment({ kind: "years", years: value });
  if (typeof on === "number") return [years(on)];
  const known = data.get(on);
  switch (known?.kind) {
    case undefined: {
      const time = parseTime(on);
      if (time !== undefined) return [moment(time)];
      throw new BookError(
        pathOf("data"),
        `the script has events on ${quote(on)}, which the data do not have${didYouMean(on, data.keys())}`,
      );
    }
    case "number":
      return [years(known.value)];
    case "numbers":
      return known.values.map(years);
    case "date":
      return [moment(known.time)];
    case "dates":
      return known.times.map(moment);
    default:
      throw new BookError(pathOf("data", on), "expected a date or a list of dates, got numbers by underlying");
  }
}

/** The number of a date in a column; of later payments their time in years. */
function datedNumber(parts: Parts, here: readonly Occurrence[], time: number, c: number): number {
  const { program, data, pathOf } = parts;
  const column = program.columns[c];
  switch (column.kind) {
    case "happens":
      return here.some(({ event }) => event === column.event) ? 1 : 0;
    case "time":
      return time;
    case "dated": {
      const own = here.find(({ event }) => event === column.event);
      const list = data.get(column.name);
      if (own === undefined || list?.kind !== "numbers") return 0;
      if (list.values.length === own.count) return list.values[own.index];
      throw new BookError(
        pathOf("data", column.name),
        `expected ${own.count} numbers, one for each date of event ${column.event + 1}, got ${list.values.length}`,
      );
    }
    case "delay": {
      const site = program.sites[column.site];
      const own = here.find(({ event }) => event === site.event);
      if (own === undefined) return time;
      return site.on === undefined ? time : paymentTime(parts, site.on, own);
    }
    default:
      return column satisfies never;
  }
}

function paymentTime(parts: Parts, on: string, { count, index, time, event }: Occurrence): number {
  const at = parts.pathOf("data", on);
  const moments = momentsOf(on, parts);
  if (moments.length !== 1 && moments.length !== count)
    throw new BookError(
      at,
      `expected one date, or ${count}, one for each of event ${Number(event) + 1}, got ${moments.length}`,
    );
  const paid = moments[moments.length === 1 ? 0 : index].time;
  if (paid > time - ONE_SECOND) return Math.max(paid, time);
  throw new BookError(at, `expected a date from that of the event on, which is ${yearsText(time - paid)} later`);
}

function scalarOf({ data, program, pathOf }: Parts, name: string, part: number): number {
  const known = data.get(name);
  if (known?.kind === "number") return known.value;
  const letter = program.letters[part];
  const value = known?.kind === "each" ? known.values.get(letter) : undefined;
  const foreign = known?.kind === "each" && [...known.values.keys()].find((one) => !program.letters.includes(one));
  if (value !== undefined && typeof foreign !== "string") return value;
  throw new BookError(
    pathOf("data", name),
    `expected a number for each of ${program.letters.join(", ")}, ` +
      (typeof foreign === "string" ? `got one for ${quote(foreign)}` : `got none for ${quote(letter)}`),
  );
}

/** The carried numbers at the beginning of a script. */
function startOf({ initial, start }: ScriptedTradeSpec, parts: Parts): readonly number[] {
  const { program, pathOf } = parts;
  const running = Array<number>(program.running).fill(0);
  // Alive, with nothing paid.
  running[1] = 1;
  for (const { at, count, initial: value } of program.states)
    for (let k = 0; k < count; k++) running[at + k] = typeof value === "number" ? value : scalarOf(parts, value, 0);
  const { initialAt, lastAt, letters: own } = program;
  if (initialAt === undefined) {
    if (initial === undefined && start === undefined) return running;
    throw new BookError(
      pathOf(initial === undefined ? "start" : "initial"),
      "expected none: the script does not use S0",
    );
  }
  if ((initial === undefined) === (start === undefined))
    throw new BookError(
      pathOf("initial"),
      'the script uses initial fixings (S0); expected "initial", their values, or "start", their date',
    );
  own.forEach((letter, k) => {
    // Set by the event of the start, before anything reads it.
    const value = initial === undefined ? 1 : initialOf(initial, letter, k, own.length, pathOf);
    running[initialAt + k] = value;
    if (lastAt !== undefined) running[lastAt + k] = value;
  });
  return running;
}

function initialOf(
  initial: NonNullable<ScriptedTradeSpec["initial"]>,
  letter: string,
  k: number,
  count: number,
  pathOf: PathOf,
): number {
  const isMap = initial instanceof Map;
  const got = typeof initial === "number" ? 1 : isMap ? initial.size : (initial as readonly number[]).length;
  const value =
    typeof initial === "number" ? initial : isMap ? (initial.get(letter) as number) : (initial as readonly number[])[k];
  if (got === count && value !== undefined) return value;
  throw new BookError(
    pathOf("initial"),
    `expected ${count} initial ${count === 1 ? "fixing" : "fixings"}, got ${got === count ? `none of ${letter}` : got}`,
  );
}

/** Returns the function that finds the fixings of a date that has passed, or of today if the market has them. */
function fixingsOf(
  names: readonly string[],
  moments: ReadonlyMap<number, Moment>,
  { pathOf, clock }: Parts,
  { asOf, market }: Reader,
): (date: ScriptDateTerms) => readonly number[] | undefined {
  return ({ time }) => {
    if (time > ONE_SECOND) return undefined;
    const { spec } = moments.get(time)!;
    const day = isoDay(asOf, spec).slice(0, 10);
    const known = names.map((name) => new History(name, market.fixings, clock).on(spec, pathOf("script")));
    const missing = known.indexOf(undefined);
    // Today's spots count where no fixing of today is known.
    if (time > -ONE_SECOND && known.every((value) => value === undefined)) return undefined;
    if (missing >= 0)
      throw new BookError(
        pathOf("script"),
        `the fixing of ${quote(names[missing])} on ${day} has passed; expected it as market.fixings.${names[missing]}` +
          `["${day}"]`,
      );
    return known as readonly number[];
  };
}
