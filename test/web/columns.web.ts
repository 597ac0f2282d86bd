/** A table whose columns have names of their own, as a visitor opens it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { hasBrowser } from "../support/chromium.ts";
import { market } from "./books.ts";
import { axeViolations, file, launchWeb, priced, rowCount, saved, type WebPages } from "./page-server.ts";

const CSV = [
  "TradeRef,Underlying,CallPut,Strike,Maturity,Style,Qty,desk,comment",
  "A,ACME,C,95,2027-11-20,European,20,London,first",
  "B,ACME,P,105,2027-05-20,American,-10,Paris,second",
].join("\n");

describe.skipIf(!hasBrowser())("a table with columns of its own", () => {
  let web: WebPages;
  let page: Page;
  beforeAll(async () => {
    web = await launchWeb();
    page = await web.open();
    await priced(page);
    const files = [file("desk.csv", CSV), file("market.json", JSON.stringify(market))];
    await page.getByLabel("Open files …").setInputFiles(files);
    await page.getByRole("dialog").waitFor();
  }, 120_000);
  afterAll(() => web?.close());

  test("is asked what they mean, with what they seem to mean", async () => {
    const terms = await page
      .getByRole("dialog")
      .getByRole("combobox", { name: /^Term of/ })
      .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));
    expect(terms).toEqual(["id", "underlying", "payoff", "strike", "expiry", "exercise", "quantity"]);
    expect(await page.getByLabel("desk is").inputValue()).toBe("tag");
    expect(await axeViolations(page)).toEqual([]);
  });

  test("is loaded with terms, tags, and without what is left out", async () => {
    await page.getByLabel("comment is").selectOption("nothing");
    await page.getByRole("dialog").getByRole("button", { name: "Load" }).click();
    await rowCount(page, 2);
    const { trades } = JSON.parse((await saved(page, "The book as JSON")).toString()) as { trades: unknown[] };
    const common = { underlying: "ACME" };
    expect(trades).toEqual([
      {
        ...common,
        id: "A",
        payoff: "call",
        strike: 95,
        expiry: "2027-11-20",
        exercise: "european",
        quantity: 20,
        tags: { desk: "London" },
      },
      {
        ...common,
        id: "B",
        payoff: "put",
        strike: 105,
        expiry: "2027-05-20",
        exercise: "american",
        quantity: -10,
        tags: { desk: "Paris" },
      },
    ]);
    await page.getByLabel("Group by").selectOption({ label: "tag desk" });
    expect(await page.locator(".row.group").count()).toBe(2);
  });
});
