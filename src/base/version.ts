import { readFileSync } from "node:fs";

let known: string | undefined;

/** Returns the version in the package's package.json, which lies two folders above this file, in `src` as in `dist`. */
export function packageVersion(): string {
  return (known ??= readVersion());
}

function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** Returns the commit from which the package was built; undefined when it runs from its sources. */
export function packageCommit(): string | undefined {
  try {
    const text = readFileSync(new URL("../commit.json", import.meta.url), "utf8");
    return (JSON.parse(text) as { readonly commit: string }).commit;
  } catch {
    return undefined;
  }
}
