import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import autocannon from "autocannon";
import type { Benchmark, Context } from "./harness.ts";

const program = join(import.meta.dirname, "../bin/feynkac.js");
const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
};
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

interface Server extends AsyncDisposable {
  readonly url: string;
  /** Resident memory, MB. */
  memory(): number;
  /** Processor time so far, of all its threads, ms. */
  spent(): number;
  readonly hasEnded: () => boolean;
}

/** `feynkac serve` in a process of its own. */
async function serve(): Promise<Server> {
  const child = spawn(process.execPath, [program, "serve", "--port", "0"], { stdio: ["ignore", "ignore", "pipe"] });
  const [text] = (await once(child.stderr, "data")) as [Buffer];
  const of = (name: string): string => readFileSync(`/proc/${child.pid}/${name}`, "utf8");
  return {
    url: text.toString().split(",")[0],
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(of("status"))?.[1]) / 1024,
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

async function measureRate(context: Context, server: Server, exercise: string, market: string): Promise<void> {
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
  const { requests, latency, non2xx, errors } = await autocannon({ ...request, duration: context.quick ? 1 : 20 });
  if (non2xx + errors > 0) throw new Error(`${non2xx} answers were not 200, ${errors} connections failed`);
  const common = { device: context.cpu, precision: "f64" } as const;
  const name = `one ${exercise} trade, all Greeks, kept market, ${CONNECTIONS} connections`;
  context.report({ ...common, case: name, figure: requests.average, unit: "requests/s" });
  context.report({ ...common, case: `${name}, 99th percentile`, figure: latency.p99, unit: "ms" });
  const each = (server.spent() - before) / requests.total;
  context.report({ ...common, case: `${name}, processor time of the service`, figure: each, unit: "ms" });
}

/** Memory after a while at full load, and at the end: what leaks grows with the number of requests. */
async function measureMemory(context: Context, server: Server, market: string): Promise<void> {
  const body = JSON.stringify({ market, trades: [tradeOf("european")] });
  const request = {
    url: `${server.url}/price`,
    method: "POST",
    headers: json,
    body,
    connections: CONNECTIONS,
  } as const;
  const readings: number[] = [];
  let answered = 0;
  for (let i = 0; i < 4; i++) {
    answered += (await autocannon({ ...request, duration: context.quick ? 1 : 30 })).requests.total;
    readings.push(server.memory());
  }
  const megabytes = readings.map((one) => one.toFixed(0)).join(", ");
  context.note(`memory after each quarter of ${answered} requests: ${megabytes} MB`);
  const name = "resident memory after two minutes at full load";
  context.report({ device: context.cpu, precision: "f64", case: name, figure: readings[3], unit: "MB" });
}

/** Requests with a part cut out or a character put in: each is answered, none with a status of 500 or more. */
async function sendMalformed(context: Context, server: Server): Promise<void> {
  const whole = JSON.stringify({ ...header, trades: [tradeOf("european")] });
  const count = context.quick ? 200 : 20_000;
  const statuses = new Map<number, number>();
  let state = 1;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const path = ["/price", "/explain", "/market"];
  const one = async (): Promise<void> => {
    const at = below(whole.length);
    const junk = below(2) === 0 ? String.fromCharCode(below(256)) : "";
    const body = whole.slice(0, at) + junk + whole.slice(at + below(6));
    const to = path[below(path.length)];
    const { status } = await fetch(server.url + to, { method: to === "/market" ? "PUT" : "POST", headers: json, body });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  for (let sent = 0; sent < count; sent += CONNECTIONS) await Promise.all(Array.from({ length: CONNECTIONS }, one));
  context.note(`${count} malformed requests: ${[...statuses].map(([status, n]) => `${n} × ${status}`).join(", ")}`);
  if (server.hasEnded() || [...statuses.keys()].some((status) => status >= 500)) throw new Error("the service failed");
}

export const benchmark: Benchmark = {
  name: "service",
  description: "feynkac serve under autocannon, which takes a part of the same cores",
  async run(context) {
    await using server = await serve();
    const put = await fetch(`${server.url}/market`, { method: "PUT", headers: json, body: JSON.stringify(header) });
    const { market } = (await put.json()) as { market: string };
    for (const exercise of ["european", "american"]) await measureRate(context, server, exercise, market);
    await sendMalformed(context, server);
    await measureMemory(context, server, market);
  },
};
