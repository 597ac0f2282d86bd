/**
 * Programs on disk, by what their kernels say: a known program needs neither the front end nor the emitter, which take
 * most of the time from the start of a process to its first result.
 */
import type { ArgumentLayout } from "../../kernel/emit/wasm/index.ts";
import type { KernelSignature } from "../../kernel/index.ts";
import { KernelCache } from "../cache/kernel-cache.ts";
import { buildId } from "../cache/build.ts";
import { inNode } from "../node.ts";

/** A program before V8 has it. */
export interface ProgramImage {
  readonly signature: KernelSignature;
  readonly layout: ArgumentLayout;
  readonly chunk: number;
  readonly scratchBytes: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export class StoredPrograms {
  readonly #build: string;
  readonly #cache: KernelCache;

  /** `build`: the compiler's own code, so that one that has changed finds nothing. */
  constructor(build: string, cache = new KernelCache()) {
    this.#build = build;
    this.#cache = cache;
  }

  /** `kernel`: all that the program is made of. Undefined if there is none, or none that can be read. */
  find(kernel: string): ProgramImage | undefined {
    const entry = this.#cache.find(this.#keyOf(kernel));
    return entry === undefined ? undefined : decode(entry);
  }

  /** Whatever goes wrong with the disk is no failure. */
  store(kernel: string, image: ProgramImage): void {
    this.#cache.store(this.#keyOf(kernel), encode(image));
  }

  #keyOf(kernel: string): string {
    return `feynkac ${this.#build} WebAssembly\n${kernel}`;
  }
}

/** Undefined where there is no disk, and where the compiler's code may change under its programs. */
export function storedPrograms(): StoredPrograms | undefined {
  const build = buildId();
  return build === undefined || !inNode() ? undefined : new StoredPrograms(build);
}

/** The length of the description, the description as JSON, the module. */
function encode({ bytes, ...description }: ProgramImage): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(description));
  const entry = new Uint8Array(4 + text.length + bytes.length);
  new DataView(entry.buffer).setUint32(0, text.length, true);
  entry.set(text, 4);
  entry.set(bytes, 4 + text.length);
  return entry;
}

function decode(entry: Uint8Array<ArrayBuffer>): ProgramImage {
  const end = 4 + new DataView(entry.buffer, entry.byteOffset).getUint32(0, true);
  const description = JSON.parse(new TextDecoder().decode(entry.subarray(4, end))) as Omit<ProgramImage, "bytes">;
  return { ...description, bytes: entry.subarray(end) };
}
