/** Error estimates of random trades on rates, from ordinary to extreme, against independent quadrature. */
import { afterAll, expect, test } from "vitest";
import { readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";
import { readFixture } from "../../support/fixtures.ts";

/** What test/fixtures/rates/estimates.ts writes, which also prices as many more as asked for. */
interface Case {
  readonly rates: object;
  readonly trade: object;
  readonly value: number;
}

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

test("cover the errors of bonds with rights, Bermudan swaptions, caps and options on bonds", async () => {
  const beyond: object[] = [];
  for (const { rates, trade, value } of readFixture("rates/estimates.json") as readonly Case[]) {
    const book = readBook({ asOf: "2026-01-01", market: { rates: { EUR: rates } }, trades: [trade] });
    const [result] = (await priceBook(book, { device, greeks: "none" })).results;
    if (result.status !== "ok") throw new Error(result.error.message);
    const error = Math.abs(result.value - value);
    // The quadrature itself is good to 1e-9 of the notional.
    if (!(error <= (result.errorEstimate ?? 0) + 1e-7)) beyond.push({ error, ...result });
  }
  expect(beyond).toEqual([]);
});
