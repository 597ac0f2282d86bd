/** The documentation site: built, its links followed, its examples run in the page. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BrowserContext } from "playwright-core";
import { buildSite } from "../../scripts/site/build.ts";
import { PRODUCTS } from "../../scripts/site/products.ts";
import { type RunningServer, serveWeb } from "../../src/cli/web-server.ts";
import { hasBrowser, launchChromium } from "../support/chromium.ts";
import { axeViolations } from "./page-server.ts";

describe.skipIf(!hasBrowser())("the site", () => {
  let folder: string;
  let server: RunningServer;
  let browser: BrowserContext;
  beforeAll(async () => {
    folder = await buildSite();
    server = await serveWeb(folder, 0);
    browser = await launchChromium({ viewport: { width: 1400, height: 1000 } });
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  test("every link of every page leads to a file", () => {
    const pages = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".html"));
    expect(pages.length).toBeGreaterThan(60);
    const broken = pages.flatMap((path) =>
      [...readFileSync(join(folder, path), "utf8").matchAll(/ (?:href|src)="([^"#?]+)[^"]*"/g)]
        .map(([, target]) => target)
        .filter((target) => !/^(?:[a-z]+:|\/\/)/i.test(target))
        .filter(
          (target) => !leadsToFile(target.startsWith("/") ? join(folder, target) : join(folder, dirname(path), target)),
        )
        .map((target) => `${path}: ${target}`),
    );
    expect([...new Set(broken)]).toEqual([]);
  });

  const leadsToFile = (path: string): boolean =>
    [path, `${path}.html`, join(path, "index.html")].some((one) => existsSync(one) && statSync(one).isFile());

  test.each(PRODUCTS)("the example of $slug runs in the page, and has the page's value", async ({ slug }) => {
    const page = await browser.newPage();
    await page.goto(`${server.address}products/${slug}.html`);
    const value = Number(await page.locator("main table td").first().innerText());
    await page.getByRole("button", { name: "Run it here" }).click();
    const live = page.frameLocator("iframe.live");
    await live.getByTestId("result").waitFor();
    // What is shown is rounded to its error; its title has every digit.
    const shown = Number(await live.getByTestId("result").locator("dd").first().getAttribute("title"));
    expect(Math.abs(shown / value - 1)).toBeLessThan(1e-6);
    await page.close();
  });

  test("finds pages by what they say", async () => {
    const page = await browser.newPage();
    await page.goto(server.address);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("searchbox").fill("lookback");
    await page
      .getByRole("link", { name: /Lookback option/ })
      .first()
      .waitFor();
    await page.close();
  });

  test.each(["index.html", "products/american.html", "book.html"])("axe finds nothing in %s", async (path) => {
    const page = await browser.newPage();
    await page.goto(`${server.address}${path}`);
    expect(await axeViolations(page)).toEqual([]);
    await page.close();
  });
});
