/** The terms of a trade that columns of tables contain, how their cells are read, and what desks call them. */
import { nearestName } from "./names.ts";

/**
 * The conversion of a cell to a value.
 *
 * * `text`: the text itself.
 * * `number`: a number if the cell looks like one, otherwise text, which the schema of the trade then rejects and
 *   quotes.
 * * `flag`: true or false.
 * * `json`: JSON if the cell starts with a bracket or brace, otherwise as `number`.
 * * `either`: a list if the cell has a semicolon, otherwise as `json`.
 * * `list`: a list, its items with semicolons between them; or JSON.
 * * `tag`: the text itself in CSV, so that 007 remains 007. In Parquet, a number if the type of the column is numeric.
 */
export type CellKind = "text" | "number" | "flag" | "json" | "either" | "list" | "tag";

type Terms = readonly (readonly [name: string, kind: CellKind])[];

/** Terms of the same kind, all within one object. */
const within = (prefix: string, kind: CellKind, ...names: readonly string[]): Terms =>
  names.map((name) => [`${prefix}.${name}`, kind]);

const datesOf = (prefix: string): Terms => [
  ...within(prefix, "number", "rollDay", "first", "penultimate"),
  ...within(prefix, "text", "every", "adjust", "roll", "stub"),
  ...within(prefix, "either", "calendar"),
  ...within(prefix, "flag", "endOfMonth"),
];

const scheduleOf = (prefix: string): Terms => [
  ...within(`${prefix}.schedule`, "number", "from", "to"),
  ...datesOf(`${prefix}.schedule`),
];

const legOf = (prefix: string): Terms => [
  ...within(prefix, "either", "rate", "spread", "notional", "paymentCalendar"),
  ...within(prefix, "text", "index", "currency", "dayCount", "compounding", "exchange"),
  ...within(prefix, "number", "paymentLag", "lookback", "shift", "lockout"),
  ...within(prefix, "flag", "zeroCoupon", "resets"),
  ...datesOf(prefix),
];

/** Terms of a leg of caps and swaptions. */
const rateLegOf = (prefix: string): Terms => [
  ...within(prefix, "number", "start", "end", "frequency", "notional", "fixing", "paymentLag"),
  ...within(prefix, "text", "index", "dayCount"),
  ...within(prefix, "either", "paymentCalendar"),
  ...datesOf(prefix),
];

const barrierOf = (prefix: string): Terms => [
  ...within(prefix, "text", "underlying", "type", "rebateAt"),
  ...within(prefix, "number", "level", "rebate", "breached", "from", "to"),
  ...within(prefix, "either", "monitoring"),
  ...scheduleOf(`${prefix}.monitoring`),
];

const conversionOf = (prefix: string): Terms => [
  [prefix, "json"],
  ...within(prefix, "text", "currency"),
  ...within(prefix, "number", "correlation", "volatility"),
];

/** The names of the objects that columns describe a trade's barriers by, in the order of `barriers`. */
export const BARRIERS = ["barrier", "barrier2"] as const;

const allTerms = (): Terms => [
  ["id", "text"],
  ["underlying", "text"],
  ["underlyings", "list"],
  ["payoff", "json"],
  ...within("payoff", "text", "digital", "expression", "basket", "kind", "bestOf", "worstOf", "spread"),
  ...within("payoff", "text", "at", "currency"),
  ...within("payoff", "number", "cash"),
  ...within("payoff", "list", "kinks", "weights"),
  ...within("payoff", "either", "touch", "noTouch"),
  ["strike", "number"],
  ["expiry", "number"],
  ["exercise", "either"],
  ...scheduleOf("exercise"),
  ["payment", "number"],
  ["paymentLag", "number"],
  ["paymentCalendar", "either"],
  ...conversionOf("quanto"),
  ["quanto.rate", "number"],
  ...conversionOf("composite"),
  ["quantity", "number"],
  ["tags", "json"],
  ["barriers", "json"],
  ...BARRIERS.flatMap(barrierOf),
  ["average", "json"],
  ["average.kind", "text"],
  ["average.dates", "either"],
  ...scheduleOf("average.dates"),
  ...within("average.past", "number", "count", "mean"),
  ["lookback", "json"],
  ["lookback.strike", "text"],
  ["lookback.monitoring", "either"],
  ...scheduleOf("lookback.monitoring"),
  ...within("lookback", "number", "from", "extremum"),
  ["swing", "json"],
  ["swing.dates", "list"],
  ...scheduleOf("swing.dates"),
  ...within("swing", "number", "min", "max"),
  ["volatility", "json"],
  ...within("volatility.cev", "number", "sigma", "beta"),
  ...within("volatility.displaced", "number", "sigma", "shift"),
  ...within("volatility", "json", "termStructure", "surface"),
  ["volatility.heston", "json"],
  ...within("volatility.heston", "number", "v0", "kappa", "theta", "sigma", "rho"),
  ["volatility.sabr", "json"],
  ...within("volatility.sabr", "number", "alpha", "beta", "nu", "rho"),
  ["volatility.stochasticLocal", "json"],
  ["volatility.gaussianFactors", "json"],
  ...within("volatility.gaussianFactors", "list", "alpha", "sigma"),
  ["volatility.gaussianFactors.rho", "number"],
  ["volatility.local", "text"],
  ["volatility.normal", "number"],
  ["currency", "text"],
  ["bond", "json"],
  ["cashflows", "json"],
  ["notional", "number"],
  ["calls", "json"],
  ["puts", "json"],
  ["marketPrice", "number"],
  ["on", "json"],
  ["strikeIs", "text"],
  ["cap", "json"],
  ["floor", "json"],
  ...["cap", "floor", "swap", "swap.fixed"].flatMap(rateLegOf),
  ["swaption", "text"],
  ["swap", "json"],
  ...within("swap", "number", "start", "end"),
  ...within("swap", "text", "currency"),
  ...within("swap", "either", "notional"),
  ...["swap.pay", "swap.receive"].flatMap(legOf),
  ["convertible", "json"],
  ["forward", "number"],
  ["script", "json"],
  ["data", "json"],
  ["initial", "json"],
  ["start", "number"],
  ["fra", "json"],
  ...within("fra", "text", "index", "side"),
  ...within("fra", "number", "start", "end", "rate", "notional"),
  ["note", "json"],
  ...within("note", "number", "start", "end"),
  ...legOf("note"),
  ["fxForward", "json"],
  ...within("fxForward", "text", "pair"),
  ...within("fxForward", "number", "amount", "rate", "delivery"),
  ["cds", "json"],
  ...within("cds", "text", "curve", "side", "currency"),
  ...within("cds", "number", "start", "end", "notional", "coupon", "upfront", "recovery"),
  ["report", "list"],
];

let known: ReadonlyMap<string, CellKind> | undefined;
/** The kinds of the cells of each term. Books without tables need none, so that the first table makes them. */
const kinds = (): ReadonlyMap<string, CellKind> => (known ??= new Map(allTerms()));

/** Other words for the values of terms, in small letters. Letter case does not matter in them. */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  payoff: { c: "call", call: "call", p: "put", put: "put" },
  exercise: { e: "european", european: "european", a: "american", american: "american" },
};

/** What tables of desks usually call a term, in small letters. */
const ALIASES: Readonly<Record<string, string>> = {
  id: "traderef tradeid trade ref reference dealid dealref dealnumber tradenumber",
  underlying: "ticker underlier asset symbol stock undl",
  payoff: "callput cp putcall pc optiontype right",
  strike: "strikeprice k",
  expiry: "maturity maturitydate expirydate expiration expirationdate exercisedate",
  exercise: "style exercisestyle optionstyle",
  quantity: "qty position units size lots",
  currency: "ccy",
  notional: "nominal",
  "barrier.level": "barrier",
  "barrier.rebate": "rebate",
  "swap.pay.rate": "payrate fixedrate",
  "swap.receive.index": "receiveindex floatindex",
  "swap.end": "swapend",
};

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** The terms by other names for them: those of desks, and their own without dots, and whatever their letter case is. */
const byOtherName = (): ReadonlyMap<string, string> =>
  new Map([
    ...[...kinds().keys()].map((term) => [plain(term), term] as const),
    ...Object.entries(ALIASES).flatMap(([term, names]) => names.split(" ").map((name) => [name, term] as const)),
  ]);

/** Returns the names of all terms that a column may have. */
export const columnTerms = (): string[] => [...kinds().keys()];

/** Returns how the cells of a term are read; undefined for a name that is none. */
export const kindOfTerm = (name: string): CellKind | undefined => kinds().get(name);

/** Returns other words for the values of a term, in small letters. */
export const wordsOfTerm = (name: string): Readonly<Record<string, string>> | undefined => WORDS[name];

/**
 * Returns the term that the name of a column seems to mean; undefined if there is none. Names that desks use for terms
 * in `taken` may mean something else.
 */
export function nearestTerm(name: string, taken: ReadonlySet<string>): string | undefined {
  const usual = byOtherName().get(plain(name));
  return usual === undefined || taken.has(usual) ? nearestName(name, kinds().keys()) : usual;
}
