/**
 * The package's entries by the names that users import them under, as their sources: for bundlers and for the test
 * runner.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const { exports } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
};

export const sources: readonly { readonly find: RegExp; readonly replacement: string }[] = Object.entries(
  exports,
).flatMap(([name, target]) => {
  if (typeof target === "string") return [];
  const source = target.default.replace(/^\.\/dist/, "../../src").replace(/js$/, "ts");
  const replacement = fileURLToPath(new URL(source, import.meta.url));
  return [{ find: new RegExp(`^feynkac${name.slice(1)}$`), replacement }];
});
