// Run in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { openDevice, parseBook, priceBook, solve } from "feynkac";

const book = parseBook(`{
  "asOf": "2026-11-20T16:00:00Z",
  "market": { "rates": { "EUR": 0.05 }, "underlyings": { "ACME": { "spot": 100, "currency": "EUR", "volatility": 0.2 } } },
  "trades": [{ "id": "T1", "underlying": "ACME", "payoff": "put", "strike": 100, "expiry": 1, "exercise": "american" }]
}`);
const device = await openDevice({ backend: "cpu" });
try {
  const { results } = await priceBook(book, { device });
  assert.equal(results[0].status, "ok");
  // 6.090371 by the integral equation: the American put of every textbook, S = K = 100, r = 5 %, σ = 20 %, one year.
  assert.ok(Math.abs(results[0].value - 6.090371) < 1e-3, `value ${results[0].value}`);
  const { entries } = await solve(
    { axes: { r: { from: 0, to: 1 } }, equation: { V: "-r" }, terminal: 1, expiry: 1 },
    { device },
  );
  assert.ok(Math.abs(entries[0].at(0.5).value - Math.exp(-0.5)) < 1e-5);
  console.log(`American put: ${results[0].value} ± ${results[0].errorEstimate}`);
} finally {
  device[Symbol.dispose]();
}
