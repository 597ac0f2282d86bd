import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { explainBook, parseBook, priceBook } from "../../src/index.ts";

/** The client of the protocol, as names that the compiler does not look for: its package is optional, as the server. */
const PACKAGE: string = "@modelcontextprotocol/client";

/** Whether the optional packages are installed, as `npm ci` does. */
const hasPackages = ((): boolean => {
  try {
    const { resolve } = createRequire(import.meta.url);
    return [PACKAGE, "@modelcontextprotocol/server"].every((name) => resolve(name) !== "");
  } catch {
    return false;
  }
})();

interface Reply {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
}
interface Client {
  connect(transport: object): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{
    readonly tools: readonly { readonly name: string; readonly inputSchema: object; readonly annotations?: object }[];
  }>;
  callTool(
    call: { readonly name: string; readonly arguments: object },
    options?: { readonly signal?: AbortSignal; readonly onprogress?: () => void },
  ): Promise<Reply>;
}
interface Transport {
  readonly stderr: NodeJS.ReadableStream;
}

const root = join(import.meta.dirname, "../..");
const shell = fileURLToPath(new URL("real-shell.ts", import.meta.url));

const market = { rates: { EUR: 0.03 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.25 } } };
const put = {
  id: "T1",
  underlying: "ACME",
  payoff: "put",
  strike: 100,
  expiry: "2027-11-20",
  exercise: "american",
} as const;
const book = { asOf: "2026-11-20", market, trades: [put] } as const;

describe.skipIf(!hasPackages)("feynkac mcp (skipped where the protocol's packages are not installed)", () => {
  let client: Client;
  let said = "";

  beforeAll(async () => {
    const { Client: Connection } = (await import(PACKAGE)) as { Client: new (about: object) => Client };
    const { StdioClientTransport } = (await import(`${PACKAGE}/stdio`)) as {
      StdioClientTransport: new (server: object) => Transport;
    };
    const args = ["--import", join(root, "scripts/typescript.js"), shell, "mcp", "--backend", "cpu", "--threads", "1"];
    const transport = new StdioClientTransport({ command: process.execPath, args, cwd: root, stderr: "pipe" });
    transport.stderr.on("data", (text) => (said += String(text)));
    client = new Connection({ name: "test", version: "1" });
    await client.connect(transport);
  });
  afterAll(async () => client.close());

  async function call(name: string, args: object): Promise<{ readonly isError: boolean; readonly text: string }> {
    const { isError = false, content } = await client.callTool({ name, arguments: args });
    return { isError, text: content[0].text };
  }
  async function answer<T>(name: string, args: object): Promise<T> {
    const { isError, text } = await call(name, args);
    expect([isError, isError ? text : ""]).toEqual([false, ""]);
    return JSON.parse(text) as T;
  }

  test("lists its tools, with a schema of books that is short", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["price", "explain", "calibrate", "validate", "schema"]);
    for (const { inputSchema, annotations } of tools) {
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      expect(JSON.stringify(inputSchema).length).toBeLessThan(12_000);
      expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    }
    const properties = { asOf: { type: "string" }, trades: { type: "array" }, market: { type: "object" } };
    expect(tools[0].inputSchema).toMatchObject({ properties: { book: { properties } }, required: ["book"] });
  });

  interface Priced {
    readonly priced: number;
    readonly failed: number;
    readonly trades: readonly Readonly<Record<string, number | string>>[];
    readonly groups: readonly { readonly group: object }[];
    readonly more?: string;
  }

  test("prices as the library does, rounded to the errors, with totals and a limit", async () => {
    const trades = [80, 90, 100].map((strike) => ({ ...put, id: `K${strike}`, strike, tags: { desk: "Paris" } }));
    const found = await answer<Priced>("price", { book: { ...book, trades }, groupBy: ["desk"], limit: 2 });
    using device = createCpuDevice({ threads: 1, share: "always" });
    const { results } = await priceBook(parseBook({ ...book, trades }), { device });
    expect([found.priced, found.failed, found.trades.length]).toEqual([3, 0, 2]);
    expect(found.more).toBe("1 more of 3; raise limit");
    expect(found.groups.map(({ group }) => group)).toEqual([{ desk: "Paris" }]);
    for (const [i, line] of found.trades.entries()) {
      const result = results[i];
      if (result.status === "error") throw new Error(result.error.message);
      expect(Math.abs(Number(line["value"]) - result.value)).toBeLessThan(result.errorEstimate);
      expect(String(line["value"]).length).toBeLessThan(String(result.value).length);
      expect(Number(line["errorEstimate"])).toBeGreaterThanOrEqual(result.errorEstimate);
      expect(line["vega"]).toBe(Number(result.vega!.toPrecision(5)));
    }
  });

  test("explains, calibrates, validates, and describes parts of the format", async () => {
    const after = { ...book, asOf: "2026-11-23", market: { ...market, rates: { EUR: 0.031 } } };
    const explained = await answer<{ readonly totals: readonly { readonly change: number }[] }>("explain", {
      before: book,
      after,
    });
    using device = createCpuDevice({ threads: 1, share: "always" });
    const { totals } = await explainBook(parseBook(book), parseBook(after), { device });
    expect(explained.totals[0].change).toBe(Number(totals[0].change.toPrecision(5)));

    const quoted = { rates: { EUR: { instruments: [{ deposit: "1Y", rate: 0.03 }] } } };
    const { fits, book: fittedBook } = await answer<{
      fits: { rates: { EUR: { status: string } } };
      book: typeof book;
    }>("calibrate", { book: { asOf: "2026-11-20", market: quoted }, fittedBook: true });
    expect(fits.rates.EUR.status).toBe("converged");
    expect(fittedBook.market.rates.EUR).toEqual([
      { date: "2027-11-20", zero: expect.closeTo(Math.log(1.03), 3) as number },
    ]);

    const wrong = { ...book, trades: [put, { ...put, id: "T2", strike: -5 }] };
    expect(await answer("validate", { book: wrong })).toEqual({
      asOf: "2026-11-20T00:00:00.000Z",
      trades: 2,
      valid: 1,
      errors: { first: [{ id: "T2", error: "trades[1].strike: expected a positive number, got -5" }] },
    });

    const heston = await answer<{ readonly properties: object }>("schema", {
      part: "market.underlyings.volatility.heston",
    });
    expect(heston.properties).toHaveProperty("kappa");
    expect((await call("schema", {})).text.length).toBeLessThan(20_001);
  });

  test.each<readonly [problem: string, tool: string, args: object, message: string]>([
    ["no book", "price", {}, 'price: the argument "book" is missing'],
    ["a misspelt argument", "price", { book, greek: "all" }, 'unknown argument "greek" (did you mean "greeks"?)'],
    ["an accuracy out of range", "price", { book, accuracy: 1 }, "price: accuracy: "],
    ["a date that is none", "price", { book: { ...book, asOf: "tomorrow" } }, "asOf: expected an ISO date or instant"],
    [
      "too many trades",
      "price",
      { book: { ...book, trades: Array.from({ length: 10_001 }, () => put) } },
      "book.trades: 10001 trades, at most 10000 are taken here; price a file by feynkac price",
    ],
    ["no quotes", "calibrate", { book }, "book.market: there are no quotes to fit"],
    ["an unknown part", "schema", { part: "market.rate" }, 'market has no "rate" (did you mean "rates"?)'],
  ])("%s is an error with place and remedy", async (_, name, args, message) => {
    const { isError, text } = await call(name, args);
    expect([isError, text]).toEqual([true, expect.stringContaining(message)]);
  });

  test("reads no files: a name in the place of a book is text that is no book", async () => {
    const { isError, text } = await call("price", { book: join(root, "examples/dax/book.json") });
    expect([isError, text]).toEqual([true, 'book: not JSON: column 1: expected a value, got "/"']);
  });

  test("stops what is cancelled, and goes on answering", async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({ ...put, id: `T${i}`, strike: 50 + i / 100 }));
    const controller = new AbortController();
    const cancelled = client.callTool(
      { name: "price", arguments: { book: { ...book, trades: many } } },
      { signal: controller.signal, onprogress: () => controller.abort() },
    );
    await expect(cancelled).rejects.toThrow();
    expect(await answer<Priced>("price", { book })).toMatchObject({ priced: 1 });
    await expect.poll(() => said, { timeout: 30_000 }).toContain("feynkac mcp: price: cancelled");
  });
});
