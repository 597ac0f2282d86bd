/** The parts of the operating system that the search for libraries uses. Tests replace them. */
import { nodeModule } from "./node.ts";

/** The operating system of a machine, as far as the search for libraries uses it. Tests replace it. */
export interface Host {
  readonly platform: string;
  readonly architecture: string;
  readonly home: string;
  /** The environment variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  exists(path: string): boolean;
  /** Returns the names in a directory; none if there is no such directory. */
  list(directory: string): readonly string[];
}

/** Returns the operating system of the machine that runs this code. */
export function thisHost(): Host {
  const fs = nodeModule("node:fs");
  return {
    platform: process.platform,
    architecture: process.arch,
    home: nodeModule("node:os").homedir(),
    environment: process.env,
    exists: (path) => fs.existsSync(path),
    list(directory) {
      try {
        return fs.readdirSync(directory);
      } catch {
        return [];
      }
    },
  };
}

/**
 * Joins the parts of a path in the syntax of `host`, which need not be this machine. The result is undefined if `root`
 * is undefined or empty.
 */
export function pathOn(host: Host, root: string | undefined, ...parts: readonly string[]): string | undefined {
  if (root === undefined || root === "") return undefined;
  return [root, ...parts].join(host.platform === "win32" ? "\\" : "/");
}

/**
 * Returns the paths of the directories in `root` whose names match `name`, the highest version first ("cuda-13.0"
 * before "cuda-9.2").
 */
export function directoriesNewestFirst(host: Host, root: string | undefined, name: RegExp): string[] {
  if (root === undefined || root === "") return [];
  const found = host.list(root).filter((entry) => name.test(entry));
  const newest = new Intl.Collator("en", { numeric: true });
  return found.sort((a, b) => newest.compare(b, a)).map((entry) => pathOn(host, root, entry) ?? "");
}

/** Returns the given paths in order, without duplicates and undefined entries. */
export const distinctPaths = (paths: Iterable<string | undefined>): string[] =>
  [...new Set([...paths].filter((path) => path !== undefined && path !== ""))] as string[];
