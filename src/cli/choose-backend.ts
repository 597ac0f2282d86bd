/**
 * The choice of device for `--backend auto`: the CPU or an available NVIDIA GPU, whichever is expected to price the
 * book faster.
 */
import type { BackendName } from "../device/index.ts";
import type { Precision } from "../kernel/index.ts";
import type { Work } from "../pricing/index.ts";

/** The back end that the command line chose for a book, and the reason. */
export interface BackendChoice {
  /** The back end. "auto" opens the GPU, or the best device if there is no GPU. */
  readonly backend: "auto" | "cpu";
  readonly reason: string;
}

/**
 * Chooses between the CPU and a GPU for pricing a book, by the expected work. Returns undefined if there is no choice,
 * or if the work is unknown. No GPU is started for a book that the CPU prices before a GPU has started.
 */
export async function chooseBackend(
  { backend, precision, threads }: EngineOptions,
  workOf: () => Promise<Work | undefined>,
): Promise<BackendChoice | undefined> {
  if (backend !== "auto" || precision === "f32x2") return undefined;
  const { cudaMayBeHere, devices } = await import("../device/index.ts");
  if (!cudaMayBeHere()) return undefined;
  const work = await workOf();
  if (work === undefined) return undefined;
  const { cpuSeconds, gpuSeconds, WORTH_A_GPU } = await import("../pricing/index.ts");
  const { availableParallelism } = await import("node:os");
  const hostThreads = threads ?? availableParallelism();
  const onCpu = cpuSeconds(work, hostThreads);
  const cpu = `${said(onCpu)} expected on the CPU`;
  if (onCpu < WORTH_A_GPU) return { backend: "cpu", reason: `${cpu}, less than a GPU takes to start` };
  const [gpu] = await devices("cuda").catch(() => []);
  if (gpu === undefined) return undefined;
  const onGpu = gpuSeconds(work, hostThreads, gpu);
  return { backend: onGpu < onCpu ? "auto" : "cpu", reason: `${cpu}, ${said(onGpu)} on ${gpu.name}` };
}

const said = (seconds: number): string => `${seconds.toPrecision(2)} s`;

/** The command-line options that select a device. */
export interface EngineOptions {
  readonly backend: "auto" | BackendName;
  /** The index of the GPU, or of several, for the back end "cuda". */
  readonly device: number | readonly number[] | undefined;
  /** The number of CPU threads. */
  readonly threads: number | undefined;
  readonly precision: Precision;
}
