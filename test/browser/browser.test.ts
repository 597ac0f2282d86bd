/**
 * The conformance suite inside headless Chromium: WebGPU, the CPU on threads, and the CPU where memory cannot be
 * shared.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { prices } from "../../examples/browser/src/prices.ts";
import { everything } from "../support/extent.ts";
import { cases } from "../conformance/cases/index.ts";
import { hasBrowser } from "../support/chromium.ts";
import { type Browser, launchBrowser } from "./browser.ts";

/** Node runs all of them on the same software adapter: here it is the browser that counts. */
const EVERY = everything ? 1 : 30;

describe.skipIf(!hasBrowser())("in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  test.for([
    { where: "a cross-origin isolated page", isolated: true, backend: "webgpu", name: /WebGPU/ },
    { where: "a cross-origin isolated page", isolated: true, backend: "cpu", name: /CPU/ },
    { where: "a page that is not isolated", isolated: false, backend: "cpu", name: /CPU, 1 thread\b/ },
  ] as const)("$backend conforms in $where", async ({ isolated, backend, name }) => {
    const page = await browser.open(isolated);
    const report = await page.evaluate(([chosen, every]) => globalThis.feynkac.run(chosen, every), [
      backend,
      EVERY,
    ] as const);
    await page.close();
    expect(report.failures).toEqual([]);
    expect(report).toMatchObject({ isolated, liveBuffers: 0, device: expect.stringMatching(name) });
    expect(report.cases).toBeGreaterThanOrEqual(cases.length / 2 / EVERY);
  });

  // `npm run check:package` does so in Node for every minifier; the example below is minified as well.
  test.skipIf(!everything)("minified, everything of the package gives the same results, to the bit", async () => {
    const results = async (page: Page): Promise<Record<string, unknown>> => {
      const found = await page.evaluate(() => globalThis.feynkac.cover());
      await page.close();
      return found;
    };
    const expected = await results(await browser.openWritten());
    const minified = await results(await browser.open(true));
    expect(Object.keys(minified).length).toBeGreaterThan(60);
    expect(Object.entries(minified).filter(([, value]) => String(value).startsWith("failed"))).toEqual([]);
    expect(minified).toEqual(expected);
  });

  test("minified, the example shows the prices of Node, and to the bit those of what was written", async () => {
    const shownBy = async (page: Page): Promise<(string | null)[][]> => {
      const shown = await page.$$eval("#prices tr", (rows) =>
        rows.map((row) => [...row.querySelectorAll("td")].map(({ textContent }) => textContent)),
      );
      await page.close();
      return shown;
    };
    const minified = await shownBy(await browser.openExample(true));
    if (everything) expect(minified).toEqual(await shownBy(await browser.openExample(false)));
    const expected = await prices();
    expect(minified.map(([name]) => name)).toEqual(expected.map(({ name }) => name));
    // Chromium and Node differ in the last bits of Math.exp and its like, which meshes are made with.
    for (const [k, { value }] of expected.entries())
      expect(Math.abs(Number(minified[k][1]) - value)).toBeLessThan(1e-10);
  });

  // Node compiles a third of these kernels on the same software adapter in every run.
  test.skipIf(!everything)("WebGPU conforms in emulated double", { timeout: 300_000 }, async () => {
    const page = await browser.open(true);
    const report = await page.evaluate(() => globalThis.feynkac.run("webgpu", 1, true));
    expect(report.failures).toEqual([]);
    const inPairs = cases.filter(({ precisions }) => precisions?.includes("f32x2") ?? true);
    expect(report).toMatchObject({ cases: inPairs.length, liveBuffers: 0 });
    await page.close();
  });

  // test/pricing/emulated-double does so in Node for every reference case.
  test.skipIf(!everything)(
    "WebGPU prices in emulated double as f64 does",
    async () => {
      const page = await browser.open(true);
      for (const { precision, backend, error } of await page.evaluate(() => globalThis.feynkac.priceEmulated())) {
        expect([precision, backend]).toEqual(["f32x2", "webgpu"]);
        expect(error).toBeLessThan(1e-9);
      }
      await page.close();
    },
    300_000,
  );

  test("what is not there says how to get it", async () => {
    const page = await browser.open(false);
    expect(await page.evaluate(() => globalThis.feynkac.tryToOpen("cuda"))).toMatch(
      /^DEVICE_UNAVAILABLE: CUDA needs Node/,
    );
    await page.evaluate(() => Object.defineProperty(navigator, "gpu", { value: undefined }));
    expect(await page.evaluate(() => globalThis.feynkac.tryToOpen("webgpu"))).toMatch(
      /^DEVICE_UNAVAILABLE: WebGPU: .*secure page/,
    );
    await page.close();
  });
});
