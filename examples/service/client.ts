// node --import tsx examples/service/client.ts http://127.0.0.1:8080 [TOKEN]: prices and explains through the service,
// by a client whose types are generated from its OpenAPI document.
import createClient from "openapi-fetch";
import type { paths } from "./generated/service.ts";

const [baseUrl = "http://127.0.0.1:8080", token] = process.argv.slice(2);
const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
const client = createClient<paths>({ baseUrl, headers });

/** A book without trades. */
const marketAt = (asOf: string, spot: number) => ({
  asOf,
  market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot, currency: "EUR", volatility: 0.2 } } },
});
const put = { id: "T1", underlying: "ACME", payoff: "put" as const, strike: 100, expiry: "2027-11-22" };

/** The market is sent once; from then on its hash is enough. */
async function keep(header: ReturnType<typeof marketAt>): Promise<string> {
  const { data, error } = await client.PUT("/market", { body: header });
  if (data === undefined) throw new Error(error.error.message);
  return data.market;
}

const friday = await keep(marketAt("2026-11-20", 100));
const monday = await keep(marketAt("2026-11-23", 101));

const priced = await client.POST("/price", {
  body: { market: friday, trades: [put], options: { accuracy: 1e-6 } },
});
if (priced.data === undefined) throw new Error(priced.error.error.message);
// With `stream: true` the answer would be single results, one a line.
if (!("results" in priced.data)) throw new Error("expected results");
for (const { id, value, delta } of priced.data.results) console.log(id, value?.toFixed(4), delta?.toFixed(4));

const explained = await client.POST("/explain", {
  body: { before: { market: friday, trades: [put] }, after: { market: monday } },
});
if (explained.data === undefined) throw new Error(explained.error.error.message);
for (const { id, change, terms } of explained.data.results)
  console.log(id, change?.toFixed(4), terms?.["delta"]?.toFixed(4), terms?.["theta"]?.toFixed(4));
