/** The whole page, driven as a visitor would drive it: files, devices, pictures, links, errors. */
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { openDevice, priceBook, readBook } from "../../src/index.ts";
import { hasBrowser } from "../support/chromium.ts";
import { market, trade } from "./books.ts";
import { axeViolations, file, launchWeb, priced, rowCount, saved, type WebPages } from "./page-server.ts";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const read = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path(name), "utf8")) as Record<string, unknown>;
describe.skipIf(!hasBrowser())("a visitor", () => {
  let web: WebPages;
  let page: Page;
  beforeAll(async () => {
    web = await launchWeb({ permissions: ["clipboard-read", "clipboard-write"] });
    page = await web.open();
    await priced(page);
  });
  afterAll(() => web?.close());

  const give = async (...files: ReturnType<typeof file>[]): Promise<void> => {
    await page.getByLabel("Open files …").setInputFiles(files);
  };
  test.each([
    ["dax", "../../examples/dax/book.json"],
    ["barriers", "../../examples/double-barrier/book.json"],
    ["dividends", "../../examples/american-dividends/book.json"],
    ["surface", "../../examples/local-volatility/book.json"],
    ["models", "../../web/examples/models.json"],
  ])("prices the example %s as the command line does, to the bit", async (name, source) => {
    const other = await web.open(`#example=${name}`);
    const book = readBook(read(source));
    await other.waitForFunction(
      (n) => document.querySelector(".table")?.getAttribute("aria-rowcount") === String(n + 1),
      book.trades.length,
    );
    await priced(other);
    using device = await openDevice({ backend: "cpu" });
    const expected = await priceBook(book, { device });
    const report = JSON.parse((await saved(other, "Results as JSON")).toString()) as typeof expected;
    const all = JSON.parse(JSON.stringify(expected.results)) as typeof expected.results;
    expect(report.results).toEqual(all);
    await other.close();
  });

  test("opens Parquet with its market, and saves the results as Parquet", async () => {
    const other = await web.open();
    await priced(other);
    const trades = parquetWriteBuffer({
      columnData: [
        { name: "id", data: ["A", "B", "C"] },
        { name: "underlying", data: ["ACME", "ACME", "ACME"] },
        { name: "payoff", data: ["put", "call", "put"] },
        { name: "strike", data: [90, 95, 110] },
        { name: "expiry", data: [1, 1, 2] },
      ],
    });
    const files = [file("trades.parquet", trades), file("market.json", JSON.stringify(market))];
    await other.getByLabel("Open files …").setInputFiles(files);
    await rowCount(other, 3);
    const report = JSON.parse((await saved(other, "Results as JSON")).toString()) as { results: { value: number }[] };
    const bytes = await saved(other, "Results as Parquet");
    const table = await parquetReadObjects({ file: new Uint8Array(bytes).buffer, compressors });
    expect(table.map(({ id, value }) => [id, value])).toEqual(
      ["A", "B", "C"].map((id, i) => [id, report.results[i].value]),
    );
    await other.close();
  });

  test("prices only what depends on a quote", async () => {
    const other = await web.open();
    await priced(other);
    const before = JSON.parse((await saved(other, "Results as JSON")).toString()) as {
      results: { id: string; value: number }[];
    };
    await other.getByRole("button", { name: "Market" }).click();
    const spot = other.getByRole("region", { name: "NORD" }).getByLabel(/^Spot/);
    await spot.fill("103");
    await spot.press("Enter");
    await other.waitForFunction(() => document.querySelector(".summary")?.getAttribute("aria-busy") === "false");
    const after = JSON.parse((await saved(other, "Results as JSON")).toString()) as typeof before;
    const written = read("../../web/examples/showcase.json");
    for (const [i, { value }] of after.results.entries()) {
      const { underlying } = (written["trades"] as { underlying: string }[])[i];
      expect(value !== before.results[i].value).toBe(underlying === "NORD");
    }
    await other.close();
  });

  test("cancels 100,000 trades, and prices them", async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => JSON.stringify(trade(`T${i}`, 60 + (i % 800) / 10)));
    await give(file("long.ndjson", `${JSON.stringify(market)}\n${lines.join("\n")}\n`));
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled").waitFor();
    await give(file("long.ndjson", `${JSON.stringify(market)}\n${lines.join("\n")}\n`));
    await rowCount(page, 100_000);
    expect(await page.locator(".table .body .row").count()).toBeLessThan(150);
    await page
      .getByRole("columnheader", { name: /^Value/ })
      .getByRole("button")
      .click();
    await page.getByLabel("Filter trades").fill("T99999");
    await rowCount(page, 1);
  });

  test.each([
    "Value and Greeks",
    "Over spot and time",
    "Exercise boundary",
    "Volatility",
    "Simulated paths",
    "Scenarios",
    "Errors",
    "Quantization grid",
    "Sparse grid",
  ])("draws %s", async (name) => {
    const other = await web.open("#view=Pictures");
    await priced(other);
    await other.getByRole("button", { name }).click();
    const section = other.getByRole("region", { name: "Picture" });
    await other.waitForSelector('section[aria-label="Picture"][aria-busy="false"]');
    await section.getByTestId("chart").first().waitFor();
    const drawn = await section.locator("svg.chart").first().innerHTML();
    expect(drawn).toMatch(/<(path|circle|rect)/);
    expect(drawn).not.toMatch(/NaN|undefined|Infinity/);
    await other.close();
  });

  test("explains, solves equations, and puts them into links", async () => {
    const other = await web.open("#view=Explain");
    await priced(other);
    await other.getByRole("button", { name: "Explain", exact: true }).last().click();
    await other.getByRole("region", { name: "Explanation" }).getByTestId("chart").first().waitFor();
    await other.getByRole("button", { name: "Playground" }).click();
    await other.getByRole("region", { name: "Solution" }).getByTestId("chart").first().waitFor();
    await other.getByRole("button", { name: "Copy link" }).last().click();
    await other.waitForFunction(() => location.hash.startsWith("#s="));
    const again = await web.open(new URL(other.url()).hash);
    await again.getByRole("region", { name: "Solution" }).getByTestId("chart").first().waitFor();
    await again.close();
    await other.close();
  });

  test("solves a payoff, and shows the code that was generated", async () => {
    const other = await web.open("#view=Playground");
    await priced(other);
    await other.getByLabel("Begin with").selectOption({ label: "A payoff of your own, American" });
    await other.getByLabel(/Show the generated WebAssembly/).check();
    await other.locator(".generated summary").first().click();
    expect(await other.locator(".generated pre").first().innerText()).toMatch(/f64x2\./);
    const drawn = other.getByRole("region", { name: "Solution" }).locator("svg.chart").first();
    await drawn.waitFor();
    expect(await drawn.innerHTML()).toContain("sigma = 0.3");
    await other.close();
  });

  test("has every core on a host that sends no headers, by its service worker", async () => {
    const plain = createServer(({ url = "/" }, response) => {
      const name = new URL(url, "http://localhost").pathname.slice(1) || "index.html";
      const type = { html: "text/html", js: "text/javascript", css: "text/css" }[name.split(".").at(-1) ?? ""];
      if (!existsSync(join(web.folder, name))) response.writeHead(404).end();
      else
        response
          .writeHead(200, { "Content-Type": type ?? "application/json" })
          .end(readFileSync(join(web.folder, name)));
    });
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    const { port } = plain.address() as AddressInfo;
    const other = await page.context().newPage();
    await other.goto(`http://localhost:${port}/`);
    await other.waitForFunction(() => globalThis.crossOriginIsolated);
    await priced(other);
    expect(await other.locator(".device").textContent()).toMatch(/^CPU, \d+ threads? · f64$/);
    await other.close();
    plain.close();
  });

  test("prices on a GPU", async () => {
    const other = await web.open();
    await priced(other);
    await other.getByRole("button", { name: /^Device/ }).click();
    await other.getByRole("menuitemradio", { name: /GPU, single/ }).click();
    await other
      .getByText(/WebGPU.*f32/)
      .first()
      .waitFor();
    await priced(other);
    await other.close();
  });

  test("goes on with the CPU when the GPU is lost", async () => {
    const other = await web.open();
    await priced(other);
    await other.getByRole("button", { name: /^Device/ }).click();
    await other.getByRole("menuitemradio", { name: /GPU, single/ }).click();
    await other
      .getByText(/WebGPU.*f32/)
      .first()
      .waitFor();
    await priced(other);
    const browser = await other.context().newCDPSession(other);
    await browser.send("Browser.crashGpuProcess");
    await other.getByText("The device was lost").waitFor();
    await other
      .getByLabel("Open files …")
      .setInputFiles([file("one.json", JSON.stringify({ ...market, trades: [trade("A", 90)] }))]);
    await rowCount(other, 1);
    expect(await other.locator(".device").textContent()).toMatch(/^CPU, .* f64$/);
    await other.close();
  });

  test.each(["Book", "Pictures", "Explain", "Playground"])("axe finds nothing in %s, light and dark", async (view) => {
    const other = await web.open(`#view=${view}`);
    await priced(other);
    expect(await axeViolations(other)).toEqual([]);
    await other.close();
  });
});

test.skipIf(!hasBrowser())("without a GPU the page says so, and keeps the CPU", async () => {
  const web = await launchWeb({ gpu: false });
  const page = await web.open();
  await priced(page);
  await page.getByRole("button", { name: /^Device/ }).click();
  await page.getByRole("menuitemradio", { name: /GPU, single/ }).click();
  await page.getByText("WebGPU cannot be used here").waitFor();
  expect(await page.locator(".problem").innerText()).toMatch(/no adapter|navigator\.gpu/);
  expect(await page.locator(".device").textContent()).toMatch(/^CPU, .* f64$/);
  await web.close();
});
