/** The page's editor of trades and quotes, driven as a visitor would drive it. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { readBook } from "../../src/index.ts";
import { hasBrowser } from "../support/chromium.ts";
import { market, trade } from "./books.ts";
import { file, launchWeb, priced, rowCount, saved, type WebPages } from "./page-server.ts";

const showcase = fileURLToPath(new URL("../../web/examples/showcase.json", import.meta.url));
const PRODUCTS = 16;

/** The width of a field, and that of what it holds, in pixels. */
function widths(field: HTMLElement | SVGElement): [number, number] {
  const given = field.getBoundingClientRect().width;
  field.style.width = "max-content";
  const needed = field.getBoundingClientRect().width;
  field.style.width = "";
  return [given, needed];
}

describe.skipIf(!hasBrowser())("the editor", () => {
  let web: WebPages;
  let page: Page;
  beforeAll(async () => {
    web = await launchWeb();
    page = await web.open();
    await priced(page);
  }, 120_000);
  afterAll(() => web?.close());

  const idle = async (): Promise<void> => {
    await page.waitForSelector('.summary[aria-busy="false"]');
    await page.waitForFunction(() => document.querySelector(".row.stale") === null);
  };
  /** Opens the terms of the trade with a name. */
  const terms = async (name: string): Promise<void> => {
    await page.getByRole("gridcell", { name, exact: true }).click();
    await page.locator(".detail h2", { hasText: name }).waitFor();
    await page.getByRole("button", { name: "Terms" }).click();
    await product().waitFor();
  };
  const product = (): Locator => page.locator(".terms > .form-row select");
  const bookNow = async (): Promise<{ trades: Record<string, unknown>[]; market: Record<string, unknown> }> =>
    JSON.parse((await saved(page, "The book as JSON")).toString()) as never;

  test("opens every trade as the product that it is, with all of its fields", async () => {
    const written = JSON.parse(readFileSync(showcase, "utf8")) as { trades: Record<string, unknown>[] };
    for (const { id, ...fields } of written.trades) {
      await terms(String(id));
      expect(await product().evaluate((menu: HTMLSelectElement) => menu.selectedOptions[0].text)).toBe(
        "Option on one underlying",
      );
      const names = (await page.locator(".terms > .fieldset > .form-row > .name").allInnerTexts()).join().toLowerCase();
      expect(Object.keys(fields).filter((name) => !names.includes(name))).toEqual([]);
    }
    // Nothing has been changed by looking at it.
    expect((await bookNow()).trades).toEqual(written.trades);
  });

  test("no field of a trade with barriers runs off the panel, at any width", async () => {
    for (const width of [1440, 768, 360]) {
      await page.setViewportSize({ width, height: 900 });
      await terms("Knock-out call");
      const beyond = await page.locator(".terms").evaluate((form) => {
        const right = form.getBoundingClientRect().right + 1;
        return [...form.querySelectorAll("input, select, button")].filter(
          (field) => field.getBoundingClientRect().right > right,
        ).length;
      });
      expect(beyond).toBe(0);
      // A date whose field is narrower than what it holds loses the year's last digit.
      const [given, needed] = await page.locator('.terms input[type="date"]').first().evaluate(widths);
      expect(given).toBeGreaterThanOrEqual(needed);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("each product in words begins with a trade that is read, and undo brings the first one back", async () => {
    await terms("Protective put");
    const labels = await product().locator("option").allInnerTexts();
    expect(new Set(labels).size).toBe(PRODUCTS);
    const before = await bookNow();
    for (const label of labels.filter((text) => text !== "Option on one underlying")) {
      await product().selectOption({ label });
      await page.getByRole("button", { name: "Undo" }).waitFor();
      await page.waitForFunction(
        (text) =>
          document.querySelector<HTMLSelectElement>(".terms > .form-row select")?.selectedOptions[0].text === text,
        label,
      );
      await idle();
      const problems = readErrors(await bookNow());
      // What the book's market lacks can only be said: a credit curve, an exchange rate, a correlation.
      expect(problems.filter((text) => !/curve|pair|correlation|underlyings\[1\]|index|fx/i.test(text))).toEqual([]);
      await page.getByRole("button", { name: "Undo" }).click();
      await idle();
    }
    expect(await bookNow()).toEqual(before);
  });

  test("undoes and redoes edits of trades, removals and quotes, with their results", async () => {
    await page.getByLabel("Open files …").setInputFiles(file("book.json", readFileSync(showcase, "utf8")));
    await rowCount(page, 12);
    const results = async (): Promise<unknown> =>
      (JSON.parse((await saved(page, "Results as JSON")).toString()) as { results: unknown }).results;
    const [book0, results0] = [await bookNow(), await results()];
    await terms("Protective put");
    const row = page.getByRole("row", { name: "Protective put" });
    const shown = await row.innerText();
    await page.getByLabel("Strike, EUR", { exact: true }).fill("85");
    await idle();
    // The table shows the edited trade, in words and in numbers.
    expect(await row.innerText()).toContain("American put 85");
    expect((await row.innerText()).replace(/put \d+/, "")).not.toBe(shown.replace(/put \d+/, ""));
    const value = (await row.getByRole("gridcell").nth(5).innerText()).split("±")[0];
    expect(await page.getByTestId("result").count()).toBe(0);
    await page.getByRole("button", { name: "Result" }).click();
    await page.getByTestId("result").waitFor();
    expect(await page.getByTestId("result").locator("dd").first().innerText()).toContain(value.trim());
    await page.getByRole("button", { name: "Market" }).click();
    await page.getByRole("region", { name: "NORD" }).getByLabel(/^Spot/).fill("103");
    await idle();
    await page.getByRole("button", { name: "Terms" }).click();
    await page.getByRole("button", { name: "Remove this trade" }).click();
    await rowCount(page, 11);
    const [book1, results1] = [await bookNow(), await results()];
    await page.getByRole("button", { name: "Changes" }).click();
    const changes = await page.locator(".changes tbody tr").allInnerTexts();
    expect(changes.map((text) => text.split(/\s*\t\s*/).join(" | "))).toEqual([
      "market | Underlyings, NORD, Spot | 100 | 103",
      "Protective put | the trade | removed | –",
    ]);
    await page.keyboard.press("Escape");
    for (let step = 0; step < 3; step++) {
      await page.keyboard.press("Control+z");
      await idle();
    }
    expect(await bookNow()).toEqual(book0);
    expect(await results()).toEqual(results0);
    for (let step = 0; step < 3; step++) {
      await page.getByRole("button", { name: "Redo" }).click();
      await idle();
    }
    expect(await bookNow()).toEqual(book1);
    expect(await results()).toEqual(results1);
  });

  test("refuses a spot of −5 in its field, and keeps the prices", async () => {
    const given = { ...market, trades: [trade("A", 90), trade("B", 95)] };
    await page.getByLabel("Open files …").setInputFiles(file("two.json", JSON.stringify(given)));
    await rowCount(page, 2);
    await page.getByRole("button", { name: "Market" }).click();
    const spot = page.getByRole("region", { name: "ACME" }).getByLabel(/^Spot/);
    const total = await page.getByTestId("total").innerText();
    await spot.fill("-5");
    await page.getByText("a number above 0 is needed").waitFor();
    expect(await spot.getAttribute("aria-invalid")).toBe("true");
    expect(await page.locator(".problem").count()).toBe(0);
    expect(await page.getByTestId("total").innerText()).toBe(total);
    expect((await bookNow()).market).toEqual(market.market);
    await spot.fill("101");
    await page.waitForFunction((text) => document.querySelector('[data-testid="total"]')?.textContent !== text, total);
    expect(await page.getByText("is needed").count()).toBe(0);
  });

  test("prices the trades of an edit whose run the next edit has cut short", async () => {
    const many = Array.from({ length: 3000 }, (_, i) => ({
      ...trade(`T${i}`, 80 + (i % 50)),
      barriers: [{ type: "up-and-out", level: 150 }],
    }));
    await page.getByLabel("Open files …").setInputFiles(file("many.json", JSON.stringify({ ...market, trades: many })));
    await rowCount(page, 3000);
    await page.getByRole("button", { name: "Market" }).click();
    await page.getByRole("region", { name: "ACME" }).getByLabel(/^Spot/).fill("120");
    await page.waitForSelector(".row.stale");
    await page.getByRole("button", { name: "Terms" }).click();
    await page.getByLabel("Strike, EUR", { exact: true }).fill("79");
    await idle();
    const edited = JSON.stringify(await bookNow());
    const results = JSON.parse((await saved(page, "Results as JSON")).toString()) as { results: unknown };
    await page.getByLabel("Open files …").setInputFiles(file("edited.json", edited));
    await rowCount(page, 3000);
    await idle();
    expect(JSON.parse((await saved(page, "Results as JSON")).toString())).toMatchObject({ results: results.results });
  });
});

/** What the engine refuses of a book's trades. */
function readErrors(book: unknown): string[] {
  return readBook(book).trades.flatMap((parsed) => (parsed.ok ? [] : [parsed.error.message]));
}
