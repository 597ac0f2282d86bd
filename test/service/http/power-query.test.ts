import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseBook, priceBook } from "../../../src/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { startService } from "../../../src/service/http/index.ts";
import { runQuery } from "./power-query.ts";

const query = readFileSync(join(import.meta.dirname, "../../../examples/service/prices.pq"), "utf8");
const limits = { bytes: 100_000, trades: 50, seconds: 20, requests: 100, accuracy: 1e-6, markets: 2 };

// A spreadsheet is not here: the query's own text is run, and its request goes to a service.
test("the web query of spreadsheets gets a table of prices, with and without a token", async () => {
  using device = createCpuDevice({ threads: 1, share: "always" });
  const on = (strike: number, payoff: "call" | "put") => ({
    id: `K${strike}`,
    underlying: "ACME",
    payoff,
    strike,
    expiry: 1,
  });
  const { results } = await priceBook(
    parseBook({
      asOf: "2026-11-20T16:00:00Z",
      market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
      trades: [on(90, "put"), on(100, "put"), on(110, "call")],
    }),
    { device },
  );
  for (const token of [undefined, "secret"]) {
    await using service = await startService({ device, host: "127.0.0.1", port: 0, token, version: "", limits });
    const table = await runQuery(query, { Url: service.url, Token: token ?? null });
    expect(table).toEqual({
      columns: ["id", "status", "value", "delta", "gamma", "theta", "vega", "rho", "errorEstimate"],
      rows: results.map((result) => {
        if (result.status === "error") throw new Error(result.error.message);
        const { id, status, value, delta, gamma, theta, vega, rho, errorEstimate } = result;
        return [id, status, value, delta, gamma, theta, vega, rho, errorEstimate];
      }),
    });
    if (token !== undefined) await expect(runQuery(query, { Url: service.url, Token: "other" })).rejects.toThrow("401");
  }
});
