/** The page, driven as a visitor would drive it: the part that CI runs. The rest is in visitor.web.ts. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { openDevice, priceBook, readBook } from "../../src/index.ts";
import { hasBrowser } from "../support/chromium.ts";
import { market, trade } from "./books.ts";
import { axeViolations, file, launchWeb, priced, rowCount, saved, type WebPages } from "./page-server.ts";

const read = (path: string): unknown => JSON.parse(readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8"));

describe.skipIf(!hasBrowser())("the page", () => {
  let web: WebPages;
  let page: Page;
  beforeAll(async () => {
    web = await launchWeb();
    page = await web.open();
    await priced(page);
  }, 120_000);
  afterAll(() => web?.close());

  const give = async (...files: ReturnType<typeof file>[]): Promise<void> => {
    await page.getByLabel("Open files …").setInputFiles(files);
  };

  test("prices the example when it is opened, on every core", async () => {
    expect(await page.locator(".table .body .row").count()).toBe(12);
    expect(await page.locator(".device").textContent()).toMatch(/^CPU, \d+ threads? · f64$/);
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true);
  });

  test("gives the values of the command line, to the bit", async () => {
    using device = await openDevice({ backend: "cpu" });
    const expected = await priceBook(readBook(read("../../web/examples/showcase.json")), { device });
    const report = JSON.parse((await saved(page, "Results as JSON")).toString()) as typeof expected;
    expect(report.results).toEqual(JSON.parse(JSON.stringify(expected.results)));
    expect(report).toMatchObject({ priced: 12, failed: 0 });
  });

  test.each([
    ["JSON", [file("one.json", JSON.stringify({ ...market, trades: [trade("A", 90)] }))], 1],
    [
      "NDJSON",
      [
        file(
          "two.ndjson",
          `${JSON.stringify(market)}\n${JSON.stringify(trade("A", 90))}\n${JSON.stringify(trade("B", 95))}\n`,
        ),
      ],
      2,
    ],
    [
      "CSV with its market",
      [
        file("trades.csv", "id,underlying,payoff,strike,expiry\nA,ACME,put,90,1\nB,ACME,call,95,1\nC,ACME,call,99,1\n"),
        file("market.json", JSON.stringify(market)),
      ],
      3,
    ],
  ] as const)("opens %s", async (_, files, count) => {
    await give(...files);
    await rowCount(page, count);
    expect(await page.locator(".problem").count()).toBe(0);
  });

  test("reads what a broken file lacks, and where", async () => {
    await give(file("broken.json", '{ "asOf": "2026-11-20",\n  "market": { ]'));
    await page.waitForSelector(".problem");
    expect(await page.locator(".problem").innerText()).toMatch(/broken\.json cannot be read[\s\S]*line 2/);
    await page.getByRole("button", { name: "Dismiss" }).click();
    await give(file("bad.json", JSON.stringify({ ...market, trades: [trade("A", 90), trade("B", -1)] })));
    await rowCount(page, 2);
    await page.getByRole("row", { name: /not priced/ }).click();
    // The details follow the click when the page has drawn them.
    await page.locator(".detail", { hasText: "Strike: expected a positive number, got -1" }).waitFor();
    await page.getByRole("button", { name: "Terms" }).click();
    await page.waitForSelector(".form-row.wrong");
    expect(await page.locator(".form-row.wrong").innerText()).toContain("expected a positive number");
    await page.getByLabel("Strike, EUR", { exact: true }).fill("80");
    await page.waitForFunction(() => document.querySelector(".form-row.wrong") === null);
    await page.getByRole("button", { name: "Result" }).click();
    await page.waitForSelector('[data-testid="result"]');
  });

  test("shows a trade's value over its spot, and axe finds nothing", async () => {
    await page.getByTestId("chart").first().waitFor();
    expect(await page.locator("svg.chart").first().innerHTML()).not.toMatch(/NaN|undefined|Infinity/);
    expect(await axeViolations(page)).toEqual([]);
  });
});
