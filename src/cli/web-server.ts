/** Serves the files of the browser page on the loopback interface. */
import { createReadStream, existsSync, readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { CliError } from "./failure.ts";

/**
 * The folder into which `npm run build` puts the browser page. Its path relative to this file is the same in the
 * sources and in the package.
 */
export const WEB_FOLDER = fileURLToPath(new URL("dist/web/", new URL("../../package.json", import.meta.url)));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

/** The response headers. The page must be cross-origin isolated, because otherwise threads cannot share memory. */
const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-cache",
};

/** A running web server, with its address as a URL. */
export interface RunningServer {
  readonly address: string;
  readonly close: () => void;
}

/**
 * Starts a web server for the files of a folder, whose contents it reads once. @throws CliError if the folder has no
 * page, or if the port is in use
 */
export async function serveWeb(folder: string, port: number): Promise<RunningServer> {
  if (!existsSync(join(folder, "index.html")))
    throw new CliError(`there is no page in ${folder}; in a clone run \`npm run build\``);
  const server = createServer(answerFrom(folder));
  await listening(server, port);
  const { port: actual } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://localhost:${actual}/`, close };
}

function answerFrom(folder: string): Parameters<typeof createServer>[1] {
  const files = new Set(
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => path.split(sep).join("/")),
  );
  return (request, response) => {
    const name = nameOf(request.url ?? "/");
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead || !files.has(name) || extname(name) === "") {
      response.writeHead(isRead ? 404 : 405, HEADERS).end();
      return;
    }
    response.writeHead(200, { ...HEADERS, "Content-Type": TYPES[extname(name)] ?? "application/octet-stream" });
    if (request.method === "HEAD") response.end();
    else
      createReadStream(join(folder, name))
        .on("error", () => response.destroy())
        .pipe(response);
  };
}

function nameOf(url: string): string {
  const path = url.replace(/[?#].*$/, "").slice(1);
  return path === "" ? "index.html" : path;
}

/** Listens on a port of 127.0.0.1. Browsers try IPv4 and IPv6 for `localhost`, and every machine has IPv4. */
function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "it is taken; leave --port out for a free one" : cause.message;
      reject(new CliError(`cannot listen on port ${port}: ${reason}`, { cause }));
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}
