/**
 * The CUDA section of `feynkac doctor`: the four libraries and tools that CUDA needs, a description of each GPU, and
 * whether a GPU can be opened.
 */
import type { BackendName } from "../../device/index.ts";
import type { CudaPart } from "../../device/index.ts";

/** A function that checks the components that CUDA needs. */
export type DiagnoseCuda = () => Promise<readonly CudaPart[]>;

const NAMES = { koffi: "CUDA: koffi", driver: "CUDA: driver", nvrtc: "CUDA: NVRTC", gpu: "CUDA: GPU" } as const;

/**
 * Returns the lines about CUDA in the report of `feynkac doctor`. None of them is "broken", because books are priced on
 * the CPU if CUDA is missing.
 */
export async function cudaFindings(probe: Probe, diagnose: DiagnoseCuda): Promise<Finding[]> {
  const parts = await diagnose();
  const findings = parts.map(findingOf);
  return [...findings, await backEnd(probe, parts)];
}

function findingOf({ part, found, detail, remedy }: CudaPart): Finding {
  return { what: NAMES[part], state: found ? "ok" : "missing", detail, ...(remedy === undefined ? {} : { remedy }) };
}

async function backEnd(probe: Probe, parts: readonly CudaPart[]): Promise<Finding> {
  const what = "CUDA back end";
  const has = (wanted: CudaPart["part"]): boolean => parts.some(({ part, found }) => found && part === wanted);
  if (!has("koffi") || !has("driver") || !has("nvrtc") || !has("gpu"))
    return { what, state: "missing", detail: "to price on NVIDIA GPUs in f64, get what is missing above" };
  try {
    return { what, state: "ok", detail: `${await probe("cuda")}; f64, f32` };
  } catch (error) {
    const remedy = error instanceof Error ? error.message : String(error);
    return { what, state: "missing", detail: "everything is here, but no device opens", remedy };
  }
}

/** Checks the components that CUDA needs, by `diagnoseCuda` of src/device. */
export async function diagnoseCudaParts(): Promise<readonly CudaPart[]> {
  const { diagnoseCuda } = await import("../../device/index.ts");
  return diagnoseCuda();
}

/** One line of the report of `feynkac doctor`. `remedy` says how to get a missing component. */
export interface Finding {
  readonly what: string;
  readonly state: "ok" | "missing" | "broken";
  readonly detail: string;
  readonly remedy?: string;
}

/** A function that opens a device briefly and returns its name. */
export type Probe = (backend: BackendName) => Promise<string>;
