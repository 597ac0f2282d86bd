/** A Redis server of a test's own, on a free loopback port. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRequired } from "../../support/required.ts";

/** Why tests with a queue are skipped; undefined where they run. */
export const noRedis: string | undefined =
  spawnSync("redis-server", ["--version"]).status === 0 ? undefined : "redis-server is not installed";

/** Tests with a queue are skipped without a server, unless it is required. */
export const skipped = noRedis !== undefined && !isRequired("redis-server");
if (skipped) console.warn(`skipped: ${noRedis}`);

export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Ends it, and starts it again after so many milliseconds, with what it had. */
  restart(pause: number, signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** It answers nobody for so many milliseconds, and keeps its connections. */
  pause(milliseconds: number): Promise<void>;
}

/** How soon what is said is on the disk: before it is answered, or within a second, as servers do by default. */
export type Fsync = "always" | "everysec";

export async function startRedis(fsync: Fsync = "always"): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-redis-"));
  const port = await freePort();
  let server = await start(port, folder, fsync);
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    restart: async (pause, signal) => {
      await end(server, signal);
      await new Promise((resolve) => setTimeout(resolve, pause));
      server = await start(port, folder, fsync);
    },
    pause: async (milliseconds) => {
      server.kill("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      server.kill("SIGCONT");
    },
    [Symbol.asyncDispose]: async () => {
      await end(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function start(port: number, folder: string, fsync: Fsync): Promise<ChildProcess> {
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const server = spawn("redis-server", [...options, "--appendonly", "yes", "--appendfsync", fsync]);
  await new Promise<void>((resolve, reject) => {
    let output = "";
    server.stdout.on("data", (part: Buffer) => {
      output += part.toString();
      if (output.includes("Ready to accept connections")) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`redis-server: exit ${code}: ${output}`)));
  });
  return server;
}

async function end(server: ChildProcess, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill(signal);
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
