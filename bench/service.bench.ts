import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import autocannon from "autocannon";
import { random } from "../test/service/runs/killed.ts";
import { sendMalformed } from "../test/service/http/malformed.ts";
import type { Benchmark, Context } from "./harness.ts";

const program = join(import.meta.dirname, "../bin/feynkac.js");
const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
};
const later = { ...header, asOf: "2026-11-23T16:00:00Z" };
const tradeOf = (exercise: string) => ({
  id: "T1",
  underlying: "ACME",
  payoff: "put",
  strike: 100,
  expiry: 1,
  exercise,
});
const json = { "content-type": "application/json" };
const CONNECTIONS = 16;
/** Time at full load while memory is looked at, in so many parts. Seconds. */
const SOAK = 180;
const SOAK_PARTS = 6;

interface Server extends AsyncDisposable {
  readonly url: string;
  /** Resident memory, MiB. */
  memory(): number;
  /** Memory in use on the heap after a collection, MiB. */
  used(): Promise<number>;
  /** Processor time so far, of all its threads, ms. */
  spent(): number;
  readonly hasEnded: () => boolean;
}

/** Collects garbage when it is asked to, and says what is in use. */
const meter = `data:text/javascript,${encodeURIComponent(
  `process.on("SIGUSR2", () => {
     gc();
     process.stderr.write(JSON.stringify({ used: process.memoryUsage().heapUsed / 2 ** 20 }) + "\\n");
   });`,
)}`;

/** `feynkac serve` in a process of its own. */
async function serve(): Promise<Server> {
  const options = ["--expose-gc", "--import", meter];
  const child = spawn(process.execPath, [...options, program, "serve", "--port", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [text] = (await once(child.stderr, "data")) as [Buffer];
  const of = (name: string): string => readFileSync(`/proc/${child.pid}/${name}`, "utf8");
  return {
    url: text.toString().split(",")[0],
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(of("status"))?.[1]) / 1024,
    used: async () => {
      const told = once(child.stderr, "data") as Promise<[Buffer]>;
      child.kill("SIGUSR2");
      return (JSON.parse((await told)[0].toString()) as { readonly used: number }).used;
    },
    // Fields 14 and 15 of proc(5), in ticks of 10 ms.
    spent: () => {
      const fields = of("stat").split(" ");
      return 10 * (Number(fields[13]) + Number(fields[14]));
    },
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}

/** The rate that the service has to keep, requests/s. */
const DEMAND = { european: 2000, american: 200 } as const;

/** How many requests it answers as fast as it can, and how long they take when no more come than it has to answer. */
async function measureRate(
  context: Context,
  server: Server,
  exercise: keyof typeof DEMAND,
  market: string,
): Promise<void> {
  const body = JSON.stringify({ market, trades: [tradeOf(exercise)] });
  const request = {
    url: `${server.url}/price`,
    method: "POST",
    headers: json,
    body,
    connections: CONNECTIONS,
  } as const;
  await autocannon({ ...request, duration: context.quick ? 1 : 5 });
  const before = server.spent();
  const most = await answered(request, context.quick ? 1 : 20);
  const each = (server.spent() - before) / most.requests.total;
  const demand = await answered({ ...request, overallRate: DEMAND[exercise] }, context.quick ? 1 : 20);
  const common = { device: context.cpu, precision: "f64" } as const;
  const name = `one ${exercise} trade, all Greeks, kept market, ${CONNECTIONS} connections`;
  context.report({ ...common, case: name, figure: most.requests.average, unit: "requests/s" });
  context.report({ ...common, case: `${name}, 99th percentile`, figure: most.latency.p99, unit: "ms" });
  // It counts whole milliseconds, of which a figure has at least one.
  const asked = `${name}, 99th percentile at ${DEMAND[exercise]} requests/s`;
  context.report({ ...common, case: asked, figure: Math.max(demand.latency.p99, 1), unit: "ms" });
  context.report({ ...common, case: `${name}, processor time of the service`, figure: each, unit: "ms" });
}

/** @throws Error an answer other than 200 */
async function answered(request: autocannon.Options, duration: number): Promise<autocannon.Result> {
  const result = await autocannon({ ...request, duration });
  const { non2xx, errors } = result;
  if (non2xx + errors > 0) throw new Error(`${non2xx} answers were not 200, ${errors} connections failed`);
  return result;
}

/** Memory in the course of time at full load, and what is still in use after a collection: a leak makes both grow. */
async function measureMemory(context: Context, server: Server, market: string): Promise<void> {
  const body = JSON.stringify({ market, trades: [tradeOf("european")] });
  const request = {
    url: `${server.url}/price`,
    method: "POST",
    headers: json,
    body,
    connections: CONNECTIONS,
  } as const;
  const resident: number[] = [];
  const used: number[] = [];
  let answered = 0;
  const seconds = context.quick ? 1 : SOAK / SOAK_PARTS;
  for (let i = 0; i < SOAK_PARTS; i++) {
    answered += (await autocannon({ ...request, duration: seconds })).requests.total;
    resident.push(server.memory());
    used.push(await server.used());
  }
  const told = (list: readonly number[]): string => list.map((one) => one.toFixed(1)).join(", ");
  context.note(`${answered} requests; after each ${seconds} s resident memory of ${told(resident)} MiB`);
  context.note(`heap in use after a collection: ${told(used)} MiB`);
  const common = { device: context.cpu, precision: "f64" } as const;
  const name = `after ${SOAK_PARTS * seconds} s at full load`;
  context.report({ ...common, case: `resident memory ${name}`, figure: resident[SOAK_PARTS - 1], unit: "MiB" });
  context.report({
    ...common,
    case: `heap in use after a collection, ${name}`,
    figure: used[SOAK_PARTS - 1],
    unit: "MiB",
    peers: { [`after ${seconds} s`]: used[0] },
  });
}

/** Each request is answered, or its connection closed, and none has a status of 500 or more. */
async function measureMalformed(context: Context, server: Server): Promise<void> {
  const count = context.quick ? 200 : 20_000;
  const book = { ...header, trades: [tradeOf("european")] };
  const dated = { ...header, trades: [{ ...tradeOf("european"), expiry: "2027-11-22" }] };
  const right = { "/price": book, "/explain": { before: dated, after: later }, "/market": header };
  const target = { url: server.url, right, next: random(1) };
  const statuses = new Map<number | undefined, number>();
  for (let sent = 0; sent < count; sent += CONNECTIONS)
    for (const status of await Promise.all(Array.from({ length: CONNECTIONS }, () => sendMalformed(target))))
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const told = [...statuses].map(([status, n]) => `${n} × ${status ?? "closed"}`);
  context.note(`${count} malformed requests: ${told.join(", ")}`);
  const failed = [...statuses.keys()].filter((status) => status !== undefined && !(status < 500));
  if (server.hasEnded() || failed.length > 0) throw new Error(`the service failed: ${failed.join(", ")}`);
  const name = "malformed requests answered, none with a status of 500 or more";
  context.report({ device: context.cpu, precision: "f64", case: name, figure: count, unit: "requests" });
}

export const benchmark: Benchmark = {
  name: "service",
  description: "feynkac serve under autocannon, which takes a part of the same cores",
  async run(context) {
    await using server = await serve();
    const put = await fetch(`${server.url}/market`, { method: "PUT", headers: json, body: JSON.stringify(header) });
    const { market } = (await put.json()) as { market: string };
    for (const exercise of ["european", "american"] as const) await measureRate(context, server, exercise, market);
    await measureMalformed(context, server);
    await measureMemory(context, server, market);
  },
};
