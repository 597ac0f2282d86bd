/** Headless Chromium with a software WebGPU adapter, and a server on the loopback for the page under test. */
import { mkdtemp, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium, type Page } from "playwright-core";
import { isRequired } from "../support/required.ts";

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

export interface Browser {
  /** A fresh page; cross-origin isolated or not. */
  open(isolated: boolean): Promise<Page>;
  close(): Promise<void>;
}

export async function launchBrowser(): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), "feynkac-browser-"));
  const server = await serve(await bundle());
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executable,
    headless: true,
    args: flags,
  });
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    async open(isolated) {
      const page = await context.newPage();
      await page.goto(`${origin}/${isolated ? "isolated" : "plain"}/`);
      await page.waitForFunction(() => "feynkac" in globalThis);
      return page;
    },
    async close() {
      await context.close();
      server.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

type Files = ReadonlyMap<string, Uint8Array>;

/** What a user's bundler would make of the page: modules, with what is loaded on demand in chunks of its own. */
async function bundle(): Promise<Files> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("page.ts", import.meta.url))],
    bundle: true,
    splitting: true,
    minify: true, // as for production: kernels are read from their own text, so they have to survive it
    format: "esm",
    target: "es2022",
    outdir: "/",
    write: false,
    logLevel: "silent",
  });
  return new Map(outputFiles.map(({ path, contents }) => [path.slice(path.lastIndexOf("/") + 1), contents]));
}

const html =
  '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="page.js"></script>';
const isolation = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

/** Serves the files under /isolated/, with the headers that shared memory needs, and under /plain/, without them. */
async function serve(files: Files): Promise<Server> {
  const server = createServer((request, response) => {
    const [, folder, name] = (request.url ?? "").split("/");
    const contents = name === "" ? html : files.get(name);
    const headers = folder === "isolated" ? isolation : {};
    response.writeHead(contents === undefined ? 404 : 200, {
      ...headers,
      "Content-Type": name === "" ? "text/html" : "text/javascript",
    });
    response.end(contents);
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return server;
}
