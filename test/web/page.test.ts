/** The page, driven as a visitor would drive it. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { openDevice, priceBook, readBook } from "../../src/index.ts";
import { hasBrowser } from "../support/chromium.ts";
import { launchWeb, priced, saved, type WebPages } from "./page-server.ts";

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
});
