/** One process for each device of a machine: starts them, starts again what ends by itself, and ends them. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Log } from "../serving/index.ts";
import { pause } from "./submit.ts";

/** A process that a supervisor starts, and starts again when it ends. */
export interface Supervised {
  /** The name in logs. */
  readonly name: string;
  /** The arguments of the Node process. */
  readonly args: readonly string[];
}

/** Wait before a process is started again: doubled each time it ends soon. Milliseconds. */
const FIRST_WAIT = 500;
const LONGEST_WAIT = 30_000;
/** A process that has lived for so long is started again at once. Milliseconds. */
const LONG_LIFE = 60_000;

/** Processes get so long to end; see STOP_SECONDS in worker.ts. Milliseconds. */
const PATIENCE = 9500;

/** Starts processes, restarts each one that ends, and ends all of them when the signal is aborted. */
export async function supervise(all: readonly Supervised[], signal: AbortSignal, log: Log): Promise<void> {
  await Promise.all(all.map((one) => keepRunning(one, signal, log)));
}

async function keepRunning({ name, args }: Supervised, signal: AbortSignal, log: Log): Promise<void> {
  let wait = FIRST_WAIT;
  while (!signal.aborted) {
    const began = performance.now();
    const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ["ignore", "inherit", "inherit"] });
    log("info", "started a worker", { worker: name, pid: child.pid });
    const ended = await endOf(child, signal);
    if (signal.aborted) return;
    wait = performance.now() - began > LONG_LIFE ? FIRST_WAIT : Math.min(2 * wait, LONGEST_WAIT);
    log("error", "a worker has ended and is started again", { worker: name, pid: child.pid, ended, in: wait / 1000 });
    await pause(wait, signal);
  }
}

/** The exit status or the signal that ended a process; it is asked to end when the signal comes, and then made to. */
function endOf(child: ChildProcess, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      child.kill("SIGTERM");
      timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
    };
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    const settle = (how: string): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(how);
    };
    child.once("error", (error) => settle(error.message));
    child.once("exit", (code, by) => settle(by ?? `exit ${code}`));
  });
}
