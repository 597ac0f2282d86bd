/** Metrics by the text format of Prometheus, line by line, and the pages of a worker's health. */
import { expect, test } from "vitest";
import { Metrics, startHealthServer } from "../../../src/service/monitoring/index.ts";

test("metrics: counters by labels, gauges as they are now, histograms that count up to each bound", async () => {
  const metrics = new Metrics();
  const chunks = metrics.counter("chunks_total", "Chunks.");
  metrics.counter("nothing_total", "Nothing.");
  let length = 3;
  metrics.gauge("queue", "Jobs.", () => length);
  metrics.gauge("broken", "What cannot be read.", () => Promise.reject(new Error("Redis is away")));
  const seconds = metrics.histogram("seconds", "Time.", [0.1, 1]);
  chunks.add(2, { outcome: "priced" });
  chunks.add(1, { outcome: "priced" });
  chunks.add(1, { outcome: 'a "b" \\ \n' });
  for (const value of [0.05, 0.1, 0.5, 4]) seconds.observe(value);
  length = 5;
  expect(await metrics.text()).toBe(
    [
      "# HELP chunks_total Chunks.",
      "# TYPE chunks_total counter",
      'chunks_total{outcome="priced"} 3',
      String.raw`chunks_total{outcome="a \"b\" \\ \n"} 1`,
      "# HELP nothing_total Nothing.",
      "# TYPE nothing_total counter",
      "nothing_total 0",
      "# HELP queue Jobs.",
      "# TYPE queue gauge",
      "queue 5",
      "# HELP seconds Time.",
      "# TYPE seconds histogram",
      'seconds_bucket{le="0.1"} 2',
      'seconds_bucket{le="1"} 3',
      'seconds_bucket{le="+Inf"} 4',
      "seconds_sum 4.65",
      "seconds_count 4",
      "",
    ].join("\n"),
  );
});

test("health: its status by the state, whatever the query is, and the pages that there are", async () => {
  let isHealthy = true;
  const pages = { "/runs": () => Promise.resolve([1]), "/away": () => Promise.reject(new Error("no")) };
  const request = { port: 0, host: "127.0.0.1", metrics: new Metrics(), isHealthy: () => isHealthy, pages };
  await using server = await startHealthServer(request);
  const get = async (path: string): Promise<readonly [number, unknown]> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return [response.status, JSON.parse((await response.text()) || "null")];
  };
  expect(await get("/health")).toEqual([200, { status: "ok" }]);
  expect(await get("/health?probe=live")).toEqual([200, { status: "ok" }]);
  expect(await get("/runs")).toEqual([200, [1]]);
  expect(await get("/metrics?all")).toEqual([200, null]);
  expect(await get("/away")).toEqual([503, { status: "unavailable" }]);
  const expected = ["/health", "/metrics", "/runs", "/away"];
  expect(await get("/none")).toEqual([404, { status: "not found", expected }]);
  isHealthy = false;
  expect(await get("/health")).toEqual([503, { status: "unavailable" }]);
});

test("health: it stops at once, whoever still waits for an answer", async () => {
  let tell = (): void => {};
  const asked = new Promise<void>((resolve) => (tell = resolve));
  const pages = {
    "/never": () => {
      tell();
      return new Promise<never>(() => {});
    },
  };
  const server = await startHealthServer({
    port: 0,
    host: "127.0.0.1",
    metrics: new Metrics(),
    isHealthy: () => true,
    pages,
  });
  const answer = fetch(`http://127.0.0.1:${server.port}/never`).then(
    () => "answered",
    () => "refused",
  );
  await asked;
  await server[Symbol.asyncDispose]();
  expect(await answer).toBe("refused");
}, 10_000);
