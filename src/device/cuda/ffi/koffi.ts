/**
 * The foreign function interface: the optional package `koffi`, loaded on demand, and the little of it that is used.
 */
import { DeviceUnavailableError } from "../../../errors.ts";
import { nodeModule } from "../node.ts";

export interface ForeignFunction {
  (...args: readonly unknown[]): number;
  /** The same call on a thread of the pool; the last argument is the callback. */
  async(...args: readonly unknown[]): void;
}

export interface ForeignLibrary {
  func(name: string, result: string, args: readonly string[]): ForeignFunction;
}

export interface Koffi {
  readonly version: string;
  load(path: string): ForeignLibrary;
  address(memory: ArrayBuffer): bigint;
  decode(memory: BigUint64Array, type: "void *"): unknown;
  view(pointer: unknown, bytes: number): ArrayBuffer;
}

const KOFFI_REMEDY = "npm install koffi";

/** @throws DeviceUnavailableError, in a browser too */
export async function loadKoffi(): Promise<Koffi> {
  nodeModule("node:fs"); // in a browser it would be koffi that is missed
  try {
    // Not a literal, so that bundlers for browsers do not look for a package that only Node needs.
    const name = "koffi";
    const { default: koffi } = (await import(/* @vite-ignore */ name)) as { default: Koffi };
    return koffi;
  } catch (cause) {
    const missing = (cause as { code?: string }).code === "ERR_MODULE_NOT_FOUND";
    const what = missing
      ? `needs the optional package \`koffi\`: ${KOFFI_REMEDY}`
      : `cannot load the package koffi: ${String(cause)}`;
    throw new DeviceUnavailableError(`CUDA ${what}`, { cause });
  }
}

/** Where memory lies. An ArrayBuffer's contents never move, so the number holds as long as the buffer is kept. */
export const addressOf = (koffi: Koffi, memory: ArrayBuffer): number => Number(koffi.address(memory));

/** JavaScript's view of `bytes` bytes at an address that something else owns. */
export function memoryAt(koffi: Koffi, address: number, bytes: number): ArrayBuffer {
  const cell = BigUint64Array.of(BigInt(address));
  return koffi.view(koffi.decode(cell, "void *"), bytes);
}
