/** Random convertible bonds with calls, puts, triggers and dividends beside an explicit lattice. */
import { afterAll, expect, test } from "vitest";
import { type BookInput, type ConvertibleInput, type CreditInput, parseBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";
import { readFixture } from "../../support/fixtures.ts";

/** A bond of notional 100, its market, and what the lattice found, with three standard errors of that. */
interface LatticeCase {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly volatility: number;
  readonly credit: CreditInput;
  readonly terms: Omit<ConvertibleInput["convertible"], "notional">;
  readonly dividends: readonly { readonly date: number; readonly cash: number }[];
  readonly value: number;
  readonly uncertainty: number;
}

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const cases = readFixture("convertible/random.json") as readonly LatticeCase[];

const book = {
  asOf: "2026-11-20",
  market: {
    rates: Object.fromEntries(cases.map(({ rate }, i) => [`N${i}`, rate])),
    underlyings: Object.fromEntries(
      cases.map(({ spot, volatility, yield: dividendYield, dividends }, i) => [
        `N${i}`,
        { spot, currency: `N${i}`, volatility, dividends: { yield: dividendYield, discrete: dividends } },
      ]),
    ),
    credit: Object.fromEntries(cases.map(({ credit }, i) => [`N${i}`, credit])),
  },
  trades: cases.map(({ terms }, i) => ({
    id: `${i}`,
    underlying: `N${i}`,
    convertible: { notional: 100, ...terms },
  })),
} satisfies BookInput;

test("values of finite differences are within their estimates and the lattice's uncertainty", async () => {
  const { results } = await priceBook(parseBook(book), {
    device,
    greeks: "none",
    accuracy: { relative: 1e-4 },
    method: "fdm",
  });
  const beyond = results.filter((result, i) => {
    if (result.status === "error") throw new Error(`${i}: ${result.error.message}`);
    return Math.abs(result.value - cases[i].value) > result.errorEstimate + cases[i].uncertainty;
  });
  expect(beyond.length).toBeLessThanOrEqual(0.01 * cases.length);
});
