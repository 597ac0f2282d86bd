/** Runs one worker process per device of a machine, and restarts processes that end unexpectedly. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Log } from "../monitoring/index.ts";
import { sleep } from "./submit.ts";

/** A process that a supervisor starts, and restarts when it ends. */
export interface SupervisedProcess {
  /** The name in logs. */
  readonly name: string;
  /** The arguments of the Node process. */
  readonly args: readonly string[];
}

/**
 * The delay before a process is restarted, in milliseconds. It doubles each time that the process ends after a short
 * time.
 */
const FIRST_WAIT = 500;
const LONGEST_WAIT = 30_000;
/** A process that has run for longer than this is restarted after the initial delay again. In milliseconds. */
const LONG_LIFE = 60_000;

/**
 * The time in milliseconds that processes have to end before they are killed. It exceeds that of STOP_SECONDS in
 * worker.ts.
 */
const PATIENCE = 9500;

/** Starts processes, restarts each one that ends, and ends all of them when the signal is aborted. */
export async function supervise(all: readonly SupervisedProcess[], signal: AbortSignal, log: Log): Promise<void> {
  await Promise.all(all.map((one) => keepRunning(one, signal, log)));
}

async function keepRunning({ name, args }: SupervisedProcess, signal: AbortSignal, log: Log): Promise<void> {
  let wait = FIRST_WAIT;
  while (!signal.aborted) {
    const began = performance.now();
    const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ["ignore", "inherit", "inherit"] });
    log("info", "started a worker", { worker: name, pid: child.pid });
    const ended = await endOf(child, signal);
    if (signal.aborted) return;
    wait = performance.now() - began > LONG_LIFE ? FIRST_WAIT : Math.min(2 * wait, LONGEST_WAIT);
    log("error", "a worker has ended and is started again", { worker: name, pid: child.pid, ended, in: wait / 1000 });
    await sleep(wait, signal);
  }
}

/**
 * Waits until a process ends, and returns its exit status, the signal that ended it, or an error message. When `signal`
 * is aborted, the process gets SIGTERM and later SIGKILL.
 */
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
