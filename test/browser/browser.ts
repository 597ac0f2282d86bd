/** Headless Chromium with a software WebGPU adapter, and a server on the loopback for the page under test. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build, type Rolldown } from "vite";
import { launchChromium } from "../support/chromium.ts";
import { everything } from "../support/extent.ts";
import { sources } from "../support/sources.ts";

export interface Browser {
  /** A fresh page; cross-origin isolated or not. */
  open(isolated: boolean): Promise<Page>;
  /** The test's page, cross-origin isolated, without minification; in `npm run test:all`. */
  openWritten(): Promise<Page>;
  /** The page of examples/browser, once it has priced; minified or, in `npm run test:all`, not. */
  openExample(minified: boolean): Promise<Page>;
  close(): Promise<void>;
}

export async function launchBrowser(): Promise<Browser> {
  const example = "../../examples/browser";
  const page = await bundle(".");
  const server = await serve({
    isolated: page,
    plain: page,
    example: await bundle(example),
    ...(everything
      ? { written: await bundle(".", { minify: false }), "written-example": await bundle(example, { minify: false }) }
      : {}),
  });
  const context = await launchChromium();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const openTestPage = async (folder: string): Promise<Page> => {
    const opened = await context.newPage();
    await opened.goto(`${origin}/${folder}/`);
    await opened.waitForFunction(() => "feynkac" in globalThis);
    return opened;
  };
  return {
    open: (isolated) => openTestPage(isolated ? "isolated" : "plain"),
    openWritten: () => openTestPage("written"),
    async openExample(minified) {
      const opened = await context.newPage();
      await opened.goto(`${origin}/${minified ? "example" : "written-example"}/`);
      await opened.waitForSelector("body[data-done]");
      return opened;
    },
    async close() {
      await context.close();
      server.close();
    },
  };
}

type Files = ReadonlyMap<string, Uint8Array>;

/**
 * What Vite's production build makes of a page: minified, because kernels are read from their own text and have to
 * survive it; modules, with what is loaded on demand in chunks of its own.
 */
async function bundle(folder: string, options: { readonly minify?: boolean } = {}): Promise<Files> {
  const root = fileURLToPath(new URL(folder, import.meta.url));
  const { output } = (await build({
    root,
    configFile: false,
    logLevel: "error",
    base: "./",
    resolve: { alias: [...sources] },
    build: { write: false, ...options },
  })) as Rolldown.RolldownOutput;
  const contents = (file: (typeof output)[number]): string | Uint8Array =>
    file.type === "chunk" ? file.code : file.source;
  return new Map(output.map((file) => [file.fileName, Buffer.from(contents(file))]));
}

const isolation = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

/** Serves folders by name, with the headers that shared memory needs; /plain/ without them. */
async function serve(folders: Readonly<Record<string, Files>>): Promise<Server> {
  const server = createServer((request, response) => {
    const [, folder, path] = /^\/([\w-]+)\/(.*)$/.exec(request.url ?? "") ?? [];
    const name = path || "index.html";
    const contents = folders[folder ?? ""]?.get(name);
    response.writeHead(contents === undefined ? 404 : 200, {
      ...(folder === "plain" ? {} : isolation),
      "Content-Type": name.endsWith(".html") ? "text/html" : "text/javascript",
    });
    response.end(contents);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
