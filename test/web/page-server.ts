/** The page as a visitor gets it: built, minified and served as `feynkac web` serves it. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BrowserContextOptions, Page } from "playwright-core";
import { build } from "vite";
import { serveWeb } from "../../src/cli/web-server.ts";
import { launchChromium } from "../support/chromium.ts";

const configFile = fileURLToPath(new URL("../../web/vite.config.ts", import.meta.url));

export interface WebPages {
  readonly folder: string;
  readonly address: string;
  /** A fresh page at an address below the page's own, such as "#example=dax". */
  open(path?: string): Promise<Page>;
  close(): Promise<void>;
}

export async function launchWeb(options: BrowserContextOptions = {}): Promise<WebPages> {
  const folder = await mkdtemp(join(tmpdir(), "feynkac-web-"));
  await build({ configFile, logLevel: "error", build: { outDir: folder, emptyOutDir: true } });
  const server = await serveWeb(folder, 0);
  const context = await launchChromium({ viewport: { width: 1280, height: 900 }, ...options });
  return {
    folder,
    address: server.address,
    async open(path = "") {
      const page = await context.newPage();
      await page.goto(server.address + path);
      return page;
    },
    async close() {
      await context.close();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until a run has ended. */
export async function priced(page: Page): Promise<void> {
  await page.waitForSelector('[data-testid="seconds"]', { state: "attached" });
}

/** What the page saves under an entry of its menu. */
export async function saved(page: Page, entry: string): Promise<Buffer> {
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: entry }).click(),
  ]);
  return readFile(await download.path());
}
