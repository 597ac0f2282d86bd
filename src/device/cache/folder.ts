/** Text files that other folders of the package keep between processes, in the directory of the compiled kernels. */
import { inNode, nodeModule } from "../node.ts";
import { thisHost } from "../host.ts";
import { cacheDirectory } from "./directory.ts";

/** A folder of small text files in the cache directory. */
export interface CacheFolder {
  /** Returns the text of a file. The promise is rejected if there is none. */
  read(name: string): Promise<string>;
  /**
   * Writes a file atomically: it is written under another name and then renamed, so that readers never see a part of
   * it. Disk errors are ignored.
   */
  write(name: string, text: string): Promise<void>;
}

/** Returns the cache directory as a folder of text files. Undefined in a browser, and where FEYNKAC_CACHE is `off`. */
export function cacheFolder(): CacheFolder | undefined {
  const directory = inNode() ? cacheDirectory(thisHost()) : undefined;
  if (directory === undefined) return undefined;
  const { promises: fs } = nodeModule("node:fs");
  const { join } = nodeModule("node:path");
  return {
    read: (name) => fs.readFile(join(directory, name), "utf8"),
    async write(name, text) {
      const temporary = join(directory, `${name}.${process.pid}.${nodeModule("node:crypto").randomUUID()}.tmp`);
      try {
        await fs.mkdir(directory, { recursive: true });
        await fs.writeFile(temporary, text);
        await fs.rename(temporary, join(directory, name));
      } catch {
        await fs.rm(temporary, { force: true }).catch(() => {});
      }
    },
  };
}
