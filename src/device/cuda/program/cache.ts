/**
 * Compiled kernels on disk, shared by all processes: an entry is written under a name of its own and renamed into
 * place, so that nobody ever reads half of one. Whatever goes wrong with the disk, a kernel is compiled as if there
 * were no cache.
 */
import { type Host, thisHost } from "../library/host.ts";
import { nodeModule } from "../node.ts";
import { cacheDirectory } from "./cache-directory.ts";
import { decodeEntry, encodeEntry, nameOf } from "./entry.ts";

const SUFFIX = ".kernel";
const TEMPORARY = ".tmp";
const MAX_BYTES = 256 * 2 ** 20;
/**
 * Looking through the directory takes milliseconds, so it is done for the first entry that is stored and for every
 * 64th.
 */
const STORES_A_PRUNE = 64;
const HOUR = 3_600_000;

export class KernelCache {
  readonly directory: string | undefined;
  readonly #maxBytes: number;
  #stores = 0;

  constructor(host: Host = thisHost(), maxBytes = MAX_BYTES) {
    this.directory = cacheDirectory(host);
    this.#maxBytes = maxBytes;
  }

  async find(key: string): Promise<Uint8Array | undefined> {
    if (this.directory === undefined) return undefined;
    const { promises: fs } = nodeModule("node:fs");
    const path = this.#pathOf(this.directory, key);
    try {
      const image = decodeEntry(await fs.readFile(path), key);
      const now = new Date();
      if (image !== undefined) await fs.utimes(path, now, now).catch(() => {}); // pruning takes the longest unused
      return image;
    } catch {
      return undefined; // none yet, or unreadable
    }
  }

  async store(key: string, image: Uint8Array): Promise<void> {
    const { directory } = this;
    if (directory === undefined) return;
    const { promises: fs } = nodeModule("node:fs");
    const path = this.#pathOf(directory, key);
    const temporary = `${path}.${process.pid}.${nodeModule("node:crypto").randomUUID()}${TEMPORARY}`;
    try {
      await fs.mkdir(directory, { recursive: true });
      await fs.writeFile(temporary, encodeEntry(key, image));
      await fs.rename(temporary, path);
      if (this.#stores++ % STORES_A_PRUNE === 0) await this.#prune(directory);
    } catch {
      await fs.rm(temporary, { force: true }).catch(() => {}); // read-only, full, or in use elsewhere (Windows)
    }
  }

  #pathOf(directory: string, key: string): string {
    return nodeModule("node:path").join(directory, nameOf(key) + SUFFIX);
  }

  /** Deletes the longest unused entries beyond the bound, and what a crashed process left. Other files are not ours. */
  async #prune(directory: string): Promise<void> {
    const { promises: fs } = nodeModule("node:fs");
    let total = 0;
    for (const { path, bytes, age } of await filesOf(directory)) {
      if (path.endsWith(SUFFIX)) total += bytes;
      const abandoned = path.endsWith(TEMPORARY) && age > HOUR;
      if (abandoned || (path.endsWith(SUFFIX) && total > this.#maxBytes)) await fs.rm(path, { force: true });
    }
  }
}

interface CacheFile {
  readonly path: string;
  readonly bytes: number;
  readonly age: number;
}

/** The cache's files, the latest used first. */
async function filesOf(directory: string): Promise<CacheFile[]> {
  const { promises: fs } = nodeModule("node:fs");
  const now = Date.now();
  const names = (await fs.readdir(directory)).filter((name) => name.endsWith(SUFFIX) || name.endsWith(TEMPORARY));
  const found: CacheFile[] = [];
  for (const name of names) {
    const path = nodeModule("node:path").join(directory, name);
    const stat = await fs.stat(path).catch(() => undefined); // deleted meanwhile
    if (stat !== undefined) found.push({ path, bytes: stat.size, age: now - stat.mtimeMs });
  }
  return found.sort((a, b) => a.age - b.age);
}
