/** The page when its engine does not answer and is started again: nothing is lost, and all is priced. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { hasBrowser } from "../support/chromium.ts";
import { launchWeb, priced, saved, type WebPages } from "./page-server.ts";

/** Makes the engine deaf and dumb from the first news of a run on, as while a kernel runs that cannot be stopped. */
const DEAF_WORKERS = `{
  const Real = Worker;
  window.engines = 0;
  window.Worker = class extends Real {
    isDeaf = false;
    constructor(...given) {
      super(...given);
      window.engines++;
      this.addEventListener("message", (event) => {
        if (this.isDeaf) event.stopImmediatePropagation();
        else if (window.deafens && event.data.kind === "event") {
          this.isDeaf = true;
          window.deafens = false;
        }
      });
    }
    postMessage(...given) {
      if (!this.isDeaf) super.postMessage(...given);
    }
  };
}`;

describe.skipIf(!hasBrowser())("the page whose engine is started again", () => {
  let web: WebPages;
  let page: Page;
  const uncaught: string[] = [];
  beforeAll(async () => {
    web = await launchWeb({ permissions: ["clipboard-read", "clipboard-write"] });
    page = await web.open();
    page.on("pageerror", ({ message }) => uncaught.push(message));
    await page.addInitScript(DEAF_WORKERS);
    await page.reload();
    await priced(page);
  });
  afterAll(() => web?.close());

  const engines = (count: number): Promise<unknown> => page.waitForFunction(`window.engines === ${count}`);
  const deafen = (): Promise<unknown> => page.evaluate("void (window.deafens = true)");
  const deaf = (): Promise<unknown> => page.waitForFunction("window.deafens === false");
  const idle = async (): Promise<void> => {
    await page.waitForSelector('.summary[aria-busy="false"]');
    await page.waitForFunction(() => document.querySelector(".row.stale") === null);
    expect(await page.locator(".problem").count()).toBe(0);
  };
  const bookNow = async (): Promise<{ trades: Record<string, unknown>[] }> =>
    JSON.parse((await saved(page, "The book as JSON")).toString()) as never;

  test("an edit during a run that cannot be stopped is carried out after the one before it", async () => {
    const before = await bookNow();
    await page.locator(".table .body .row").first().click();
    await page.getByRole("button", { name: "Terms" }).click();
    await deafen();
    await page.locator(".terms > .form-row select").selectOption({ label: "Convertible bond" });
    await deaf();
    await page.getByLabel(/^Quantity/).fill("7");
    await engines(2);
    await idle();
    const [first, ...others] = (await bookNow()).trades;
    expect(first).toMatchObject({ convertible: expect.anything() as unknown, quantity: 7 });
    expect(others).toEqual(before.trades.slice(1));
    expect(await page.locator(".terms > .form-row select").inputValue()).toContain("convertible");
    const { priced: count } = JSON.parse((await saved(page, "Results as JSON")).toString()) as { priced: number };
    expect(count).toBe(12);
    await page.getByRole("button", { name: "Undo" }).click();
    await idle();
    await page.getByRole("button", { name: "Undo" }).click();
    await idle();
    expect(await bookNow()).toEqual(before);
  });

  test("a run that is cancelled is shown as cancelled at once, and can be priced", async () => {
    await deafen();
    await page.getByRole("button", { name: "Market" }).click();
    await page.getByRole("region", { name: "NORD" }).getByLabel(/^Spot/).fill("103");
    await deaf();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled").waitFor();
    await engines(3);
    expect(await page.locator(".problem").count()).toBe(0);
    await page.getByRole("button", { name: "Price the rest" }).click();
    await idle();
    await page.getByRole("button", { name: "Copy link" }).first().click();
    await page.waitForFunction(() => location.hash.startsWith("#s="));
  });

  test("another book that is opened during such a run has its own totals only", async () => {
    await deafen();
    await page.getByRole("region", { name: "NORD" }).getByLabel(/^Spot/).fill("104");
    await deaf();
    await page.getByRole("button", { name: "Examples" }).click();
    await page.getByRole("menuitem", { name: /Double barriers/ }).click();
    await engines(4);
    await page.locator("h1", { hasText: "Double barriers" }).waitFor();
    await idle();
    const { totals } = JSON.parse((await saved(page, "Results as JSON")).toString()) as {
      totals: { currency: string }[];
    };
    expect(await page.locator(".total h2").allInnerTexts()).toEqual(totals.map(({ currency }) => `Value, ${currency}`));
    expect(uncaught).toEqual([]);
  });
});
