/** Processes of the command line that run beside a benchmark: workers of a queue. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const program = join(import.meta.dirname, "../../bin/feynkac.js");

export interface WorkerProcess extends AsyncDisposable {
  /** The largest resident memory so far, MiB. */
  peakMiB(): number;
}

/** A worker of one CPU thread that takes jobs of the queue. */
export async function startWorker(queue: string): Promise<WorkerProcess> {
  const args = [program, "worker", "--backend", "cpu", "--threads", "1"];
  const env = { ...process.env, FEYNKAC_QUEUE: queue };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
  await readyOf(child);
  return {
    peakMiB: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}

/** Waits until a worker says that it takes jobs. @throws Error a worker that has ended before */
function readyOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error("the worker's output is not read");
    createInterface(child.stdout).on("line", (line) => {
      if (line.includes('"takes jobs"')) resolve();
    });
    child.once("exit", (code) => reject(new Error(`a worker has ended: exit ${code}`)));
  });
}
