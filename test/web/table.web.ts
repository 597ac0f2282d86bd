/** The page's table of results: what it sums, rounds and shows, driven as a visitor would drive it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { hasBrowser } from "../support/chromium.ts";
import { market } from "./books.ts";
import { file, launchWeb, priced, rowCount, saved, type WebPages } from "./page-server.ts";

const names = ["ACME", "BETA", "CORE"];
const underlyings = Object.fromEntries(
  names.map((name, i) => [name, { spot: 100 + 40 * i, currency: "EUR", volatility: 0.2 }]),
);
const trades = names.flatMap((underlying, i) =>
  ["Paris", "London"].map((desk, k) => ({
    id: `${underlying} ${desk}`,
    underlying,
    payoff: i === 1 ? "call" : "put",
    strike: 95 + 40 * i + k,
    expiry: 1,
    exercise: k === 0 ? "european" : "american",
    quantity: k === 0 ? -30 : 20,
    tags: { desk, trader: `trader ${i}` },
  })),
);
const failing = { ...trades[0], id: "wrong", strike: -1 };
const book = { ...market, market: { ...market.market, underlyings }, trades: [...trades, failing] };

interface Result {
  readonly id: string;
  readonly value: number;
  readonly delta: number;
  readonly theta: number;
  readonly errorEstimate: number;
}

describe.skipIf(!hasBrowser())("the table", () => {
  let web: WebPages;
  let page: Page;
  let results: Map<string, Result>;
  beforeAll(async () => {
    web = await launchWeb({ viewport: { width: 1440, height: 900 } });
    page = await web.open();
    await priced(page);
    await page.getByLabel("Open files …").setInputFiles(file("desks.json", JSON.stringify(book)));
    await rowCount(page, trades.length + 1);
    const report = JSON.parse((await saved(page, "Results as JSON")).toString()) as { results: Result[] };
    results = new Map(report.results.map((result) => [result.id, result]));
  }, 120_000);
  afterAll(() => web?.close());

  /** The cells of rows, by the titles of their columns; the head of a group has none for texts. */
  const cells = async (of: string): Promise<Record<string, string>[]> =>
    page.evaluate((selector) => {
      const titles = [...document.querySelectorAll(".head [role=columnheader] span")].map((one) => one.textContent);
      return [...document.querySelectorAll(`.body ${selector}`)].map((row) => {
        const all = [...row.querySelectorAll("[role=gridcell]")].map((cell) => cell.textContent);
        return Object.fromEntries(all.map((text, i) => [titles[i + titles.length - all.length], text]));
      });
    }, of);
  const numberIn = (text: string): number => Number(text.replace(/±.*|[,\s\u2007\u2008]/g, "").replace("−", "-"));
  const group = (label: string): Promise<unknown> => page.getByLabel("Group by").selectOption({ label });

  test("rounds values to their errors, and puts decimal points under each other", async () => {
    const rows = (await cells(".row:not(.failed)")).map(({ Trade: id, Value: text }) => ({
      text,
      result: results.get(id),
    }));
    expect(rows).toHaveLength(trades.length);
    for (const { text, result } of rows) {
      const { value, errorEstimate } = result as Result;
      const [shown, error] = text.split("±");
      const decimals = shown.trim().split(".")[1]?.trim().length ?? 0;
      expect(Math.abs(numberIn(shown) - value)).toBeLessThanOrEqual(0.5000001 * 10 ** -decimals);
      // The error that is shown covers the estimate, and its first digit is the value's last.
      if (error === undefined) expect(errorEstimate).toBeLessThan(0.05 * 10 ** -decimals);
      else {
        expect(Number(error)).toBeGreaterThanOrEqual(errorEstimate);
        expect(Number(error)).toBeLessThanOrEqual(errorEstimate + 10 ** -decimals);
      }
    }
    const behind = rows.map(({ text }) => text.split("±")[0].replace(/[ ]$/, "").split(".")[1].length);
    expect(new Set(behind).size).toBe(1);
  });

  test("sums deltas of one underlying only, and thetas of one currency", async () => {
    const sum = (chosen: readonly (typeof trades)[number][], name: "delta" | "theta"): number =>
      chosen.reduce((total, { id, quantity }) => total + quantity * (results.get(id)?.[name] ?? Number.NaN), 0);
    await group("currency");
    const [unread, all] = await cells(".row.group");
    expect(unread["Theta"]).toBe("");
    expect([all["Delta"], all["Gamma"], all["Vega"]]).toEqual(["–", "–", "–"]);
    expect(numberIn(all["Theta"]) / sum(trades, "theta")).toBeCloseTo(1, 3);
    await group("underlying");
    const heads = await cells(".row.group");
    for (const [i, name] of names.entries()) {
      const own = trades.filter(({ underlying }) => underlying === name);
      expect(numberIn(heads[i + 1]["Delta"]) / sum(own, "delta")).toBeCloseTo(1, 3);
    }
    await group("tag desk");
    const desks = page.locator(".row.group button");
    expect(await desks.allInnerTexts()).toEqual([
      expect.stringContaining("not read 1 trade"),
      expect.stringContaining("London 3 trades"),
      expect.stringContaining("Paris 3 trades"),
    ]);
    // A name is not cut off.
    expect(
      await desks.first().evaluate((head) => head.scrollWidth <= (head.parentElement as Element).clientWidth),
    ).toBe(true);
    await group("no groups");
  });

  test("shows every usual column at 1440 pixels, and those that the visitor chooses", async () => {
    const titles = (): Promise<string[]> => page.locator(".head [role=columnheader] span").allInnerTexts();
    const edge = await page.locator(".table").evaluate((table) => table.getBoundingClientRect().right);
    for (const title of ["Delta", "Gamma", "Vega", "Theta", "Rho", "Method"]) {
      const box = await page.locator(".table").getByRole("columnheader", { name: title }).boundingBox();
      expect(box === null ? Number.NaN : box.x + box.width).toBeLessThanOrEqual(edge + 1);
    }
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("checkbox", { name: /^Rho/ }).uncheck();
    await page.getByRole("checkbox", { name: "trader" }).check();
    await page.keyboard.press("Escape");
    expect(await titles()).toEqual(expect.arrayContaining(["trader"]));
    expect(await titles()).not.toContain("Rho");
    expect((await cells(".row"))[0]["trader"]).toBe("trader 0");
    await page.reload();
    await priced(page);
    expect(await titles()).not.toContain("Rho");
  });

  test("says what is wrong in one sentence and in words, and folds the rest", async () => {
    const swap = { id: "swap", swap: { end: "5Y", pay: { rate: 0.03 }, receive: { index: "ESTR" } } };
    const given = { ...book, trades: [failing, swap] };
    await page.getByLabel("Open files …").setInputFiles(file("wrong.json", JSON.stringify(given)));
    await rowCount(page, 2);
    await page.getByRole("gridcell", { name: "wrong", exact: true }).click();
    await page.locator(".detail", { hasText: "Strike: expected a positive number, got -1" }).waitFor();
    await page.getByRole("gridcell", { name: "swap", exact: true }).click();
    await page.locator(".detail h2", { hasText: "swap" }).waitFor();
    const said = page.locator(".detail .bad");
    await said.waitFor();
    expect((await said.innerText()).length).toBeLessThan(170);
    expect(await page.locator("main").innerText()).not.toMatch(/trades\[|market\./);
  });
});
