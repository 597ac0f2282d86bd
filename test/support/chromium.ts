/** Debian's headless Chromium with a software WebGPU adapter, for tests in a browser. */
import { mkdtemp, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { isRequired } from "./required.ts";

const executable = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** Whether there is a browser to test in; throws where one is required. */
export function hasBrowser(): boolean {
  if (existsSync(executable)) return true;
  if (isRequired("browser")) throw new Error(`no Chromium at ${executable}; set CHROMIUM to its path`);
  return false;
}

const flags = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
const NO_GPU = ["--disable-gpu"];

export interface BrowserOptions extends BrowserContextOptions {
  /** Whether WebGPU has an adapter; true by default. */
  readonly gpu?: boolean;
}

/** A context with a profile of its own, which goes when it is closed. */
export async function launchChromium({ gpu = true, ...options }: BrowserOptions = {}): Promise<BrowserContext> {
  const profile = await mkdtemp(join(tmpdir(), "feynkac-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executable,
    headless: true,
    args: [...flags, ...(gpu ? GPU : NO_GPU)],
    ...options,
  });
  // The browser writes its last files while it closes.
  context.once("close", () => void rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return context;
}
