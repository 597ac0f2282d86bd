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
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
];

/** Takes the GPU away: there is no adapter then. */
export const WITHOUT_GPU = ["--use-webgpu-adapter=none", "--disable-features=WebGPU"];

/** A context with a profile of its own, which goes when it is closed; `more` are flags of the browser. */
export async function launchChromium(
  options: BrowserContextOptions = {},
  more: readonly string[] = [],
): Promise<BrowserContext> {
  const profile = await mkdtemp(join(tmpdir(), "feynkac-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executable,
    headless: true,
    args: [...flags.filter((flag) => !more.some((one) => one.split("=")[0] === flag.split("=")[0])), ...more],
    ...options,
  });
  // The browser writes its last files while it closes.
  context.once("close", () => void rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return context;
}
