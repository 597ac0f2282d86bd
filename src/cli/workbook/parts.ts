/** The sheets of a workbook, and which part of a book each of them has. */

/** A sheet of a part of a book. Its columns are keys, and dotted paths inside of what the keys name. */
export interface Part {
  readonly sheet: string;
  /** The place of the part in the book. */
  readonly at: readonly string[];
  /** The columns whose cells are names on the way down from there. */
  readonly keys: readonly string[];
  /** Where each row is an item of a list: the place of the list below the keys. */
  readonly list?: readonly string[];
  /** The column of what is no object, such as one rate. */
  readonly value?: string;
  /** The columns of nodes: what has these is a list of them, such as zero rates by date. */
  readonly nodes?: readonly string[];
  /** The columns that a template has besides the keys. */
  readonly columns: readonly string[];
}

/** The sheet of trades, whose columns are those of CSV. */
export const TRADES = "trades";
/** The sheet of names and values: what no other sheet has, by its path in the book. */
export const REST = "book";
/** The sheet of named scenarios, whose columns are those of tables of scenarios. */
export const SCENARIOS = "scenarios";
/** The sheet of correlations, whose rows are lists in the book. */
export const CORRELATIONS = "correlations";
/** The columns of the sheet of correlations. */
export const PAIR_COLUMNS = ["first", "second", "correlation"] as const;
/** Sheets that results are written to, and which are not read. */
export const RESULT_SHEETS: readonly string[] = ["results", "scenarioValues", "totals", "about"];

const MARKET = "market";

/** The parts of the market, in the order of their sheets. */
export const PARTS: readonly Part[] = [
  {
    sheet: "underlyings",
    at: [MARKET, "underlyings"],
    keys: ["underlying"],
    columns: ["spot", "currency", "dividends.yield", "volatility"],
  },
  {
    sheet: "dividends",
    at: [MARKET, "underlyings"],
    keys: ["underlying"],
    list: ["dividends", "discrete"],
    columns: ["date", "cash", "proportional"],
  },
  {
    sheet: "quotes",
    at: [MARKET, "underlyings"],
    keys: ["underlying"],
    list: ["volatility", "quotes"],
    columns: ["expiry", "strike", "type", "implied", "bid", "ask"],
  },
  {
    sheet: "rates",
    at: [MARKET, "rates"],
    keys: ["currency"],
    value: "rate",
    nodes: ["date", "zero"],
    columns: ["rate", "date", "zero"],
  },
  { sheet: "curves", at: [MARKET, "curves"], keys: ["curve"], columns: ["index", "interpolation", "discount"] },
  {
    sheet: "instruments",
    at: [MARKET, "curves"],
    keys: ["curve"],
    list: ["instruments"],
    columns: ["deposit", "ois", "swap", "rate"],
  },
  { sheet: "zeros", at: [MARKET, "curves"], keys: ["curve"], list: ["zeros"], columns: ["date", "zero"] },
  { sheet: "fx", at: [MARKET, "fx"], keys: ["pair"], value: "rate", columns: ["rate"] },
  { sheet: "fixings", at: [MARKET, "fixings"], keys: ["index", "date"], value: "fixing", columns: ["fixing"] },
  { sheet: "credit", at: [MARKET, "credit"], keys: ["issuer"], columns: ["spread", "hazard", "recovery", "jump"] },
];
