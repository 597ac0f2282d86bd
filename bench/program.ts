/** The command line as a process of its own, timed and metered. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { devices } from "../src/device/index.ts";

export interface Run {
  readonly seconds: number;
  /** Seconds of all cores together. */
  readonly cpuSeconds: number;
  readonly peakMiB: number;
}

/** Says on its last line of stderr what the process took, as the process itself sees it. */
const meter = `data:text/javascript,${encodeURIComponent(
  `process.on("exit", () => {
     const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
     process.stderr.write("\\n" + JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, maxRSS }) + "\\n");
   });`,
)}`;

/**
 * Runs `bin/feynkac.js`, at `program`, in a process of its own.
 * @param expected exit codes.
 * @throws Error for another one
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  expected: readonly number[] = [0],
): Promise<Run> {
  const start = performance.now();
  const child = spawn(process.execPath, ["--import", meter, program, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  const seconds = (performance.now() - start) / 1e3;
  if (status === null || !expected.includes(status))
    throw new Error(`feynkac ${args.join(" ")}: status ${status}: ${stderr}`);
  const { cpu, maxRSS } = JSON.parse(stderr.trim().split("\n").at(-1) as string) as { cpu: number; maxRSS: number };
  return { seconds, cpuSeconds: cpu, peakMiB: maxRSS / 1024 };
}

/** Where a book is priced: the options that say so, and the name of the device. */
export interface Place {
  readonly args: readonly string[];
  readonly device: string;
}

/** The processor, and the CUDA GPUs: one, and all together. */
export async function placesHere(cpu: string): Promise<Place[]> {
  const gpus = await devices("cuda").catch(() => []);
  const onGpus = gpus.map(({ name }, i) => ({
    args: ["--devices", Array.from({ length: i + 1 }, (_, k) => `cuda:${gpus[k].index}`).join()],
    // The host prepares their work: how many cores it has decides as much.
    device: `${i === 0 ? "" : `${i + 1} × `}${name} (CUDA), ${availableParallelism()} cores`,
  }));
  return [{ args: ["--backend", "cpu"], device: cpu }, ...onGpus];
}
