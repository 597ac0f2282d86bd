/**
 * The choice of "auto" for pricing a book: the CPU, or an NVIDIA GPU that is here, whichever is expected to be faster.
 */
import type { BackendName } from "../device/index.ts";
import type { Precision } from "../kernel/index.ts";
import type { Work } from "../pricing/index.ts";

/** The chosen back end and the reason. */
export interface Choice {
  /** The back end; "auto" opens the GPU, or the best device without one. */
  readonly backend: "auto" | "cpu";
  readonly reason: string;
}

/**
 * Chooses a back end for the expected work; undefined where there is no choice, or the work is unknown. A GPU is not
 * started for a book that the CPU prices before a GPU has started.
 */
export async function chooseBackend(
  { backend, precision, threads }: EngineOptions,
  workOf: () => Promise<Work | undefined>,
): Promise<Choice | undefined> {
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

/** The options of a command that select a device. */
export interface EngineOptions {
  readonly backend: "auto" | BackendName;
  /** The GPU, or several, for the backend "cuda". */
  readonly device: number | readonly number[] | undefined;
  readonly threads: number | undefined;
  readonly precision: Precision;
}
