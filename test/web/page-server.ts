/** The page as a visitor gets it: built, minified and served as `feynkac web` serves it. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build } from "vite";
import { serveWeb } from "../../src/cli/web-server.ts";
import { type BrowserOptions, launchChromium } from "../support/chromium.ts";

const configFile = fileURLToPath(new URL("../../web/vite.config.ts", import.meta.url));

export interface WebPages {
  readonly folder: string;
  readonly address: string;
  /** A fresh page at an address below the page's own, such as "#example=dax". */
  open(path?: string): Promise<Page>;
  close(): Promise<void>;
}

export async function launchWeb(options: BrowserOptions = {}): Promise<WebPages> {
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

/** A file as a visitor gives it. */
export function file(name: string, content: string | ArrayBuffer): { name: string; mimeType: string; buffer: Buffer } {
  const buffer = typeof content === "string" ? Buffer.from(content) : Buffer.from(content);
  return { name, mimeType: "application/octet-stream", buffer };
}

/** Waits until a book of so many trades has been priced. */
export async function rowCount(page: Page, expected: number): Promise<void> {
  await page.waitForFunction(
    (n) => document.querySelector(".table")?.getAttribute("aria-rowcount") === String(n + 1),
    expected,
  );
  await priced(page);
}

/** What axe finds wrong in a page, in light and dark. */
export async function axeViolations(page: Page): Promise<string[]> {
  const all: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(1000);
    await page.addScriptTag({ path: createRequire(import.meta.url).resolve("axe-core/axe.min.js") });
    const found = await page.evaluate(async () => {
      const { run } = (
        globalThis as typeof globalThis & {
          axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        }
      ).axe;
      return (await run()).violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`,
      );
    });
    all.push(...found.map((text) => `${colorScheme}: ${text}`));
  }
  return all;
}
