/** Pictures of a book with quotes and a trade that fails, as a visitor sees them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { hasBrowser } from "../support/chromium.ts";
import { market, trade } from "./books.ts";
import { file, launchWeb, priced, rowCount, type WebPages } from "./page-server.ts";

const expiries = ["3M", "6M", "1Y"];
const quotes = expiries.flatMap((expiry, t) =>
  [80, 90, 100, 110, 120].map((strike) => ({ expiry, strike, implied: 0.2 + (100 - strike) * (0.002 - 0.0004 * t) })),
);
const ACME = { spot: 100, currency: "EUR", volatility: { quotes, fit: "svi" } };
const book = {
  ...market,
  market: { ...market.market, underlyings: { ACME } },
  trades: [trade("A", 90), trade("B", 110), trade("wrong", -1)],
};

describe.skipIf(!hasBrowser())("pictures", () => {
  let web: WebPages;
  let page: Page;
  beforeAll(async () => {
    web = await launchWeb({ viewport: { width: 1440, height: 900 } });
    page = await web.open();
    await priced(page);
    await page.getByLabel("Open files …").setInputFiles(file("quoted.json", JSON.stringify(book)));
    await rowCount(page, 3);
    await page.getByRole("button", { name: "Pictures" }).click();
  }, 120_000);
  afterAll(() => web?.close());

  const draw = async (name: string): Promise<Locator> => {
    await page.locator(".choices").getByRole("button", { name }).click();
    await page.waitForSelector('section[aria-label="Picture"][aria-busy="false"]');
    return page.getByRole("region", { name: "Picture" }).getByTestId("chart");
  };

  test("quotes are dots on the line of their fit, one colour an expiry", async () => {
    const smile = (await draw("Volatility")).filter({ hasText: "quotes as dots, with their fit by svi" });
    const colours = async (selector: string): Promise<string[]> =>
      smile
        .locator(selector)
        .evaluateAll((all) => all.map((one) => (one as SVGElement).style.fill || (one as SVGElement).style.stroke));
    const dots = await colours("circle.c-dot");
    expect(dots).toHaveLength(quotes.length);
    expect(new Set(dots).size).toBe(expiries.length);
    const lines = (await colours("path.c-line")).filter((colour) => colour !== "");
    expect(new Set(lines)).toEqual(new Set(dots));
  });

  test("the state of a fit is told, and a quote that is edited in the table moves dots, fit and prices", async () => {
    await page.getByRole("button", { name: "Book", exact: true }).click();
    await page.getByRole("button", { name: "Market" }).click();
    const fit = page.getByTestId("fit");
    await fit.getByText(/^svi: converged; quotes are missed by [\d.]+ points on average/).waitFor();
    const [drawn, total] = [fit.locator("svg"), page.getByTestId("total")];
    const before = [await drawn.innerHTML(), await total.innerText()];
    await page.getByText("Quotes of ACME as a table").click();
    await page.getByLabel("ACME, 1Y, strike 90: implied volatility in percent").fill("23");
    await page.waitForSelector('.summary[aria-busy="false"]');
    await page.waitForFunction(
      (text) => document.querySelector('[data-testid="fit"] svg')?.innerHTML !== text,
      before[0],
    );
    expect(await total.innerText()).not.toBe(before[1]);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.waitForFunction(
      (text) => document.querySelector('[data-testid="fit"] svg')?.innerHTML === text,
      before[0],
    );
    expect(await total.innerText()).toBe(before[1]);
    await page.getByRole("button", { name: "Pictures" }).click();
  });

  test("a trade that has no price is named as such", async () => {
    const charts = await draw("Scenarios");
    expect(await charts.first().locator(".c-title").textContent()).toBe("Gain or loss of the book, EUR (1 not priced)");
  });

  test("a function of spot and time has contours with round edges, in one unit of time", async () => {
    const chart = (await draw("Over spot and time")).first();
    expect(await chart.locator("path.c-contour").count()).toBe(1);
    const texts = await chart.locator("text").allTextContents();
    expect(texts).toContain("months from today");
    const edges = texts
      .slice(texts.findIndex((text) => text.startsWith("spot of ")) + 1)
      .filter((text) => /^[\d.]+$/.test(text));
    expect(edges.length).toBeGreaterThan(2);
    expect(edges.every((text) => text.replace(/^[0.]+|0+$/g, "").replace(".", "").length <= 2)).toBe(true);
  });

  test("a picture of before is dim until the next one is there", async () => {
    await draw("Over spot and time");
    await page.locator('section[aria-label="Picture"] label.pick select').selectOption({ index: 1 });
    await page.waitForSelector('section[aria-label="Picture"] .charts.stale svg.chart');
    await page.waitForSelector('section[aria-label="Picture"][aria-busy="false"]');
    expect(await page.locator('section[aria-label="Picture"] .charts.stale').count()).toBe(0);
  });
});
