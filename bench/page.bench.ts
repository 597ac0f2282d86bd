/** The browser page as a visitor meets it: built files, a cold cache, CPU back end, in Chromium. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { BrowserContext, Page } from "playwright-core";
import { type Benchmark, type Context, median } from "./harness.ts";

const TYPES: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript", css: "text/css" };

/** Serves a folder as `feynkac web` does, and notes what is asked for. */
async function serving(folder: string): Promise<{ address: string; asked: string[]; close: () => void }> {
  const files = new Map<string, Buffer>(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.includes("."))
      .map((name) => [`/${name}`, readFileSync(join(folder, name))] as const),
  );
  const asked: string[] = [];
  const server = createServer(({ url = "/" }, response) => {
    const name = url === "/" ? "/index.html" : url;
    const body = files.get(name);
    asked.push(name);
    response.writeHead(body === undefined ? 404 : 200, {
      "Content-Type": TYPES[name.split(".").at(-1) ?? ""] ?? "application/octet-stream",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Embedder-Policy": "require-corp",
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://localhost:${port}/`, asked, close: () => void server.close() };
}

/** Notes in the page when the first value stands in the table, in milliseconds from the opening of the address. */
const FIRST_PRICE = `{
  const look = () => {
    const cell = document.querySelector(".table .body .row .number:nth-child(6)");
    if (/\\d/.test(cell?.textContent ?? "")) window.firstPrice = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}`;

async function firstPrice(page: Page, address: string): Promise<number> {
  await page.addInitScript(FIRST_PRICE);
  await page.goto(address);
  await page.waitForFunction("window.firstPrice > 0");
  return (await page.evaluate("window.firstPrice")) as number;
}

/** Milliseconds from the click on the example to its last price on the page. */
async function daxSeconds(page: Page): Promise<number> {
  await page.getByRole("button", { name: "Examples" }).click();
  const item = page.getByRole("menuitem", { name: /1,008 DAX/ });
  return item.evaluate(
    async (element) =>
      new Promise<number>((resolve) => {
        const start = performance.now();
        const look = (): void => {
          if (document.querySelector(".summary")?.textContent?.includes("1,008 trades priced") === true)
            resolve(performance.now() - start);
          else requestAnimationFrame(look);
        };
        (element as HTMLElement).click();
        requestAnimationFrame(look);
      }),
  );
}

const AMERICAN = {
  asOf: "2026-11-20",
  market: { rates: { EUR: 0.03 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.25 } } },
  trades: [{ id: "T1", underlying: "ACME", payoff: "put", strike: 100, expiry: 1, exercise: "american" }],
};

/** Milliseconds from each move of the slider to the new value in the table. */
async function sliderMoves(page: Page, moves: number): Promise<number[]> {
  await page
    .getByLabel("Open files …")
    .setInputFiles({ name: "one.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(AMERICAN)) });
  await page.waitForFunction(`document.querySelector(".summary")?.textContent.includes("1 trade priced")`);
  await page.getByRole("button", { name: "Terms" }).click();
  const slider = page.locator(".slider input");
  await slider.waitFor();
  return slider.evaluate(async (element, count) => {
    const input = element as HTMLInputElement;
    const value = (): string => document.querySelector(".table .body .row .number:nth-child(6)")?.textContent ?? "";
    const all: number[] = [];
    for (let i = 0; i < count; i++) {
      const before = value();
      const start = performance.now();
      input.value = String(90 + 0.5 * (i + 1));
      input.dispatchEvent(new Event("input", { bubbles: true }));
      // A message takes its turn sooner than an animation frame does.
      while (value() === before) await new Promise((next) => setTimeout(next, 0));
      all.push(performance.now() - start);
      await new Promise((next) => setTimeout(next, 120));
    }
    return all;
  }, moves);
}

async function run(context: Context): Promise<void> {
  const [{ build }, { launchChromium }] = await Promise.all([import("vite"), import("../test/support/chromium.ts")]);
  const folder = mkdtempSync(join(tmpdir(), "feynkac-page-"));
  const configFile = join(import.meta.dirname, "../web/vite.config.ts");
  await build({ configFile, logLevel: "error", build: { outDir: folder, emptyOutDir: true } });
  const times = context.quick ? 1 : 7;
  const opened: number[] = [];
  const dax: number[] = [];
  const moves: number[] = [];
  let scripts = 0;
  for (let i = 0; i < times; i++) {
    // A profile of its own each time: nothing is cached.
    const browser: BrowserContext = await launchChromium({ viewport: { width: 1280, height: 900 } });
    const server = await serving(folder);
    const page = await browser.newPage();
    opened.push(await firstPrice(page, server.address));
    const used = [...new Set(server.asked)].filter((name) => name.endsWith(".js"));
    scripts = used.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0);
    await page.waitForSelector('[data-testid="seconds"]', { state: "attached" });
    dax.push(await daxSeconds(page));
    moves.push(...(await sliderMoves(page, context.quick ? 3 : 15)));
    await browser.close();
    server.close();
  }
  rmSync(folder, { recursive: true, force: true });
  const device = context.cpu;
  const report = (name: string, figure: number, unit: string): void =>
    context.report({ case: name, device, precision: "f64", figure, unit });
  report("first price of the example, from opening, median", median(opened) / 1000, "s");
  report("first price of the example, from opening, fastest", Math.min(...opened) / 1000, "s");
  report("1,008 DAX options, from the click, median", median(dax) / 1000, "s");
  report("1,008 DAX options, from the click, fastest", Math.min(...dax) / 1000, "s");
  report("one American option, from a move of its slider, median", median(moves), "ms");
  report("one American option, from a move of its slider, fastest", Math.min(...moves), "ms");
  report("script before the first price, gzip", scripts / 1000, "KB");
}

export const benchmark: Benchmark = {
  name: "page",
  description: "the browser page: first price, 1,008 DAX options, a slider, size of scripts",
  run,
};
