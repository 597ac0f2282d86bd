/**
 * NVRTC loads a second library when it first compiles, by its bare name. Where it lies beside NVRTC in a place that the
 * loader does not search (pip's packages, mostly), the loader finds it only if it is loaded already.
 */
import type { ForeignLibrary, Koffi } from "../ffi/koffi.ts";

const directoryOf = (path: string): string | undefined => /^(.*[\\/])[^\\/]*$/.exec(path)?.[1];

/** Loads the builtins of NVRTC at `path`, to be kept as long as NVRTC is used. */
export function loadBuiltins(
  koffi: Koffi,
  path: string,
  { major, minor }: { readonly major: number; readonly minor: number },
): ForeignLibrary | undefined {
  const directory = directoryOf(path);
  if (directory === undefined) return undefined; // found by the loader, as its companion will be
  const file = /\.dll$/i.test(path)
    ? `nvrtc-builtins64_${major}${minor}.dll`
    : `libnvrtc-builtins.so.${major}.${minor}`;
  try {
    return koffi.load(directory + file);
  } catch {
    return undefined; // elsewhere: NVRTC says so itself if it does not find it
  }
}
