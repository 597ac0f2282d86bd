/** CUDA C++ to an image that the driver loads, by NVRTC, on a thread of the pool. */
import { KernelError } from "../../../base/errors.ts";
import type { CudaSource } from "../../../kernel/emit/cuda/index.ts";
import { addressOf, type Koffi } from "../ffi/koffi.ts";
import { NVRTC_ERROR_COMPILATION, NVRTC_SUCCESS, nvrtcResultName } from "../ffi/nvrtc.ts";
import type { Nvrtc } from "../nvrtc.ts";
import type { CompileTarget } from "./target.ts";

/** A compiler's messages with the lines they are about. */

const MESSAGE = /^.*?\((\d+)\): ((?:catastrophic )?error\b.*)$/;

/**
 * Returns the log of a compilation in which each error is followed by the generated line and by the comment above it,
 * which names the line of the kernel's source. Messages without a line stay unchanged.
 */
export function quoteLog(code: string, log: string): string {
  const lines = code.split("\n");
  const quoted = log.split("\n").flatMap((line) => {
    const match = MESSAGE.exec(line);
    if (match === null) return [];
    const number = Number(match[1]);
    const origin = lines.slice(0, number).findLast((text) => text.trimStart().startsWith("// "));
    return [[`CUDA ${number}: ${match[2]}`, origin?.trim(), lines[number - 1]].filter(Boolean).join("\n  ")];
  });
  return quoted.join("\n") || log.trim();
}

/**
 * Compiles the CUDA source of a kernel by NVRTC. @throws KernelError with NVRTC's messages and the generated lines that
 * they refer to
 */
export async function compileImage(
  nvrtc: Nvrtc,
  source: CudaSource,
  target: CompileTarget,
): Promise<Uint8Array<ArrayBuffer>> {
  const { calls, koffi } = nvrtc;
  const { code, signature } = source;
  const words = new BigUint64Array(1);
  const at = addressOf(koffi, words.buffer);
  nvrtc.check("nvrtcCreateProgram", calls.nvrtcCreateProgram(at, code, `${signature.name}.cu`, 0, 0, 0));
  const program = Number(words[0]);
  try {
    const options = [`--gpu-architecture=${target.architecture}`, ...source.compilerOptions];
    const status = await compile(nvrtc, program, options);
    if (status === NVRTC_SUCCESS) return image(nvrtc, program, target);
    throw rejected(source, status, logOf(nvrtc, program), options);
  } finally {
    words[0] = BigInt(program);
    calls.nvrtcDestroyProgram(at);
  }
}

function compile({ calls, koffi }: Nvrtc, program: number, options: readonly string[]): Promise<number> {
  const list = stringList(koffi, options);
  return new Promise((resolve, reject) => {
    calls.nvrtcCompileProgram.async(program, options.length, list.address, (error, status) => {
      // Held until here, since the address alone would not keep it.
      if (error === null && list.memory.byteLength > 0) resolve(status);
      else reject(error ?? new Error("no status"));
    });
  });
}

/** `const char **`: pointers, then the strings they point to. */
function stringList(koffi: Koffi, strings: readonly string[]): { address: number; memory: ArrayBuffer } {
  const texts = strings.map((text) => new TextEncoder().encode(`${text}\0`));
  const head = 8 * (strings.length + 1);
  const memory = new ArrayBuffer(texts.reduce((sum, { length }) => sum + length, head));
  const address = addressOf(koffi, memory);
  const pointers = new BigUint64Array(memory, 0, strings.length);
  let offset = head;
  for (const [i, text] of texts.entries()) {
    new Uint8Array(memory).set(text, offset);
    pointers[i] = BigInt(address + offset);
    offset += text.length;
  }
  return { address, memory };
}

function image(nvrtc: Nvrtc, program: number, { kind }: CompileTarget): Uint8Array<ArrayBuffer> {
  const { calls } = nvrtc;
  return kind === "cubin"
    ? fetch(
        nvrtc,
        "CUBIN",
        (to) => calls.nvrtcGetCUBINSize(program, to),
        (to) => calls.nvrtcGetCUBIN(program, to),
      )
    : fetch(
        nvrtc,
        "PTX",
        (to) => calls.nvrtcGetPTXSize(program, to),
        (to) => calls.nvrtcGetPTX(program, to),
      );
}

function logOf(nvrtc: Nvrtc, program: number): string {
  const { calls } = nvrtc;
  const text = fetch(
    nvrtc,
    "log",
    (to) => calls.nvrtcGetProgramLogSize(program, to),
    (to) => calls.nvrtcGetProgramLog(program, to),
  );
  return new TextDecoder().decode(text).replace(/\0+$/, "");
}

function fetch(
  nvrtc: Nvrtc,
  what: string,
  size: (to: number) => number,
  get: (to: Uint8Array) => number,
): Uint8Array<ArrayBuffer> {
  const bytes = new BigUint64Array(1);
  nvrtc.check(what, size(addressOf(nvrtc.koffi, bytes.buffer)));
  const result = new Uint8Array(Number(bytes[0]));
  nvrtc.check(what, get(result));
  return result;
}

function rejected(
  { signature, code }: CudaSource,
  status: number,
  log: string,
  options: readonly string[],
): KernelError {
  const what =
    status === NVRTC_ERROR_COMPILATION
      ? "the CUDA compiler rejects the generated code"
      : `the CUDA compiler fails with ${nvrtcResultName(status)} (${options.join(" ")})`;
  return new KernelError(`${signature.name}: ${what}\n${quoteLog(code, log)}`);
}
