/** The risk of a book on the page: named scenarios with progress and cancel, both measures and their parts. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { openDevice, priceBook, readBook } from "../../src/index.ts";
import { hasBrowser } from "../support/chromium.ts";
import { axeViolations, file, launchWeb, priced, rowCount, type WebPages } from "./page-server.ts";

const moveOf = (s: number, name: number): number => Number((0.05 * Math.sin(7 * s + 3 * name + 1)).toFixed(5));

/** A book of options on two underlyings, with tags, under named scenarios. */
function bookOf(trades: number, scenarios: number): object {
  const underlying = { spot: 100, currency: "EUR", volatility: 0.2 };
  return {
    asOf: "2026-11-20",
    market: { rates: { EUR: 0.03 }, underlyings: { ACME: underlying, BETA: { ...underlying, volatility: 0.3 } } },
    scenarios: Array.from({ length: scenarios }, (_, s) => ({
      name: `S${s}`,
      moves: { spot: { ACME: moveOf(s, 0), BETA: moveOf(s, 1) }, volatility: { "*": moveOf(s, 2) / 5 } },
    })),
    trades: Array.from({ length: trades }, (_, i) => ({
      id: `T${i}`,
      underlying: i % 3 === 0 ? "BETA" : "ACME",
      payoff: i % 2 === 0 ? "put" : "call",
      strike: 80 + (i % 40),
      expiry: 0.2 + (i % 9) / 5,
      quantity: (i % 5) - 1,
      exercise: i % 4 === 0 ? "american" : "european",
      tags: { desk: i % 2 === 0 ? "Paris" : "London" },
    })),
  };
}

describe.skipIf(!hasBrowser())("the risk of a book", () => {
  let web: WebPages;
  let page: Page;
  beforeAll(async () => {
    web = await launchWeb();
    page = await web.open();
    await priced(page);
  }, 120_000);
  afterAll(() => web?.close());

  const give = (name: string, value: object): Promise<void> =>
    page.getByLabel("Open files …").setInputFiles([file(name, JSON.stringify(value))]);
  const openRisk = (): Promise<void> => page.getByRole("button", { name: "Risk", exact: true }).click();
  const figureOf = async (name: string): Promise<number> =>
    Number((await page.getByTestId(name).innerText()).replaceAll(",", "").replace("−", "-"));

  test("1,000 trades under 250 scenarios show progress, and are cancelled", { timeout: 120_000 }, async () => {
    await give("large.json", bookOf(1000, 250));
    await openRisk();
    await page.waitForFunction(() => {
      const bar = document.querySelector<HTMLProgressElement>(".fields progress");
      return bar !== null && bar.value > 0 && bar.max === 1000;
    });
    await page.locator(".fields").getByRole("button", { name: "Cancel" }).click();
    await page.locator(".fields", { hasText: "Cancelled" }).waitFor();
    expect(await page.getByTestId("Value at risk").count()).toBe(0);
  });

  test("both measures and their parts are those of the values in Node", { timeout: 120_000 }, async () => {
    const book = bookOf(30, 40);
    await page.getByRole("button", { name: "Book", exact: true }).click();
    await give("small.json", book);
    await rowCount(page, 30);
    await openRisk();
    await page.getByLabel("Confidence").selectOption({ label: "90 %" });
    await page.getByLabel("Parts by").selectOption({ label: "tag desk" });
    await page.locator(".plain-table", { hasText: "London" }).waitFor();
    using device = await openDevice({ backend: "cpu" });
    const { results } = await priceBook(readBook(book), { device, greeks: "none" });
    const losses = Array.from({ length: 40 }, (_, s) => {
      const ok = results.flatMap((one) => (one.status === "ok" ? [one] : []));
      return ok.reduce((sum, one) => sum - one.quantity * (one.scenarioValues![s]! - one.value), 0);
    });
    const sorted = losses.toSorted((a, b) => b - a);
    // A tenth of 40 scenarios is four; the fifth is the least loss that nine tenths do not exceed.
    expect(await figureOf("Value at risk")).toBeCloseTo(sorted[4], 2);
    expect(await figureOf("Expected shortfall")).toBeCloseTo(sorted.slice(0, 4).reduce((a, b) => a + b, 0) / 4, 2);
    const worst = page.getByRole("region", { name: "Worst scenarios" }).locator("tbody tr").first();
    expect(await worst.innerText()).toMatch(new RegExp(`^S${losses.indexOf(sorted[0])}\\s`));
    const parts = page.getByRole("region", { name: "Parts of the risk" }).locator("tbody tr");
    const numbers = (await parts.allInnerTexts()).map((row) =>
      Number(row.split("\t")[2].replaceAll(",", "").replace("−", "-")),
    );
    expect(numbers.reduce((a, b) => a + b, 0)).toBeCloseTo(sorted[4], 1);
    await page.getByLabel("Parts by").selectOption({ label: "trade" });
    await page.waitForFunction(
      () => document.querySelectorAll(".plain-table")[1].querySelectorAll("tbody tr").length === 30,
    );
    expect(await axeViolations(page)).toEqual([]);
  });

  test("scenarios are opened from a table, and take the place of the book's", { timeout: 60_000 }, async () => {
    await page.getByLabel("Open scenarios …").setInputFiles([file("wrong.csv", "name,spot.ACNE\nA,0.1\n")]);
    await page.locator(".problem", { hasText: "ACNE" }).waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.getByLabel("Open scenarios …").setInputFiles([file("two.csv", "name,spot.ACME\nup,0.1\ndown,-0.1\n")]);
    await page.locator(".fields", { hasText: "2 scenarios, in each of which" }).waitFor();
    const worst = page.getByRole("region", { name: "Worst scenarios" });
    await worst.locator("tr", { hasText: "down" }).waitFor();
    expect(await worst.locator("tbody tr").count()).toBe(2);
  });
});
