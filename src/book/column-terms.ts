/** The terms of a trade that columns of tables contain, and how their cells are read. */

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

/** Returns the names of all terms that a column may have. */
export const columnTerms = (): string[] => [...kinds().keys()];

/** Returns how the cells of a term are read; undefined for a name that is none. */
export const kindOfTerm = (name: string): CellKind | undefined => kinds().get(name);

/** Returns other words for the values of a term, in small letters. */
export const wordsOfTerm = (name: string): Readonly<Record<string, string>> | undefined => WORDS[name];
