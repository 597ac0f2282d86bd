/**
 * The foreign function interface: the optional package `koffi`, loaded on demand, and the little of it that is used.
 */
import { DeviceUnavailableError } from "../../../base/errors.ts";
import { nodeModule } from "../../node.ts";

/** A function of a foreign library, called through koffi. */
export interface ForeignFunction {
  (...args: readonly unknown[]): number;
  /** Makes the same call on a thread of the pool; the last argument is the callback. */
  async(...args: readonly unknown[]): void;
}

/** A shared library loaded by koffi. */
export interface ForeignLibrary {
  func(name: string, result: string, args: readonly string[]): ForeignFunction;
}

/** The functions of the package koffi that are used. */
export interface Koffi {
  readonly version: string;
  load(path: string): ForeignLibrary;
  address(memory: ArrayBuffer): bigint;
  decode(memory: BigUint64Array, type: "void *"): unknown;
  view(pointer: unknown, bytes: number): ArrayBuffer;
  config(settings?: { readonly async_stack_size: number }): { readonly async_stack_size: number };
}

const KOFFI_REMEDY = "npm install koffi";
/**
 * Stack of a call on a thread of the pool, as a program's threads have it. NVRTC recurses: with koffi's 128 KiB the
 * process ended with SIGSEGV when it compiled a sparse grid's kernel with mixed derivatives.
 */
const STACK_BYTES = 2 ** 23;

/**
 * Loads koffi, and sets the size of the stack that its calls need. @throws DeviceUnavailableError, also in a browser
 */
export async function loadKoffi(): Promise<Koffi> {
  nodeModule("node:fs"); // in a browser it would be koffi that is missed
  let koffi: Koffi;
  try {
    // Not a literal, so that bundlers for browsers do not look for a package that only Node needs.
    const name = "koffi";
    koffi = ((await import(/* @vite-ignore */ name)) as { default: Koffi }).default;
  } catch (cause) {
    const missing = (cause as { code?: string }).code === "ERR_MODULE_NOT_FOUND";
    const what = missing
      ? `needs the optional package \`koffi\`: ${KOFFI_REMEDY}`
      : `cannot load the package koffi: ${String(cause)}`;
    throw new DeviceUnavailableError(`CUDA ${what}`, { cause });
  }
  try {
    if (koffi.config().async_stack_size < STACK_BYTES) koffi.config({ async_stack_size: STACK_BYTES });
  } catch (cause) {
    throw new DeviceUnavailableError(
      `CUDA needs a stack of ${STACK_BYTES} bytes for its compiler, and koffi takes no settings after a library has ` +
        `been loaded: open the device first, or call koffi.config({ async_stack_size: ${STACK_BYTES} }) before`,
      { cause },
    );
  }
  return koffi;
}

/**
 * Returns the address of host memory. It is valid as long as the ArrayBuffer is kept, because its contents never move.
 */
export const addressOf = (koffi: Koffi, memory: ArrayBuffer): number => Number(koffi.address(memory));

/** Returns an ArrayBuffer over `bytes` bytes of foreign memory at an address. The memory has another owner. */
export function memoryAt(koffi: Koffi, address: number, bytes: number): ArrayBuffer {
  const cell = BigUint64Array.of(BigInt(address));
  return koffi.view(koffi.decode(cell, "void *"), bytes);
}
