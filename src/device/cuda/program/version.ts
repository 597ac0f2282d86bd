import { nodeModule } from "../../node.ts";

/** From this file in `src/` or `dist/`, and from a bundle of them. */
const PLACES = ["../../../../package.json", "../package.json", "../../package.json", "../../../package.json"];

/** The package's version, part of every key on disk. */
export function packageVersion(): string {
  for (const place of PLACES) {
    try {
      const text = nodeModule("node:fs").readFileSync(new URL(place, import.meta.url), "utf8");
      const { name, version } = JSON.parse(text) as { name: string; version: string };
      if (name === "feynkac") return version;
    } catch {
      // Not there: the next, and without any the code and the compiler's version must do.
    }
  }
  return "unknown";
}
