/** The tools that assistants call: they take books as arguments, never names of files, and answer in short. */
import * as z from "zod";
import {
  type AnyTrade,
  type Book,
  contextOf,
  didYouMean,
  METHOD_NAMES,
  parseJson,
  type ParsedTrade,
  readBook,
  readTrades,
  readWholeBook,
  readHeader,
  Totals,
  type TradeResult,
} from "../../book/index.ts";
import { fittedBook } from "../commands/calibrate.ts";
import type { Engine } from "../engine.ts";
import { CliError } from "../failure.ts";
import { fitted, type Json, partOf } from "./schemas.ts";
import { firstOf, rounded, roundedError, shortened } from "./short.ts";

/** What a tool may use while it is called. */
export interface ToolCall {
  readonly signal: AbortSignal;
  readonly engine: () => Promise<Engine>;
  readonly onProgress: (progress: { readonly done: number; readonly total: number | undefined }) => void;
}

/** A tool with its arguments and what it does. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Json;
  /** Returns the answer as plain data. @throws BookError | CliError for what cannot be used, with place and remedy */
  readonly run: (args: unknown, call: ToolCall) => Promise<unknown>;
}

/** The most trades of a book, and the most lines of an answer. */
const [MAX_TRADES, MAX_LIMIT] = [10_000, 200];
/** The characters of the schema of a book beside a tool, and of an answer of the tool `schema`. */
const [SCHEMA_BESIDE, SCHEMA_ASKED] = [5000, 20_000];

const book = z.unknown().meta({ description: "a book: asOf, market and trades as JSON; the tool schema describes it" });
const limit = z
  .int()
  .min(1)
  .max(MAX_LIMIT)
  .default(20)
  .describe("the most lines of trades and of errors in the answer");
const accuracy = z.number().min(1e-8).max(1e-3).optional().describe("the error aimed at, relative to the spot");
const groupBy = z
  .array(z.string())
  .optional()
  .describe('totals by "underlying", "currency" or tags of the trades, such as ["desk"]');

/** Makes a tool, whose arguments are checked by a schema. Arguments that are books have the schema of books. */
function tool<S extends z.ZodObject>(
  name: string,
  [title, description]: readonly [title: string, description: string],
  args: S,
  run: (args: z.infer<S>, call: ToolCall) => Promise<unknown>,
): Tool {
  return {
    name,
    title,
    description,
    get inputSchema() {
      const { $schema: _, ...schema } = z.toJSONSchema(args, { io: "input" }) as Json;
      const properties = Object.entries(schema.properties as Readonly<Record<string, Json>>).map(([own, part]) =>
        BOOKS.includes(own) ? [own, { ...bookSchema(), ...part }] : [own, part],
      );
      return { ...schema, properties: Object.fromEntries(properties) as Json };
    },
    run: async (given, call) => {
      const { success, data, error } = args.safeParse(given ?? {});
      if (!success) throw new CliError(`${name}: ${error.issues.map((issue) => problemOf(issue, args)).join("; ")}`);
      return run(data, call);
    },
  };
}

/** The schema of a book beside a tool. */
function bookSchema(): Json {
  const { $schema: _, title: __, ...schema } = fitted(partOf(""), SCHEMA_BESIDE);
  return schema;
}

/** What is wrong with an argument, and what is known. */
function problemOf(issue: z.core.$ZodIssue, { shape }: z.ZodObject): string {
  const argument = issue.path.join(".");
  if (issue.code === "invalid_type" && issue.message.endsWith("received undefined"))
    return `the argument "${argument}" is missing`;
  if (issue.code !== "unrecognized_keys") return `${argument}: ${issue.message}`;
  const known = Object.keys(shape);
  const [unknown] = issue.keys;
  return `unknown argument "${unknown}"${didYouMean(unknown, known) || `; known are ${known.join(", ")}`}`;
}

const BOOKS: readonly string[] = ["book", "before", "after"];

/** Returns an argument that is a book, which some clients send as text. @throws BookError | CliError */
function plainBook(given: unknown, name: string): unknown {
  const value = typeof given === "string" ? parseJson(given, name) : given;
  const { trades } = Object(value) as { readonly trades?: unknown };
  if (Array.isArray(trades) && trades.length > MAX_TRADES)
    throw new CliError(
      `${name}.trades: ${trades.length} trades, at most ${MAX_TRADES} are taken here; price a file by feynkac price`,
    );
  return value;
}

/** The errors of trades that could not be read or priced, with their places. */
const errorsOf = (
  failed: readonly { readonly id: string | null | undefined; readonly error: { readonly message: string } }[],
  most: number,
) =>
  failed.length === 0
    ? {}
    : {
        errors: firstOf(
          failed.map(({ id, error }) => ({ id, error: error.message })),
          most,
          "raise limit",
        ),
      };

const validate = tool(
  "validate",
  ["Check a book", "Checks a book and each of its trades without pricing them. Says every mistake with its place."],
  z.strictObject({ book, limit }),
  async ({ book: given, limit: most }) => {
    const header = readWholeBook(plainBook(given, "book"));
    const parsed = [...readTrades(header)];
    const wrong = parsed.flatMap((one) => (one.ok ? [] : [one]));
    return { asOf: header.asOf, trades: parsed.length, valid: parsed.length - wrong.length, ...errorsOf(wrong, most) };
  },
);

const SENSITIVITIES = ["delta", "gamma", "vega", "theta", "rho"] as const;

function shortResult(result: TradeResult, trade: AnyTrade | undefined) {
  if (result.status === "error") return { id: result.id, error: result.error.message };
  const { id, value, errorEstimate, method, warnings, scenarioValues } = result;
  const numbers = SENSITIVITIES.flatMap((name) => {
    const own = result[name];
    return own === null || own === undefined ? [] : [[name, rounded(own)] as const];
  });
  return {
    id,
    quantity: trade?.quantity ?? 1,
    value: rounded(value, errorEstimate),
    errorEstimate: roundedError(errorEstimate),
    ...Object.fromEntries(numbers),
    ...(scenarioValues === undefined ? {} : { scenarioValues: shortened(scenarioValues, 20) }),
    method,
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

const price = tool(
  "price",
  [
    "Price a book",
    "Values, sensitivities and error estimates of trades per unit of quantity, and totals by currency. Vega and rho " +
      "are per 1.00 of volatility and rate, theta per year. Numbers are rounded to their errors.",
  ],
  z.strictObject({
    book,
    greeks: z.enum(["all", "grid", "none"]).default("all").describe("sensitivities; none is the fastest"),
    accuracy,
    method: z.enum(METHOD_NAMES).optional().describe("auto, the default, takes the cheapest that prices each trade"),
    groupBy,
    limit,
  }),
  async ({ book: given, greeks, accuracy: error, method, groupBy: names, limit: most }, call) => {
    const header = readWholeBook(plainBook(given, "book"));
    const trades = [...readTrades(header)];
    const engine = await call.engine();
    const totals = new Totals({ groupBy: names });
    const results: TradeResult[] = [];
    const { signal, onProgress } = call;
    const options = { precision: engine.precision, greeks, accuracy: error, method, signal, onProgress };
    for await (const some of engine.priceTrades(inTurn(trades), contextOf(header), options))
      for (const result of some) {
        totals.add(tradeOf(trades[results.length]), result);
        results.push(result);
      }
    signal.throwIfAborted();
    const { priced, failed, totals: sums, groups } = totals.report;
    const lines = results.map((result, i) => shortResult(result, tradeOf(trades[i])));
    const remedy = names === undefined ? "raise limit, or groupBy" : "raise limit";
    const { first, more } = firstOf(lines, most, remedy);
    return {
      asOf: header.asOf,
      device: engine.device.name,
      priced,
      failed,
      totals: shortened(sums, 20),
      ...(groups === undefined ? {} : { groups: shortened(groups, most) }),
      trades: first,
      ...(more === undefined ? {} : { more }),
    };
  },
);

const tradeOf = (parsed: ParsedTrade): AnyTrade | undefined => (parsed.ok ? parsed.trade : undefined);

async function* inTurn<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

const explain = tool(
  "explain",
  [
    "Explain a change of value",
    "Why the value of a book changed between two books: time, spot, volatility, rates, dividends, and what is left.",
  ],
  z.strictObject({
    before: book,
    after: book,
    method: z.enum(["taylor", "revaluation"]).default("taylor"),
    sticky: z.enum(["strike", "delta"]).default("strike").describe("what quotes of volatilities keep"),
    accuracy,
    groupBy,
    limit,
  }),
  async ({ before, after, method, sticky, accuracy: error, groupBy: names, limit: most }, call) => {
    const books = [readBook(plainBook(before, "before")), readBook(plainBook(after, "after"))] as const;
    const engine = await call.engine();
    const asked = { precision: engine.precision, method, sticky, accuracy: error, groupBy: names };
    const { results, ...report } = await engine.explainBook(...(books satisfies readonly [Book, Book]), {
      ...asked,
      signal: call.signal,
      onProgress: call.onProgress,
    });
    const largest = results.toSorted((a, b) => sizeOf(b) - sizeOf(a));
    const lines = largest.map(({ id, status, before: from, after: to, change, terms, unexplained, ...rest }) => ({
      id,
      status,
      ...(rest.error === undefined ? {} : { error: rest.error.message }),
      ...(rest.reason === undefined ? {} : { reason: rest.reason }),
      before: rounded(from, rest.errorEstimate),
      after: rounded(to, rest.errorEstimate),
      change: rounded(change, rest.errorEstimate),
      terms: shortened(terms, 20),
      unexplained: rounded(unexplained, rest.errorEstimate),
    }));
    const { first, more } = firstOf(lines, most, "those with the largest changes are shown; raise limit");
    return { ...(shortened(report, most) as object), trades: first, ...(more === undefined ? {} : { more }) };
  },
);

const sizeOf = ({
  change,
  quantityBefore,
}: {
  readonly change: number | null;
  readonly quantityBefore: number | null;
}) => Math.abs((change ?? Number.MAX_VALUE) * (quantityBefore ?? 1));

const calibrate = tool(
  "calibrate",
  [
    "Fit a market to its quotes",
    "Fits curves and volatilities to the quotes of a market, and says how well they fit. Trades are not needed.",
  ],
  z.strictObject({
    book,
    fittedBook: z.boolean().default(false).describe("also return the book with curves and volatilities, unrounded"),
    limit,
  }),
  async ({ book: given, fittedBook: isAsked, limit: most }) => {
    const plain = plainBook(given, "book");
    const { calibration } = readHeader(plain).market;
    if ([...Object.keys(calibration.underlyings), ...Object.keys(calibration.rates)].length === 0)
      throw new CliError(
        'book.market: there are no quotes to fit: give rates "instruments", or a volatility "quotes" and a "fit"',
      );
    return {
      fits: shortened(calibration, most),
      ...(isAsked ? { book: fittedBook(plain, calibration) } : {}),
    };
  },
);

const schema = tool(
  "schema",
  [
    "Describe the format of books",
    "The JSON Schema of a book, or of a part by its path: market.rates, market.underlyings.volatility, trades.swap, " +
      "scenarios. What does not fit is cut off at a depth; ask for the inner part then.",
  ],
  z.strictObject({ part: z.string().default("").describe("names with dots, such as market.rates; none for the book") }),
  async ({ part }) => fitted(partOf(part), SCHEMA_ASKED),
);

/** All tools. */
export const TOOLS: readonly Tool[] = [price, explain, calibrate, validate, schema];
