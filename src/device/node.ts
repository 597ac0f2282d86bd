/** Modules of Node without imports, which bundlers for browsers could not resolve. */
import type * as Crypto from "node:crypto";
import type * as Fs from "node:fs";
import type * as Os from "node:os";
import type * as Path from "node:path";
import { DeviceUnavailableError } from "../base/errors.ts";

interface NodeModules {
  readonly "node:crypto": typeof Crypto;
  readonly "node:fs": typeof Fs;
  readonly "node:os": typeof Os;
  readonly "node:path": typeof Path;
}

function find(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.(name);
}

/** Tells whether the code runs in Node. */
export const inNode = (): boolean => find("node:fs") !== undefined;

/** Returns a module of Node. @throws DeviceUnavailableError in a browser */
export function nodeModule<N extends keyof NodeModules>(name: N): NodeModules[N] {
  const found = find(name);
  if (found === undefined) {
    throw new DeviceUnavailableError("CUDA needs Node (20.16 or later); a browser reaches its GPU through WebGPU");
  }
  return found as NodeModules[N];
}
