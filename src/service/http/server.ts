/** The HTTP server of the service. It uses Fastify, which is loaded on demand. */
import { type ServiceLimits, openApi } from "./open-api.ts";
import { timingSafeEqual, createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  type Book,
  type BookHeader,
  contextOf,
  type ParsedTrade,
  Totals,
  type TradeResult,
  readHeader,
  namesAndWeights,
} from "../../book/index.ts";
import type { Device } from "../../device/index.ts";
import {
  ARROW_STREAM_TYPE,
  aboutResults,
  arrowWriter,
  writerFor,
  marketHeader,
  parquetColumns,
  type OutputTotals,
  type OutputHeader,
} from "../../output/formats/index.ts";
import { BookError, FeynkacError } from "../../base/errors.ts";
import { Metrics, METRICS_TYPE } from "../monitoring/index.ts";
import { RequestPricer, type PriceRequest } from "./prices.ts";
import { readExplainBody, readMarketBody, readPriceBody, type RequestBook } from "./requests.ts";

/** A cached market with its SHA-256 hash. `header` is a book without trades. */
interface KeptMarket {
  readonly hash: string;
  readonly header: BookHeader;
}

/** The cache of the most recently used markets, which requests name by their hashes. */
class Markets {
  readonly #kept = new Map<string, KeptMarket>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get count(): number {
    return this.#kept.size;
  }

  /** Returns a market by its hash; undefined if it is not in the cache. */
  get(hash: string): KeptMarket | undefined {
    const market = this.#kept.get(hash);
    if (market === undefined) return undefined;
    this.#kept.delete(hash);
    this.#kept.set(hash, market);
    return market;
  }

  /** Reads a book without trades and puts its market into the cache. @throws BookError */
  keep(written: Readonly<Record<string, unknown>>): KeptMarket {
    const hash = createHash("sha256").update(JSON.stringify(written)).digest("hex");
    const known = this.get(hash);
    if (known !== undefined) return known;
    const market = { hash, header: readHeader(written) };
    this.#kept.set(hash, market);
    while (this.#kept.size > this.#max) this.#kept.delete(this.#kept.keys().next().value as string);
    return market;
  }
}

/** The settings with which the HTTP service is started. */
export interface ServiceSettings {
  readonly device: Device;
  readonly host: string;
  readonly port: number;
  /** The token that requests must send; undefined if none is needed. */
  readonly token: string | undefined;
  readonly version: string;
  readonly limits: ServiceLimits;
}

/** The running HTTP service, with its URL. Disposal stops it. */
export interface Service extends AsyncDisposable {
  readonly url: string;
}

/** An error with the HTTP status of its response. */
class StatusError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Starts the HTTP service. @throws Error a port in use; Fastify is not installed */
export async function startService(request: ServiceSettings): Promise<Service> {
  const { fastify } = await import("fastify");
  const { host, port, limits } = request;
  const app = fastify({
    bodyLimit: limits.bytes,
    // Node answers 408 to a client that takes longer to send its request.
    requestTimeout: 1000 * limits.seconds,
    forceCloseConnections: true,
    logger: false,
  });
  describeRoutes(app, request);
  const url = await app.listen({ host, port });
  return { url, [Symbol.asyncDispose]: () => app.close() };
}

function describeRoutes(app: FastifyInstance, { device, token, version, limits }: ServiceSettings): void {
  const prices = new RequestPricer(device);
  const markets = new Markets(limits.markets);
  const metrics = new Metrics();
  const answers = metrics.counter("feynkac_requests_total", "Requests, by status.");
  const trades = metrics.counter("feynkac_trades_total", "Trades priced.");
  const seconds = metrics.histogram(
    "feynkac_request_seconds",
    "Time of a request.",
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  );
  metrics.gauge("feynkac_requests_waiting", "Requests that wait for a launch.", () => prices.waiting);
  metrics.gauge("feynkac_markets", "Markets kept.", () => markets.count);
  metrics.gauge("feynkac_launches", "Launches so far, each of one request or more.", () => prices.launches);

  app.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const { status, code } = statusOf(error);
    const path = error instanceof BookError && error.path !== "" ? { path: error.path } : {};
    const message = status === 500 ? "internal error" : error.message;
    void reply.code(status).send({ error: { code, ...path, message } });
  });
  app.setNotFoundHandler((_, reply) => {
    const message = "expected POST /price or /explain, PUT /market, GET /health, /metrics or /openapi.json";
    void reply.code(404).send({ error: { code: "NOT_FOUND", message } });
  });
  app.addHook("onRequest", async ({ headers, url }) => {
    if (token !== undefined && url !== "/health" && !isToken(headers.authorization, token))
      throw new StatusError(401, "TOKEN", "expected the header Authorization: Bearer TOKEN");
  });
  app.addHook("onResponse", async (_, reply) => {
    answers.add(1, { status: String(reply.statusCode) });
    seconds.observe(reply.elapsedTime / 1000);
  });
  app.get("/health", async () => ({ status: "ok" }));
  app.get("/metrics", async (_, reply) => reply.type(METRICS_TYPE).send(await metrics.text()));
  app.get("/openapi.json", async () => openApi(version, limits));
  app.put("/market", async ({ body }) => ({ market: markets.keep(readMarketBody(body)).hash }));
  const limited = limiter(limits);
  app.post("/price", (request, reply) =>
    limited(request, reply, async (signal) => {
      const read = readPriceRequest(request.body, markets, limits, signal);
      trades.add(read.request.trades.length);
      const accepts = String(request.headers.accept).includes(ARROW_STREAM_TYPE);
      return answer(reply, accepts ? { ...read, form: "arrow" } : read, prices, device);
    }),
  );
  app.post("/explain", (request, reply) =>
    limited(request, reply, async (signal) => {
      const { before, after, options } = readExplainBody(request.body);
      checkLimits(options.accuracy, before.trades.length + after.trades.length, limits);
      const books = [readBook(before, markets, "before"), readBook(after, markets, "after")] as const;
      trades.add(before.trades.length + after.trades.length);
      return prices.explain(...books, { ...options, signal });
    }),
  );
}

/**
 * A function that runs the work of a request within the limits of the service. The signal given to `work` aborts it.
 */
type Limited = <T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/** Limits the number of concurrent requests and the time of each. */
function limiter({ requests, seconds }: ServiceLimits): Limited {
  let underWay = 0;
  return async (request, reply, work) => {
    if (underWay >= requests) throw new StatusError(429, "BUSY", `${requests} requests are under way; try again later`);
    underWay++;
    const ending = endingOf(request, reply, seconds);
    try {
      return await work(ending.signal);
    } catch (error) {
      throw ending.signal.aborted ? (ending.signal.reason as Error) : error;
    } finally {
      underWay--;
      ending.settle();
    }
  };
}

/**
 * Compares the token of a request with the expected one in constant time, so that the time reveals nothing about it.
 */
function isToken(header: string | undefined, token: string): boolean {
  const [given, expected] = [Buffer.from(header ?? ""), Buffer.from(`Bearer ${token}`)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function statusOf(error: Error & { statusCode?: number }): { readonly status: number; readonly code: string } {
  if (error instanceof StatusError) return error;
  if (error instanceof FeynkacError)
    return { status: ["BOOK", "SPEC", "PRECISION"].includes(error.code) ? 400 : 500, code: error.code };
  const { statusCode = 500 } = error;
  return { status: statusCode, code: statusCode === 413 ? "TOO_LARGE" : statusCode < 500 ? "REQUEST" : "INTERNAL" };
}

/**
 * Returns a signal that is aborted when the client disconnects or the time limit is reached. `settle` must be called
 * when the work has ended.
 */
function endingOf(
  request: FastifyRequest,
  reply: FastifyReply,
  seconds: number,
): { readonly signal: AbortSignal; readonly settle: () => void } {
  const ending = new AbortController();
  const gone = (): void => {
    if (!reply.raw.writableFinished) ending.abort(new StatusError(499, "GONE", "the client has gone"));
  };
  reply.raw.once("close", gone);
  const late = (): void => ending.abort(new StatusError(408, "TIME", `the request took longer than ${seconds} s`));
  const timer = setTimeout(late, 1000 * seconds);
  return {
    signal: ending.signal,
    settle: () => {
      clearTimeout(timer);
      if (!request.raw.destroyed) reply.raw.off("close", gone);
    },
  };
}

interface ReadRequest {
  readonly market: string;
  /** The form of the answer: one object, a result a line, also with totals on the last line, or Arrow. */
  readonly form: "object" | "lines" | "lines and summary" | "arrow";
  /** True if the market may have trades with the numbers that only bonds and convertibles have. */
  readonly columns: Pick<OutputHeader, "figures" | "reporting">;
  readonly groupBy: readonly string[] | undefined;
  readonly request: PriceRequest;
}

function readPriceRequest(body: unknown, markets: Markets, limits: ServiceLimits, signal: AbortSignal): ReadRequest {
  const { options, streams, summary, ...written } = readPriceBody(body);
  checkLimits(options.accuracy, written.trades.length, limits);
  const { header, hash } = marketOf(written, markets);
  const { asOf, scenarios, scenarioTable, seed, method } = header;
  const { groupBy, sensitivityErrors, ...settings } = options;
  const request = {
    ...settings,
    ...(sensitivityErrors === undefined ? {} : { sensitivityErrorEstimates: sensitivityErrors }),
    method: options.method ?? method,
    trades: readAll(header, written.trades),
    asOf,
    scenarios,
    scenarioTable,
    seed,
    signal,
  };
  const form = !streams ? "object" : summary ? "lines and summary" : "lines";
  return { market: hash, form, columns: marketHeader(header.market), groupBy, request };
}

/** Checks the accuracy and the number of trades of a request. @throws StatusError if they exceed the limits */
function checkLimits(accuracy: number | undefined, trades: number, limits: ServiceLimits): void {
  if (accuracy !== undefined && accuracy < limits.accuracy)
    throw new StatusError(400, "ACCURACY", `accuracy: expected ${limits.accuracy} or more here, got ${accuracy}`);
  if (trades > limits.trades)
    throw new StatusError(413, "TOO_LARGE", `trades: expected at most ${limits.trades} in a request, got ${trades}`);
}

/** The market that a book refers to or contains. @throws BookError | StatusError if it is invalid or unknown */
function marketOf({ header, market }: RequestBook, markets: Markets): KeptMarket {
  const kept = market === undefined ? markets.keep(header) : markets.get(market);
  if (kept === undefined)
    throw new StatusError(404, "MARKET", `market: ${JSON.stringify(market)} is not kept here; put it: PUT /market`);
  return kept;
}

/** Reads one of two books in a request. Error messages contain its name. @throws BookError | StatusError */
function readBook(written: ReturnType<typeof readExplainBody>["before"], markets: Markets, name: string): Book {
  try {
    const { header } = marketOf(written, markets);
    return { ...contextOf(header), trades: readAll(header, written.trades) };
  } catch (error) {
    if (error instanceof BookError) throw new BookError(name, error.message, { cause: error });
    throw error;
  }
}

/**
 * Reads the trades of a request. Ids must be unique within the request only, because the header is shared with other
 * requests.
 */
function readAll(header: BookHeader, list: readonly unknown[]): ParsedTrade[] {
  const ids = new Set<string>();
  return list.map((entry, index) => {
    const id = (entry as { readonly id?: unknown } | null)?.id;
    const parsed = header.readEntry(entry, index, typeof id === "string" && ids.has(id));
    if (parsed.ok) ids.add(parsed.trade.id);
    return parsed;
  });
}

async function answer(
  reply: FastifyReply,
  read: ReadRequest,
  prices: RequestPricer,
  { backend, name }: Device,
): Promise<unknown> {
  const { market, form, request } = read;
  const about = { asOf: request.asOf, market, device: { backend, name } };
  if (form !== "object") {
    reply.hijack();
    reply.raw.writeHead(200, { "content-type": form === "arrow" ? ARROW_STREAM_TYPE : "application/x-ndjson" });
    try {
      for await (const part of partsOf(read, about, prices))
        if (part.length > 0 && !reply.raw.write(part)) await drained(reply, request.signal);
      reply.raw.end();
    } catch {
      reply.raw.destroy(); // half an answer must not look like a whole one
    }
    return reply;
  }
  const results = await prices.price(request);
  const sums = new Sums(read);
  sums.add(results);
  return { ...about, ...sums.end(), results };
}

/** Yields the parts of a stream of results: Arrow, or lines. */
async function* partsOf(read: ReadRequest, about: Pick<OutputHeader, "asOf" | "device">, prices: RequestPricer) {
  const { request, form, columns: more } = read;
  const { scenarios, scenarioTable, trades, sensitivityErrorEstimates: sensitivityErrors = false } = request;
  const tags = [...new Set(trades.flatMap((parsed) => (parsed.ok ? Object.keys(parsed.trade.tags ?? {}) : [])))];
  const start = { ...about, scenarios, ...namesAndWeights(scenarioTable), sensitivityErrors, tags, ...more };
  const format = form === "arrow" ? arrowWriter("stream") : writerFor("ndjson");
  yield await format.begin(start);
  const sums = new Sums(read);
  for await (const results of prices.stream(request)) {
    if (form !== "lines") sums.add(results); // lines alone end without totals
    yield format.rows(results.map((result) => ({ trade: undefined, result })));
  }
  yield format.end(sums.end());
  if (form !== "lines and summary") return;
  const columns = parquetColumns(start).map((column) => column.name);
  yield `${JSON.stringify({ summary: { ...about, ...aboutResults(start), columns, ...sums.end() } })}\n`;
}

function drained({ raw }: FastifyReply, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    raw.once("drain", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Sums the results of a request, which come in the order of its trades. */
class Sums {
  readonly #read: ReadRequest;
  readonly #totals: Totals;

  constructor(read: ReadRequest) {
    this.#read = read;
    this.#totals = new Totals({ groupBy: read.groupBy });
  }

  add(results: readonly TradeResult[]): void {
    for (const result of results) {
      const parsed = this.#read.request.trades[this.#totals.priced + this.#totals.failed];
      this.#totals.add(parsed.ok ? parsed.trade : undefined, result);
    }
  }

  end(): OutputTotals {
    return this.#totals.report;
  }
}
