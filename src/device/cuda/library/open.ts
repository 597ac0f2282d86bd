/** Loads the first library of a list that can be loaded. */
import type { ForeignLibrary, Koffi } from "../ffi/koffi.ts";

/** A library opened from one of several paths. */
export interface OpenedLibrary {
  readonly library: ForeignLibrary;
  readonly path: string;
}

/** The reason why an existing file could not be loaded. */
export interface Refusal {
  readonly path: string;
  readonly reason: string;
}

/** The result of trying paths: the opened library, or the reasons of refusal. */
export interface Search {
  readonly opened: OpenedLibrary | undefined;
  readonly refusals: readonly Refusal[];
}

/** Opens the first library that loads and that `accept` does not reject with a reason. */
export function openFirst(
  koffi: Koffi,
  paths: readonly string[],
  accept: (opened: OpenedLibrary) => string | undefined = () => undefined,
): Search {
  const refusals: Refusal[] = [];
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

/** Lists refused files and the reasons. */
export const listRefusals = (refusals: readonly Refusal[]): string =>
  refusals.map(({ path, reason }) => `\n  ${path}: ${reason}`).join("");
