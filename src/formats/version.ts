import { readFileSync } from "node:fs";

/** The package's version, from its package.json: two folders up, in `src/` and in `dist/` alike. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}

/** The commit from which the package was built, which its build writes down; undefined in the sources. */
export function packageCommit(): string | undefined {
  try {
    const text = readFileSync(new URL("../commit.json", import.meta.url), "utf8");
    return (JSON.parse(text) as { readonly commit: string }).commit;
  } catch {
    return undefined;
  }
}
