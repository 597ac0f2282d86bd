/** Generated CUDA C++ through nvcc: which kernels, how many at a time, and what the assembler says of them. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { emitCuda } from "../../src/kernel/emit/cuda/index.ts";
import { everything } from "../support/extent.ts";
import type { KernelIR } from "../../src/kernel/ir.ts";

export const nvccMissing = spawnSync("nvcc", ["--version"]).status === 0 ? undefined : "nvcc is not on the PATH";

/** Turing, Hopper, Blackwell: the oldest, the newest, and one between them, which is what `npm test` compiles for. */
export const ARCHITECTURES: readonly number[] = everything ? [75, 90, 100] : [90];

/** Kernels as one translation unit: a namespace each, as their helpers have the same names. */
export function translationUnit(kernels: readonly KernelIR[]): string {
  return kernels
    .map((ir, index) => `namespace n${index} {\n${emitCuda({ ...ir, name: `${ir.name} ${index}` }).code}}\n`)
    .join("\n");
}

/** What ptxas says of one kernel on one architecture. */
export interface Resources {
  readonly kernel: string;
  readonly architecture: number;
  readonly registers: number;
  /** Bytes of local memory: private arrays that are not in registers, and spilled registers. */
  readonly stack: number;
  readonly spilled: number;
}

/** Compiles to machine code for every architecture; throws what nvcc says if it cannot. */
export async function compile(code: string, architectures: readonly number[] = ARCHITECTURES): Promise<Resources[]> {
  const folder = await mkdtemp(join(tmpdir(), "feynkac-nvcc-"));
  try {
    await writeFile(join(folder, "kernels.cu"), code);
    const targets = architectures.flatMap((sm) => ["-gencode", `arch=compute_${sm},code=sm_${sm}`]);
    const { compilerOptions } = emitCuda(empty);
    const options = [...compilerOptions, ...targets, "-Xptxas", "-v", "-fatbin", "-o", "kernels.fatbin", "kernels.cu"];
    const { stderr } = await promisify(execFile)("nvcc", options, { cwd: folder, maxBuffer: 2 ** 28 });
    return resourcesIn(stderr);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const empty: KernelIR = {
  name: "empty",
  precision: "f64",
  scalars: [],
  buffers: [],
  privates: [],
  workgroups: [],
  locals: [],
  groupSize: 64,
  cooperative: false,
  body: [],
  sources: [],
};

const report =
  /Compiling entry function '(\w+)' for 'sm_(\d+)'[^]*?(\d+) bytes stack frame, (\d+) bytes spill stores[^]*?Used (\d+) registers/g;

function resourcesIn(log: string): Resources[] {
  return [...log.matchAll(report)].map(([, kernel, architecture, stack, spilled, registers]) => ({
    kernel,
    architecture: Number(architecture),
    registers: Number(registers),
    stack: Number(stack),
    spilled: Number(spilled),
  }));
}
