import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import type { Device } from "../../src/device/index.ts";
import { parseBook, priceBook } from "../../src/index.ts";
import { type Service, startService } from "../../src/service/index.ts";
import { feynkac } from "../cli/in-process.ts";
import { random } from "../runs/killed.ts";

const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
};
const trade = (id: string, strike = 100) => ({ id, underlying: "ACME", payoff: "put", strike, expiry: 1 }) as const;
const limits = { bytes: 100_000, trades: 50, seconds: 20, requests: 100, accuracy: 1e-6, markets: 2 };

let device: Device;
let service: Service;
beforeAll(async () => {
  device = createCpuDevice({ threads: 1 });
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

  test("takes a market that is kept, and forgets those that were used long ago", async () => {
    const put = await ask("/market", header, "PUT");
    const { market } = JSON.parse(put.text) as { market: string };
    const asked = { market, trades: [trade("A")] };
    expect(results((await ask("/price", asked)).text)).toHaveLength(1);
    for (const spot of [101, 102]) {
      const underlyings = { ACME: { ...header.market.underlyings.ACME, spot } };
      await ask("/market", { ...header, market: { ...header.market, underlyings } }, "PUT");
    }
    const gone = await ask("/price", asked);
    expect(gone.status).toBe(404);
    expect(gone.text).toContain("is not kept here; put it: PUT /market");
  });

  test("prices requests that arrive together as it prices each alone", async () => {
    const strikes = Array.from({ length: 40 }, (_, i) => 80 + i);
    const one = (strike: number) => ask("/price", { ...header, trades: [trade("A", strike)] });
    const together = await Promise.all(strikes.map(one));
    for (const [i, strike] of strikes.entries())
      if (i % 10 === 0) expect(together[i].text).toBe((await one(strike)).text);
    expect(new Set(together.map(({ text }) => text)).size).toBe(strikes.length);
  });

  test("streams NDJSON", async () => {
    const { text } = await ask("/price", { ...header, trades: [trade("A"), trade("B")], stream: true });
    const lines = text.trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(["A", "B"]);
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
    const next = random(3);
    const whole = JSON.stringify({ ...header, trades: [trade("A")] });
    const statuses = new Set<number>();
    for (let i = 0; i < 400; i++) {
      const at = Math.floor(next() * whole.length);
      const junk = String.fromCharCode(32 + Math.floor(next() * 90));
      const body = whole.slice(0, at) + (next() < 0.5 ? junk : "") + whole.slice(at + Math.floor(next() * 4));
      statuses.add((await ask("/price", body)).status);
    }
    expect([...statuses].filter((status) => status >= 500)).toEqual([]);
    expect((await ask("/price", whole)).status).toBe(200);
  });
});

test("health, metrics and OpenAPI", async () => {
  const get = async (path: string): Promise<string> => (await fetch(`${service.url}${path}`)).text();
  expect(await get("/health")).toBe('{"status":"ok"}');
  expect(await get("/metrics")).toMatch(/feynkac_requests_total\{status="200"\} \d+/);
  const document = JSON.parse(await get("/openapi.json")) as { paths: object; openapi: string };
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.paths)).toEqual(["/price", "/market"]);
  expect((await fetch(`${service.url}/else`)).status).toBe(404);
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
