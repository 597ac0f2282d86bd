/** An HTTP server that reports the health and the metrics of a process. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Metrics, METRICS_TYPE } from "./metrics.ts";

/** The settings of a server that reports the health of a process. */
export interface HealthSettings {
  readonly port: number;
  readonly host: string;
  readonly metrics: Metrics;
  readonly isHealthy: () => boolean;
  /** Further pages by path. Each function returns a value that is sent as JSON. */
  readonly pages?: Readonly<Record<string, () => Promise<unknown>>>;
}

/** A running server that reports the health of a process. Disposal stops it. */
export interface HealthServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Starts an HTTP server with the pages /health (status 200 or 503), /metrics, and the given further ones. @throws Error
 * a port in use
 */
export async function startHealthServer({
  port,
  host,
  metrics,
  isHealthy,
  pages = {},
}: HealthSettings): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?", 1)[0];
    const end = (status: number, type: string, text: string): void => {
      response.writeHead(status, { "content-type": type }).end(text);
    };
    const json = (status: number, value: unknown): void => end(status, "application/json", JSON.stringify(value));
    const failed = (): void => json(503, { status: "unavailable" });
    if (path === "/health") json(isHealthy() ? 200 : 503, { status: isHealthy() ? "ok" : "unavailable" });
    else if (path === "/metrics") metrics.text().then((text) => end(200, METRICS_TYPE, text), failed);
    else if (Object.hasOwn(pages, path)) pages[path]().then((value) => json(200, value), failed);
    else json(404, { status: "not found", expected: ["/health", "/metrics", ...Object.keys(pages)] });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
