/** The page's main tasks without a mouse, on a wide and on a narrow screen. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { hasBrowser } from "../support/chromium.ts";
import { axeViolations, file, launchWeb, priced, type WebPages } from "./page-server.ts";

/** The most elements that are passed on the way to one. */
const MAX_TABS = 400;

/** The name of the element that has the focus, as it is read out, and whether the focus can be seen. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement & { readonly labels?: NodeListOf<HTMLElement> | null };
    const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.innerText ?? element.innerText ?? "";
    return label.replaceAll(/\s+/g, " ").trim();
  });

/** Goes to the next element with a name by the Tab key alone. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let i = 0; i < MAX_TABS; i++) {
    await page.keyboard.press("Tab");
    const label = await focused(page);
    if (name.test(label)) return;
    passed.push(label);
  }
  throw new Error(`no ${name} among ${[...new Set(passed)].join(" · ")}`);
}

describe.skipIf(!hasBrowser())("by the keyboard alone", () => {
  let web: WebPages;
  beforeAll(async () => {
    web = await launchWeb();
  }, 120_000);
  afterAll(() => web?.close());

  test.each([360, 1440])("a visitor does the main tasks at %d pixels", { timeout: 240_000 }, async (width) => {
    const page = await web.open();
    await page.setViewportSize({ width, height: 900 });
    await priced(page);
    const total = (): Promise<string> => page.getByTestId("total").first().innerText();
    // The first stop leads past what every view has.
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Skip to the results");
    await page.keyboard.press("Enter");
    // Load an example.
    await tabTo(page, /^Examples$/);
    await page.keyboard.press("Enter");
    await tabTo(page, /^Double barriers/);
    await page.keyboard.press("Enter");
    await page.locator("h1", { hasText: "Double barriers" }).waitFor();
    await page.waitForFunction(() => document.querySelector(".summary")?.getAttribute("aria-busy") === "false");
    const before = await total();
    // Edit a trade in its form: it is priced at once.
    await tabTo(page, /^Terms$/);
    await page.keyboard.press("Enter");
    await tabTo(page, /^Strike/);
    await page.keyboard.press("Control+a");
    await page.keyboard.type("97");
    await page.keyboard.press("Tab");
    await page.waitForFunction(
      (old) => document.querySelector<HTMLElement>('[data-testid="total"]')?.innerText !== old,
      before,
    );
    await page.waitForFunction(() => document.querySelector(".summary")?.getAttribute("aria-busy") === "false");
    // Read the result of another trade.
    await tabTo(page, /^Priced trades$/);
    const detail = page.locator(".detail h2").first();
    const first = await detail.innerText();
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction((old) => document.querySelector<HTMLElement>(".detail h2")?.innerText !== old, first);
    expect(await page.locator('.table [aria-selected="true"]').count()).toBe(1);
    // Take the edit back.
    await page.keyboard.press("Control+z");
    await page.waitForFunction(
      (old) => document.querySelector<HTMLElement>('[data-testid="total"]')?.innerText === old,
      before,
    );
    expect(await axeViolations(page)).toEqual([]);
    // Save the results.
    await tabTo(page, /^Save$/);
    await page.keyboard.press("Enter");
    await tabTo(page, /^Results as CSV/);
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
    expect(download.suggestedFilename()).toMatch(/-results\.csv$/);
    // Open a table of scenarios.
    await tabTo(page, /^Risk$/);
    await page.keyboard.press("Enter");
    await page.getByText("This book has no named scenarios").waitFor();
    await tabTo(page, /^Open scenarios/);
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.keyboard.press("Space")]);
    await chooser.setFiles([file("two.csv", "name,spot.*\nup,0.1\ndown,-0.1\n")]);
    const worst = page.getByRole("region", { name: "Worst scenarios" });
    await worst.locator("tbody tr").nth(1).waitFor();
    await tabTo(page, /^Worst scenarios$/);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect(await axeViolations(page)).toEqual([]);
    await page.close();
  });
});
