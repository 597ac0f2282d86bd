/** The formats of request bodies. */
import * as z from "zod";
import { METHOD_NAMES } from "../../book/index.ts";
import { BookError } from "../../base/errors.ts";

const oneOf = <const W extends readonly string[]>(words: W) => {
  const known = words.map((word) => `"${word}"`).join(", ");
  return z.enum(words, { error: ({ input }) => `expected one of ${known}, got ${shown(input)}` }).optional();
};
const shown = (value: unknown): string => (typeof value === "string" ? `"${value.slice(0, 80)}"` : typeof value);

const strict = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `unknown field "${issue.keys[0].slice(0, 80)}"; known are ${Object.keys(shape).join(", ")}`
        : `expected an object, got ${shown(issue.input)}`,
  });

const inRange = { error: "expected an accuracy from 1e-8 to 1e-3, relative to the spot or the notional" };
const accuracy = z.number(inRange).min(1e-8, inRange).max(1e-3, inRange).optional();

const flag = z.boolean({ error: "expected true or false" });
const positive = { error: "expected a number of seconds above 0" };
const groupNames = z.array(z.string({ error: "expected a name" }), { error: "expected a list of names" });

/** The schema that validates the options of a request for prices. */
export const priceOptionsSchema = strict({
  greeks: oneOf(["all", "buckets", "grid", "none"]),
  accuracy,
  method: oneOf(METHOD_NAMES),
  strict: flag.optional(),
  sensitivityErrors: flag.optional(),
  timePerTrade: z.number(positive).positive(positive).optional(),
  groupBy: groupNames.optional(),
});

/** The schema that validates the options of a request for an explanation of the change of value. */
export const explainOptionsSchema = strict({
  method: oneOf(["taylor", "revaluation"]),
  sticky: oneOf(["strike", "delta"]),
  groupBy: groupNames.optional(),
  accuracy,
});

/** A book in a request: with its own market, or with the hash of a cached market. */
export interface RequestBook {
  /** The book without its trades, not yet parsed. */
  readonly header: Readonly<Record<string, unknown>>;
  /** The hash of a cached market; undefined if the book has its own. */
  readonly market: string | undefined;
  /** The trades; undefined if there are none. */
  readonly trades: readonly unknown[] | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** The options T without those that are undefined. */
type Given<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The body of a request POST /price. */
export interface PriceBody extends RequestBook {
  readonly options: Given<z.infer<typeof priceOptionsSchema>>;
  /** True if the results are sent as NDJSON. */
  readonly streams: boolean;
  /** True if the stream ends with a line of totals. */
  readonly summary: boolean;
}

/** Validates the body of a request POST /price. @throws BookError an invalid request */
export function readPriceBody(body: unknown): PriceBody & { readonly trades: readonly unknown[] } {
  const { options, stream = false, summary = false, ...book } = fieldsOf(body, "");
  if (typeof stream !== "boolean") throw new BookError("stream", "expected true or false");
  if (typeof summary !== "boolean") throw new BookError("summary", "expected true or false");
  const written = readWritten(book, "");
  const read = { options: readOptions(options, priceOptionsSchema), streams: stream, summary };
  return { ...written, trades: needTrades(written, ""), ...read };
}

/** Validates the body of a request PUT /market, which is a book without trades. @throws BookError an invalid request */
export function readMarketBody(body: unknown): Fields {
  const { header, market } = readWritten(fieldsOf(body, ""), "");
  if (market !== undefined) throw new BookError("market", "expected a market, got the hash of one");
  return header;
}

/** The body of a request POST /explain: the earlier and the later book. */
export interface ExplainBody {
  readonly before: RequestBook & { readonly trades: readonly unknown[] };
  readonly after: RequestBook & { readonly trades: readonly unknown[] };
  readonly options: Given<z.infer<typeof explainOptionsSchema>>;
}

/**
 * Validates the body of a request POST /explain. By default the later book has the trades of the earlier one. @throws
 * BookError
 */
export function readExplainBody(body: unknown): ExplainBody {
  const { before, after, options, ...others } = fieldsOf(body, "");
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new BookError(unknown, "unknown field; expected before, after and options");
  const first = readWritten(fieldsOf(before, "before"), "before.");
  const second = readWritten(fieldsOf(after, "after"), "after.");
  const trades = needTrades(first, "before.");
  return {
    before: { ...first, trades },
    after: { ...second, trades: second.trades ?? trades },
    options: readOptions(options, explainOptionsSchema),
  };
}

function fieldsOf(value: unknown, path: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BookError(
      path,
      path === ""
        ? "expected a request as JSON, an object"
        : "expected a book: an object with asOf, market and trades, or with the hash of a market and trades",
    );
  return value as Fields;
}

function readWritten({ trades, ...header }: Fields, path: string): RequestBook {
  const kept = header["market"];
  const market = typeof kept === "string" ? kept : undefined;
  if (market !== undefined && Object.keys(header).length > 1)
    throw new BookError(
      `${path}market`,
      "a market that is kept comes with its asOf and scenarios: send the hash and trades alone",
    );
  if (trades !== undefined && !Array.isArray(trades)) throw new BookError(`${path}trades`, "expected a list of trades");
  return { header, market, trades };
}

function needTrades({ trades }: RequestBook, path: string): readonly unknown[] {
  if (trades === undefined) throw new BookError(`${path}trades`, "expected a list of trades");
  return trades;
}

function readOptions<T extends object>(options: unknown, schema: z.ZodType<T>): Given<T> {
  const { data, error } = schema.safeParse(options ?? {});
  if (error !== undefined) throw new BookError(["options", ...error.issues[0].path].join("."), error.issues[0].message);
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as Given<T>;
}
