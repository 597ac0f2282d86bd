/** Loads the first library of a list that can be loaded. */
import type { ForeignLibrary, Koffi } from "../ffi/koffi.ts";

/** A library opened from one of several paths. */
export interface OpenedLibrary {
  readonly library: ForeignLibrary;
  readonly path: string;
}

/** A library file that exists but could not be loaded, with the reason. */
export interface LoadFailure {
  readonly path: string;
  readonly reason: string;
}

/** The result of a search for a library: the opened one, and the files that could not be loaded. */
export interface LibrarySearch {
  readonly opened: OpenedLibrary | undefined;
  readonly refusals: readonly LoadFailure[];
}

/**
 * Opens the first library that loads and that `accept` accepts. `accept` returns the reason for rejecting it, if any.
 */
export function openFirst(
  koffi: Koffi,
  paths: readonly string[],
  accept: (opened: OpenedLibrary) => string | undefined = () => undefined,
): LibrarySearch {
  const refusals: LoadFailure[] = [];
  for (const path of paths) {
    try {
      const opened = { library: koffi.load(path), path };
      const reason = accept(opened);
      if (reason === undefined) return { opened, refusals };
      refusals.push({ path, reason });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // A bare name that the loader does not know is no news; a file that exists and cannot be loaded is.
      if (/[\\/]/.test(path) || !/no such file|not be found/i.test(reason)) refusals.push({ path, reason });
    }
  }
  return { opened: undefined, refusals };
}

/** Returns a text with a line for each file that could not be loaded: its path and the reason. */
export const loadFailuresText = (refusals: readonly LoadFailure[]): string =>
  refusals.map(({ path, reason }) => `\n  ${path}: ${reason}`).join("");
