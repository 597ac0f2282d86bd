/** Legs of ORE's trades on rates, as legs of a book. */
import { conventionsOf, type CalendarName, type DayCount, type IndexName } from "../../market/conventions/index.ts";
import { type Fields, NotImported } from "./fields.ts";

/** Texts of ORE that mean one thing. */
type Words<T extends string> = Readonly<Record<T, readonly string[]>>;

/** The value that a text of ORE means. @throws NotImported for a text that has none */
function meant<T extends string>(words: Partial<Words<T>>, text: string, what: string): T {
  const found = (Object.keys(words) as T[]).find((name) => words[name]!.includes(text));
  if (found === undefined) throw new NotImported(`${what}: ${text} is not known`);
  return found;
}

const INDICES: Words<IndexName> = {
  ESTR: ["EUR-ESTER", "EUR-ESTR", "EUR-STR"],
  SOFR: ["USD-SOFR"],
  SONIA: ["GBP-SONIA"],
  SARON: ["CHF-SARON"],
  TONA: ["JPY-TONAR", "JPY-TONA"],
  "EURIBOR-1M": ["EUR-EURIBOR-1M"],
  "EURIBOR-3M": ["EUR-EURIBOR-3M"],
  "EURIBOR-6M": ["EUR-EURIBOR-6M"],
  "EURIBOR-12M": ["EUR-EURIBOR-12M", "EUR-EURIBOR-1Y"],
};

const DAY_COUNTERS: Partial<Words<DayCount>> = {
  "Act/360": ["A360", "Actual/360", "ACT/360", "Act/360"],
  "Act/365F": ["A365", "A365F", "Actual/365 (Fixed)", "Actual/365 (fixed)", "ACT/365.FIXED", "ACT/365", "Act/365"],
  "30/360 US": ["T360", "30/360", "30/360 US", "30/360 (US)", "30U/360", "30US/360", "ACT/nACT"],
  "30/360": ["30/360 (Bond Basis)"],
  "30E/360": ["30E/360", "30E/360 (Eurobond Basis)", "30E/360.ICMA", "30E/360 ICMA"],
  "Act/Act ISDA": ["ActActISDA", "ACT/ACT.ISDA", "Actual/Actual (ISDA)", "ActualActual (ISDA)", "ACT/ACT", "ACT"],
};

const CALENDARS: Partial<Words<CalendarName>> = {
  TARGET: ["TARGET", "TGT", "EUR"],
  UK: ["UK", "GB", "GBP", "UK settlement", "LNB", "GBLO"],
  "US-settlement": ["US", "USD", "NYB", "US-SET", "US settlement"],
  "US-government-bond": ["US-GOV", "US government bond"],
  "US-Federal-Reserve": ["US-FED"],
  NYSE: ["US-NYSE"],
  Switzerland: ["Switzerland", "CHF", "ZUB", "CHZU", "CH"],
  Japan: ["Japan", "JPY", "JP", "TKB", "JPTO"],
  weekends: ["WeekendsOnly"],
};

const CONVENTIONS = {
  following: ["F", "Following", "FOLLOWING"],
  "modified-following": ["MF", "ModifiedFollowing", "Modified Following", "MODIFIEDF"],
  preceding: ["P", "Preceding", "PRECEDING"],
  "modified-preceding": ["MP", "ModifiedPreceding", "Modified Preceding", "MODIFIEDP"],
} as const;

/** The dates of a leg, as its fields in a book. */
interface LegDates {
  readonly start: string;
  readonly end: string;
  readonly dates: Readonly<Record<string, unknown>>;
}

/** A leg that has a fixed rate, or the rates of an index. */
export interface OreLeg extends LegDates {
  readonly pays: boolean;
  readonly currency: string;
  readonly notional: number | readonly number[];
  readonly exchange: "none" | "final" | "ends";
  readonly dayCount: DayCount;
  readonly payment: { readonly paymentLag: number; readonly paymentCalendar: unknown };
  /** The rates of a fixed leg, one or one a period. */
  readonly rate?: number | readonly number[];
  readonly index?: IndexName;
  readonly spread: number | readonly number[];
  readonly overnight: Readonly<Record<string, unknown>>;
}

/** Returns the index of a text such as EUR-EURIBOR-6M, in a currency. @throws NotImported */
export function indexOf(data: Fields, currency: string): IndexName {
  const index = meant(INDICES, data.text("Index"), "Index");
  const own = conventionsOf(index).currency;
  if (own !== currency) throw new NotImported(`Index: ${index} is of ${own}, and the leg of ${currency}`);
  return index;
}

const LEG = ["LegType", "Payer", "Currency", "Notionals", "DayCounter", "PaymentConvention", "ScheduleData"];

/** Reads a leg. @throws NotImported for what a leg of a book cannot tell */
export function readLeg(data: Fields): OreLeg {
  const kind = data.word("LegType", ["Fixed", "Floating"]);
  const own = `${kind}LegData`;
  data.onlyKnown([...LEG, "PaymentLag", "PaymentCalendar", own]);
  const currency = data.text("Currency");
  const rules = readRules(data.inside("ScheduleData"));
  const lag = data.optional("PaymentLag") ?? "0";
  if (!/^\d+D?$/.test(lag)) throw new NotImported(`PaymentLag: ${lag} is no number of days`);
  const calendar = data.optional("PaymentCalendar");
  if (calendar !== undefined && !isSame(calendarsOf(calendar), rules.calendar))
    throw new NotImported(`PaymentCalendar: ${calendar} is not the calendar of the schedule`);
  const shared = {
    ...rules.leg,
    pays: data.flag("Payer", false),
    currency,
    ...readNotionals(data.inside("Notionals")),
    dayCount: meant(DAY_COUNTERS, data.text("DayCounter"), "DayCounter"),
    payment: { paymentLag: Number.parseInt(lag, 10), paymentCalendar: rules.calendar },
  };
  const inner = data.inside(own);
  if (kind === "Fixed") {
    inner.onlyKnown(["Rates"]);
    return { ...shared, rate: stepsOf(inner.inside("Rates"), "Rate"), spread: 0, overnight: {} };
  }
  return { ...shared, ...readFloating(inner, currency, rules.calendar) };
}

const FLOATING = ["Index", "IsAveraged", "IsInArrears", "FixingDays", "Spreads", "Gearings", "HasSubPeriods"];

function readFloating(
  data: Fields,
  currency: string,
  calendar: unknown,
): Pick<OreLeg, "index" | "spread" | "overnight"> {
  data.onlyKnown([...FLOATING, "IncludeSpread", "Lookback", "RateCutoff", "NakedOption"]);
  const index = indexOf(data, currency);
  const { months, fixingLag, calendar: own } = conventionsOf(index);
  for (const name of ["HasSubPeriods", "IncludeSpread", "NakedOption"])
    if (data.flag(name, false)) throw new NotImported(`${name}: expected false`);
  const gearings = data.maybe("Gearings");
  if (gearings !== undefined && stepsOf(gearings, "Gearing") !== 1) throw new NotImported("Gearings: expected 1");
  const spreads = data.maybe("Spreads");
  const spread = spreads === undefined || !spreads.has("Spread") ? 0 : stepsOf(spreads, "Spread");
  const lag = data.number("FixingDays", fixingLag);
  if (lag !== fixingLag) throw new NotImported(`FixingDays: ${lag}, and ${index} has ${fixingLag}`);
  if (months !== undefined) {
    if (data.flag("IsInArrears", false)) throw new NotImported("IsInArrears: a term rate that is fixed in arrears");
    for (const name of ["Lookback", "RateCutoff"])
      if (data.optional(name) !== undefined) throw new NotImported(`${name}: of a term rate`);
    return { index, spread, overnight: {} };
  }
  if (!isSame(own, calendar)) throw new NotImported(`Calendar: that of ${index} is ${own}, by which it is paid`);
  const days = (name: string): number => Number.parseInt(data.optional(name) ?? "0", 10);
  const [lookback, lockout] = [days("Lookback"), days("RateCutoff")];
  if (!Number.isInteger(lookback) || !Number.isInteger(lockout) || (lookback > 0 && lockout > 0))
    throw new NotImported("Lookback, RateCutoff: expected one of them, in days");
  const overnight = {
    compounding: data.flag("IsAveraged", false) ? "averaged" : "compounded",
    ...(lookback > 0 ? { lookback } : {}),
    ...(lockout > 0 ? { lockout } : {}),
  };
  return { index, spread, overnight };
}

const RULES = ["StartDate", "EndDate", "Tenor", "Calendar", "Convention", "TermConvention", "Rule", "EndOfMonth"];

function readRules(schedule: Fields): { readonly leg: LegDates; readonly calendar: unknown } {
  schedule.onlyKnown(["Rules", "IsRulesBased"]);
  const [rules, ...others] = schedule.all("Rules");
  if (rules === undefined || others.length > 0) throw new NotImported("ScheduleData: expected one set of rules");
  rules.onlyKnown([...RULES, "FirstDate", "LastDate"]);
  const every = rules.text("Tenor");
  if (!/^[1-9]\d*[MY]$/.test(every)) throw new NotImported(`Tenor: ${every}, expected months or years`);
  const adjust = meant(CONVENTIONS, rules.text("Convention"), "Convention");
  const term = rules.optional("TermConvention");
  if (term !== undefined && meant(CONVENTIONS, term, "TermConvention") !== adjust)
    throw new NotImported(`TermConvention: ${term} is not that of the other dates`);
  const calendar = calendarsOf(rules.text("Calendar"));
  const stub = (name: string, field: string): Readonly<Record<string, string>> =>
    rules.optional(name) === undefined ? {} : { [field]: rules.date(name) };
  const dates = {
    every,
    calendar,
    adjust,
    roll: rules.word("Rule", ["Forward", "Backward"], "Forward").toLowerCase(),
    endOfMonth: rules.flag("EndOfMonth", false),
    ...stub("FirstDate", "first"),
    ...stub("LastDate", "penultimate"),
  };
  return { leg: { start: rules.date("StartDate"), end: rules.date("EndDate"), dates }, calendar };
}

function calendarsOf(text: string): CalendarName | readonly CalendarName[] {
  const names = text.split(",").map((name) => meant(CALENDARS, name.trim(), "Calendar"));
  return names.length === 1 ? names[0] : names;
}

const isSame = (one: unknown, other: unknown): boolean => String(one) === String(other);

function readNotionals(data: Fields): Pick<OreLeg, "notional" | "exchange"> {
  data.onlyKnown(["Notional", "Exchanges"]);
  const notional = stepsOf(data, "Notional");
  const exchanges = data.maybe("Exchanges");
  const [initial, final, amortizing] = ["Initial", "Final", "Amortizing"].map(
    (name) => exchanges?.flag(`Notional${name}Exchange`, false) ?? false,
  );
  if (!initial && !final && !amortizing) return { notional, exchange: "none" };
  if (!final || amortizing || typeof notional !== "number")
    throw new NotImported("Exchanges: expected those of one notional, at both ends or at the end");
  return { notional, exchange: initial ? "ends" : "final" };
}

/** The numbers of a list: one, or one for each period. */
function stepsOf(data: Fields, name: string): number | readonly number[] {
  const all = data.all(name);
  if (all.some((one) => one.attribute("startDate") !== undefined)) throw new NotImported(`${name}: values by date`);
  const numbers = all.map((one) => one.ownNumber());
  if (numbers.length === 0) throw new NotImported(`${name}: there is none`);
  return numbers.length === 1 ? numbers[0] : numbers;
}
