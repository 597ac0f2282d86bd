import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import createClient from "openapi-fetch";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import type { Device } from "../../../src/device/index.ts";
import type { paths } from "../../../examples/service/generated/service.ts";
import { explainBook, parseBook, priceBook, readHeader, type TradeResult } from "../../../src/index.ts";
import { CLIENT, clientTypes } from "../../../scripts/client.ts";
import { RequestPricer, type PriceSettings } from "../../../src/service/http/prices.ts";
import { type Service, startService } from "../../../src/service/http/index.ts";
import { feynkac } from "../../cli/in-process.ts";
import { parquetColumns } from "../../../src/output/formats/index.ts";
import { batchesOf, readMessages } from "../../output/read-arrow.ts";
import { random } from "../runs/killed.ts";
import { sendMalformed } from "./malformed.ts";

const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
};
const trade = (id: string, strike = 100) => ({ id, underlying: "ACME", payoff: "put", strike, expiry: 1 }) as const;
const limits = { bytes: 100_000, trades: 50, seconds: 20, requests: 100, accuracy: 1e-6, markets: 2 };

let device: Device;
let service: Service;
beforeAll(async () => {
  device = createCpuDevice({ threads: 1, share: "always" }); // as the command does on one core
  service = await startService({ device, host: "127.0.0.1", port: 0, token: undefined, version: "0.1.0", limits });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  device[Symbol.dispose]();
});

async function ask(path: string, body: unknown, method: "POST" | "PUT" = "POST") {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${service.url}${path}`, {
    method,
    body: text,
    headers: { "content-type": "application/json" },
  });
  return { status: response.status, text: await response.text() };
}
const results = (text: string): unknown[] => (JSON.parse(text) as { results: unknown[] }).results;

const later = {
  asOf: "2026-11-23T16:00:00Z",
  market: { rates: { EUR: 0.051 }, underlyings: { ACME: { ...header.market.underlyings.ACME, spot: 101 } } },
};
const dated = (id: string) => ({ ...trade(id), expiry: "2027-11-22" });

/** A service of a test's own, with other limits than the others have. */
const startWith = (other: Partial<typeof limits>): Promise<Service> =>
  startService({ device, host: "127.0.0.1", port: 0, token: undefined, version: "", limits: { ...limits, ...other } });

/** A promise, and the function that resolves it. */
function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((yes) => (resolve = yes));
  return { promise, resolve };
}

describe("POST /explain", () => {
  test.each(["taylor", "revaluation"] as const)("gives what explainBook gives, by %s", async (method) => {
    const [before, after] = [
      { ...header, trades: [dated("A"), { ...dated("B"), strike: -1 }] },
      { ...later, trades: [dated("A"), dated("C")] },
    ];
    const { status, text } = await ask("/explain", { before, after, options: { method } });
    expect(status).toBe(200);
    const expected = await explainBook(parseBook(before), parseBook(after), { device, method });
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expected)));
  });

  test("takes markets that are kept, and the same trades in both", async () => {
    const keep = async (book: object) => JSON.parse((await ask("/market", book, "PUT")).text) as { market: string };
    const [first, second] = [await keep(header), await keep(later)];
    const asked = { before: { ...first, trades: [dated("A")] }, after: second };
    const whole = { before: { ...header, trades: [dated("A")] }, after: { ...later, trades: [dated("A")] } };
    expect((await ask("/explain", asked)).text).toBe((await ask("/explain", whole)).text);
  });

  test.each<[string, object, number, string]>([
    ["no later book", { before: { ...header, trades: [] } }, 400, "after: expected a book"],
    [
      "books in the wrong order",
      { before: { ...later, trades: [] }, after: header },
      400,
      "not before the first book's",
    ],
    [
      "a market without rates",
      { before: { ...header, trades: [] }, after: { ...header, market: {} } },
      400,
      "after: market",
    ],
    ["a hash of nothing", { before: { market: "0", trades: [] }, after: header }, 404, "is not kept here"],
    ["no trades", { before: header, after: later }, 400, "before.trades: expected a list"],
    ["too many trades", { before: { ...header, trades: Array(26).fill(dated("A")) }, after: later }, 413, "at most 50"],
    ["an unknown field", { before: header, after: later, stream: true }, 400, "stream: unknown field"],
    [
      "later trades that are no list",
      { before: { ...header, trades: [] }, after: { ...later, trades: 1 } },
      400,
      "after.trades: expected a list",
    ],
  ])("refuses %s", async (_, body, status, message) => {
    const answer = await ask("/explain", body);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
  });
});

describe("POST /price", () => {
  test("gives what priceBook gives, to the bit", async () => {
    const book = { ...header, trades: [trade("A"), trade("B", 90), { ...trade("C"), strike: -1 }, trade("A")] };
    const { status, text } = await ask("/price", book);
    expect(status).toBe(200);
    const expected = await priceBook(parseBook(book), { device });
    const { results: found, totals } = JSON.parse(text) as { results: unknown; totals: unknown };
    expect(found).toEqual(JSON.parse(JSON.stringify(expected.results)));
    expect(totals).toEqual(expected.totals);
  });

  test("prices by the book's method, unless the request has its own", async () => {
    const book = { ...header, method: "fdm", trades: [trade("A")] };
    const methodOf = async (body: object): Promise<unknown> =>
      (results((await ask("/price", body)).text) as { method: string }[]).map(({ method }) => method);
    expect(await methodOf(book)).toEqual(["fdm"]);
    expect(await methodOf({ ...book, options: { method: "closed-form" } })).toEqual(["black-scholes"]);
  });

  test("takes a market that is kept, and forgets those that were used long ago", async () => {
    const put = await ask("/market", header, "PUT");
    const { market } = JSON.parse(put.text) as { market: string };
    const asked = { market, trades: [trade("A")] };
    expect(results((await ask("/price", asked)).text)).toHaveLength(1);
    const keep = (spot: number) => {
      const underlyings = { ACME: { ...header.market.underlyings.ACME, spot } };
      return ask("/market", { ...header, market: { ...header.market, underlyings } }, "PUT");
    };
    // Two are kept. The first one is used again before the third comes, so that the second one goes.
    const { market: second } = JSON.parse((await keep(101)).text) as { market: string };
    expect((await ask("/price", asked)).status).toBe(200);
    await keep(102);
    expect((await ask("/price", asked)).status).toBe(200);
    expect((await ask("/price", { ...asked, market: second })).status).toBe(404);
    for (const spot of [103, 104]) await keep(spot);
    const gone = await ask("/price", asked);
    expect(gone.status).toBe(404);
    expect(gone.text).toContain("is not kept here; put it: PUT /market");
  });

  test("takes a market that is kept alone: its asOf and scenarios come with it", async () => {
    const { market } = JSON.parse((await ask("/market", header, "PUT")).text) as { market: string };
    for (const beside of [{ asOf: later.asOf }, { scenarios: { spot: [0, 0.1] } }, { seed: 3 }]) {
      const answer = await ask("/price", { market, trades: [trade("A")], ...beside });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("send the hash and trades alone")]);
    }
  });

  test("takes the finest accuracy that is allowed, and nothing below it", async () => {
    const book = { ...header, trades: [trade("A")] };
    const statusOf = async (accuracy: number): Promise<number> =>
      (await ask("/price", { ...book, options: { accuracy } })).status;
    expect([await statusOf(limits.accuracy), await statusOf(0.999 * limits.accuracy)]).toEqual([200, 400]);
  });

  test.each([
    [{ options: { timePerTrade: 0 } }, "options.timePerTrade: expected a number of seconds above 0"],
    [{ stream: true, summary: "yes" }, "summary: expected true or false"],
  ])("refuses %j", async (asked, why) => {
    const { status, text } = await ask("/price", { ...header, trades: [trade("A")], ...asked });
    expect([status, text]).toEqual([400, expect.stringContaining(why)]);
  });

  test("prices requests that arrive together as it prices each alone", async () => {
    const strikes = Array.from({ length: 40 }, (_, i) => 80 + i);
    const one = (strike: number) => ask("/price", { ...header, trades: [trade("A", strike)] });
    const together = await Promise.all(strikes.map(one));
    for (const [i, strike] of strikes.entries())
      if (i % 10 === 0) expect(together[i].text).toBe((await one(strike)).text);
    expect(new Set(together.map(({ text }) => text)).size).toBe(strikes.length);
  });

  describe("prices requests of one turn of the event loop", () => {
    const axes = { spot: [0, 0.1] };
    const { asOf, scenarios, seed, readEntry } = readHeader({ ...header, scenarios: axes });
    const parsed = readEntry(trade("A"), 0, false);
    const request = { trades: [parsed], asOf, scenarios, seed, signal: new AbortController().signal };

    test("in one launch", async () => {
      const prices = new RequestPricer(device);
      const all = await Promise.all(Array.from({ length: 20 }, () => prices.price(request)));
      expect(all.every(([result]) => result.value === all[0][0].value)).toBe(true);
      expect([prices.launches, prices.waiting]).toEqual([1, 0]);
      // Times in years alone count, where scenarios have no dates.
      const dates = [asOf, later.asOf].map((date) => ({ ...request, asOf: date, scenarios: undefined }));
      await Promise.all(dates.map((one) => prices.price(one)));
      expect(prices.launches).toBe(2);
    });

    test("in a launch that goes on when one of their clients goes", async () => {
      const [prices, going] = [new RequestPricer(device), new AbortController()];
      const [began, isGone] = [deferred(), deferred()];
      using _ = vi.spyOn(RequestPricer.prototype, "stream").mockImplementationOnce(async function* ({
        trades,
        signal,
      }) {
        began.resolve();
        await isGone.promise;
        signal.throwIfAborted();
        yield trades.map((_trade, i) => ({ id: `R${i}` }) as TradeResult);
      });
      const [gone, stays] = [prices.price({ ...request, signal: going.signal }), prices.price(request)];
      await began.promise;
      going.abort(new Error("gone"));
      await expect(gone).rejects.toThrow("gone");
      isGone.resolve();
      expect(await stays).toEqual([{ id: "R1" }]);
    });

    test.each<[string, Partial<typeof request> & PriceSettings]>([
      ["Greeks", { greeks: "none" }],
      ["accuracy", { accuracy: 1e-3 }],
      ["method", { method: "fdm" }],
      ["seed", { seed: 2 }],
      ["scenarios", { scenarios: readHeader({ ...header, scenarios: { spot: [0, 0.2] } }).scenarios }],
      ["date of scenarios", { asOf: later.asOf }],
      ["time", { timePerTrade: 60 }],
      ["errors of sensitivities", { sensitivityErrorEstimates: true }],
      ["doubts", { strict: true }],
    ])("in two launches if they differ in their %s", async (_, change) => {
      const prices = new RequestPricer(device);
      const both = [request, { ...request, ...change }];
      const together = await Promise.all(both.map((one) => prices.price(one)));
      expect([prices.launches, prices.waiting]).toEqual([2, 0]);
      for (const [i, one] of both.entries()) expect(together[i]).toEqual(await new RequestPricer(device).price(one));
    });
  });

  describe("streams NDJSON", () => {
    const body = { ...header, trades: [trade("A"), trade("B", 90), { ...trade("C"), strike: -1 }], stream: true };
    const post = (): Promise<Response> =>
      fetch(`${service.url}/price`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      });

    test("of the results that priceBook gives", async () => {
      const response = await post();
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
      const { stream: _, ...book } = body;
      const expected = await priceBook(parseBook(book), { device });
      const lines = (await response.text()).trimEnd().split("\n");
      expect(lines.map((line): unknown => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(expected.results)));
    });

    test("with totals and groups on the last line, if asked", async () => {
      const trades = body.trades.map((one, i) => ({ ...one, tags: { desk: i === 0 ? "Paris" : "London" } }));
      const options = { groupBy: ["desk"], sensitivityErrors: true };
      const { text } = await ask("/price", { ...body, trades, options, summary: true });
      const last = JSON.parse(text.trimEnd().split("\n").at(-1)!) as { readonly summary: Record<string, unknown> };
      const whole = await ask("/price", { ...body, trades, options, stream: false });
      const { results: _, ...expected } = JSON.parse(whole.text) as Record<string, unknown>;
      expect(last.summary).toMatchObject(expected);
      expect(expected["groups"]).toMatchObject([
        { group: { desk: "Paris" }, trades: 1 },
        { group: { desk: "London" } },
      ]);
      // What failed first does not move the tags of the others.
      const failing = await ask("/price", { ...body, trades: trades.toReversed(), options, stream: false });
      const { groups } = JSON.parse(failing.text) as { readonly groups: readonly object[] };
      expect(groups.toReversed()).toEqual(expected["groups"]);
      const scenarios = { spot: [0, 0.1] };
      const plain = await ask("/price", { ...body, scenarios, summary: true });
      const { summary } = JSON.parse(plain.text.trimEnd().split("\n").at(-1)!) as typeof last;
      expect(summary["scenarios"]).toMatchObject(scenarios);
      expect(summary).not.toHaveProperty("groups");
      expect(last.summary["columns"]).toEqual(expect.arrayContaining(["tag.desk", "sensitivityErrorEstimates.rho"]));
    });

    test("or Arrow, if the request accepts it", async () => {
      const headers = { "content-type": "application/json", accept: "application/vnd.apache.arrow.stream" };
      const asked = { ...body, scenarios: { spot: [-0.1, 0] }, options: { groupBy: ["desk"] } };
      const response = await fetch(`${service.url}/price`, { method: "POST", body: JSON.stringify(asked), headers });
      expect(response.headers.get("content-type")).toBe("application/vnd.apache.arrow.stream");
      const messages = readMessages(await response.bytes());
      const { stream: _, options: __, ...book } = asked;
      const { results: expected, totals } = await priceBook(parseBook(book), { device });
      const start = { scenarios: asked.scenarios as never, sensitivityErrors: false, tags: [], figures: false };
      const columns = parquetColumns(start);
      const rows = expected.map((result) =>
        Object.fromEntries(columns.map(({ name, value }) => [name, value({ trade: undefined, result })])),
      );
      expect(batchesOf(messages, columns).flat()).toEqual(rows);
      const { metadata } = messages.at(-1)!;
      expect([metadata["feynkac.priced"], metadata["feynkac.failed"]]).toEqual(["2", "1"]);
      expect(JSON.parse(metadata["feynkac.totals"])).toEqual(JSON.parse(JSON.stringify(totals)));
      expect(JSON.parse(metadata["feynkac.groups"])).toMatchObject([{ group: { desk: null } }]);
      expect(JSON.parse(messages[0].metadata["feynkac.scenarios"])).toMatchObject(asked.scenarios);
    });

    test("that breaks off where pricing fails, so that half of it does not look whole", async () => {
      const isRead = deferred();
      using stream = vi.spyOn(RequestPricer.prototype, "stream").mockImplementationOnce(async function* ({ trades }) {
        yield trades.slice(0, 1).map(() => ({ id: "A" }) as TradeResult);
        await isRead.promise;
        throw new Error("the device is lost");
      });
      const reader = (await post()).body!.getReader();
      const { value } = await reader.read();
      expect(new TextDecoder().decode(value)).toBe('{"id":"A"}\n');
      isRead.resolve();
      await expect(reader.read()).rejects.toThrow("terminated");
      expect(stream).toHaveBeenCalledOnce();
    });
  });

  test("refuses more requests at once than allowed", async () => {
    await using narrow = await startWith({ requests: 1 });
    const [began, ended] = [deferred(), deferred()];
    using _ = vi.spyOn(RequestPricer.prototype, "price").mockImplementationOnce(async () => {
      began.resolve();
      await ended.promise;
      return [];
    });
    const body = JSON.stringify({ ...header, trades: [trade("A")] });
    const post = (): Promise<Response> =>
      fetch(`${narrow.url}/price`, { method: "POST", body, headers: { "content-type": "application/json" } });
    const first = post();
    await began.promise;
    const second = await post();
    expect([second.status, await second.json()]).toEqual([
      429,
      { error: { code: "BUSY", message: "1 requests are under way; try again later" } },
    ]);
    ended.resolve();
    expect((await first).status).toBe(200);
    expect((await post()).status).toBe(200);
  });

  test("answers at once when a request's time is over or its client goes, and prices the next one", async () => {
    await using other = await startWith({ seconds: 0.05 });
    const book = { ...header, trades: ["A", "B", "C", "D"].map((id) => trade(id)) };
    const body = JSON.stringify({ ...book, options: { accuracy: 1e-6, method: "montecarlo" } });
    const request = { method: "POST", body, headers: { "content-type": "application/json" } };
    const late = await fetch(`${other.url}/price`, request);
    expect([late.status, await late.text()]).toEqual([408, expect.stringContaining("longer than 0.05 s")]);
    const going = new AbortController();
    const gone = fetch(`${service.url}/price`, { ...request, signal: going.signal });
    setTimeout(() => going.abort(), 50);
    await expect(gone).rejects.toThrow("abort");
    expect(results((await ask("/price", { ...header, trades: [trade("A")] })).text)).toHaveLength(1);
  });

  test.each<[string, unknown, number, string]>([
    ["no JSON", "{", 400, "REQUEST"],
    ["no object", [], 400, "BOOK"],
    ["no trades", header, 400, "BOOK"],
    ["no market", { trades: [] }, 400, "BOOK"],
    ["an unknown option", { ...header, trades: [], options: { speed: 1 } }, 400, "BOOK"],
    ["too fine an accuracy", { ...header, trades: [], options: { accuracy: 1e-8 } }, 400, "ACCURACY"],
    ["too many trades", { ...header, trades: Array(51).fill(trade("A")) }, 413, "TOO_LARGE"],
    ["too many bytes", { ...header, trades: [trade("x".repeat(100_001))] }, 413, "TOO_LARGE"],
  ])("refuses %s", async (_, body, status, code) => {
    const answer = await ask("/price", body);
    expect(answer.status).toBe(status);
    expect((JSON.parse(answer.text) as { error: { code: string } }).error.code).toBe(code);
  });

  test("malformed requests are the client's fault, and leave the service as it was", async () => {
    const right = {
      "/price": { ...header, trades: [trade("A")], options: { greeks: "none" } },
      "/explain": { before: { ...header, trades: [dated("A")] }, after: later, options: { method: "taylor" } },
      "/market": header,
    };
    const target = { url: service.url, right, next: random(3) };
    const statuses = new Set<number | undefined>();
    for (let i = 0; i < 400; i++) statuses.add(await sendMalformed(target));
    expect([...statuses].filter((status) => status !== undefined && !(status < 500))).toEqual([]);
    expect(statuses).toContain(400);
    expect((await ask("/price", right["/price"])).status).toBe(200);
  });
});

test("health, metrics and OpenAPI", async () => {
  const get = async (path: string): Promise<string> => (await fetch(`${service.url}${path}`)).text();
  expect(await get("/health")).toBe('{"status":"ok"}');
  expect(await get("/metrics")).toMatch(/feynkac_requests_total\{status="200"\} \d+/);
  const document = JSON.parse(await get("/openapi.json")) as { paths: object; openapi: string };
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.paths)).toEqual(["/price", "/explain", "/market", "/health"]);
  expect((await fetch(`${service.url}/else`)).status).toBe(404);
});

test("metrics count the seconds of requests, which take no longer than who asks waits", async () => {
  await using other = await startWith({});
  const begin = performance.now();
  for (let i = 0; i < 10; i++) await (await fetch(`${other.url}/health`)).text();
  const waited = (performance.now() - begin) / 1000;
  const text = await (await fetch(`${other.url}/metrics`)).text();
  expect(text).toMatch(/feynkac_request_seconds_count 10\n/);
  const sum = Number(/feynkac_request_seconds_sum (\S+)/.exec(text)![1]);
  expect(sum).toBeGreaterThan(0);
  expect(sum).toBeLessThan(waited);
});

test("a token is asked for everywhere but at /health", async () => {
  const token = "0123456789abcdef";
  const request = { device, host: "127.0.0.1", port: 0, version: "0.1.0", limits };
  await using closed = await startService({ ...request, token });
  const status = async (path: string, authorization?: string): Promise<number> =>
    (await fetch(`${closed.url}${path}`, authorization === undefined ? {} : { headers: { authorization } })).status;
  expect(await status("/health")).toBe(200);
  expect(await status("/metrics")).toBe(401);
  expect(await status("/metrics", "Bearer 0123456789abcdeg")).toBe(401);
  expect(await status("/metrics", `Bearer ${token}`)).toBe(200);
});

test.each(["0.0.0.0", "::", "192.0.2.1", "example.com"])("serve refuses %s without a token", async (host) => {
  const { status, stderr } = await feynkac(["serve", "--host", host, "--port", "0"]);
  expect(stderr).toContain("give a token, --token-file FILE");
  expect(status).toBe(2);
});

test("answers are as the OpenAPI document says, and requests are accepted by it", async () => {
  const document = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text()) as object;
  const ajv = new Ajv2020({ strict: false, schemas: [{ ...document, $id: "service" }] });
  const check = (name: string, value: unknown): void => {
    const validate = ajv.getSchema(`service#/components/schemas/${name}`);
    const isValid = validate?.(value);
    expect([name, isValid, validate?.errors]).toEqual([name, true, null]);
  };
  const price = { ...header, trades: [trade("A"), { ...trade("B"), strike: -1 }], options: { greeks: "all" } };
  const explain = {
    before: { ...header, trades: [dated("A"), dated("B")] },
    after: { ...later, trades: [dated("A")] },
  };
  check("PriceRequest", { ...price, trades: [trade("A")] });
  check("ExplainRequest", explain);
  check("MarketRequest", header);
  check("PriceResponse", JSON.parse((await ask("/price", price)).text));
  check("ExplainResponse", JSON.parse((await ask("/explain", explain)).text));
  check("MarketResponse", JSON.parse((await ask("/market", header, "PUT")).text));
  check("Error", JSON.parse((await ask("/price", {})).text));
  expect(ajv.getSchema("service#/components/schemas/PriceRequest")?.({ ...price, trades: [{}] })).toBe(false);
});

test("the generated client is that of the document, and works", async () => {
  expect(readFileSync(CLIENT, "utf8"), "npm run client").toBe(await clientTypes());
  const client = createClient<paths>({ baseUrl: service.url });
  const { data } = await client.PUT("/market", { body: header });
  const body = { market: data?.market ?? "", trades: [trade("A")] };
  const priced = await client.POST("/price", { body });
  const found = priced.data !== undefined && "results" in priced.data ? priced.data.results : [];
  expect(found.map(({ id, value }) => [id, value?.toFixed(4)])).toEqual([["A", "5.5735"]]);
  expect((await client.POST("/price", { body: { ...body, market: "0" } })).error?.error.code).toBe("MARKET");
});

const python = join(import.meta.dirname, "../../../examples/service/prices.py");
const hasRequests = await promisify(execFile)("python3", ["-c", "import requests"]).then(
  () => true,
  () => false,
);
test.skipIf(!hasRequests)("the example in Python", async () => {
  const { stdout } = await promisify(execFile)("python3", [python, service.url]);
  const lines = stdout.trim().split("\n");
  expect(lines.map((line) => line.split(" ")[0])).toEqual([
    "K90",
    "K100",
    "K110",
    "K90",
    "K100",
    "K110",
    "K90",
    "K100",
    "K110",
  ]);
  expect(lines[1]).toMatch(/^K100 5\.\d{4} -0\.\d{4}$/);
});
