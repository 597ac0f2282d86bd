/**
 * Compiled kernels and other code on disk, shared by all processes. A file is written under another name and then
 * renamed, so that nobody ever reads a part of it. If the disk fails, kernels are compiled as if there were no cache.
 * Files are read and written synchronously, because passing the work to Node's threads takes longer than the disk.
 */
import { type Host, thisHost } from "../host.ts";
import { nodeModule } from "../node.ts";
import { cacheDirectory } from "./directory.ts";
import { decodeEntry, encodeEntry, cacheFileName } from "./entry.ts";

const SUFFIX = ".kernel";
const TEMPORARY = ".tmp";
const CLAIM = ".claim";
/** All kernels that `doctor --prepare` compiles for a GPU, and as much again. */
const MAX_BYTES = 1024 * 2 ** 20;
/**
 * The directory is searched for files to delete, which takes milliseconds, when the first file is stored and then for
 * every 64th.
 */
const STORES_A_PRUNE = 64;
const HOUR = 3_600_000;
/** The age in milliseconds at which the claim of a process to make an entry counts as abandoned. */
const CLAIM_LASTS = 120_000;
/** The age in milliseconds at which the time of a file's last use is renewed. */
const MARKING = 5_000;

/** A cache of compiled kernels on disk, which threads and processes share. */
export class KernelCache {
  readonly directory: string | undefined;
  readonly #maxBytes: number;
  #stores = 0;

  constructor(host: Host = thisHost(), maxBytes = MAX_BYTES) {
    this.directory = cacheDirectory(host);
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns the compiled program stored under a key. Undefined if there is none, or if the file is damaged, belongs to
   * another user, or has another key.
   */
  find(key: string): Uint8Array<ArrayBuffer> | undefined {
    if (this.directory === undefined) return undefined;
    const fs = nodeModule("node:fs");
    try {
      const file = fs.openSync(this.#pathOf(this.directory, key), "r");
      try {
        const { uid, mtimeMs } = fs.fstatSync(file);
        if (!isTrusted(uid)) return undefined;
        const image = decodeEntry(fs.readFileSync(file), key);
        if (image !== undefined) markUsed(file, mtimeMs);
        return image;
      } finally {
        fs.closeSync(file);
      }
    } catch {
      return undefined; // none yet, or unreadable
    }
  }

  store(key: string, image: Uint8Array): void {
    const { directory } = this;
    if (directory === undefined) return;
    const fs = nodeModule("node:fs");
    const path = this.#pathOf(directory, key);
    const temporary = `${path}.${process.pid}.${nodeModule("node:crypto").randomUUID()}${TEMPORARY}`;
    try {
      fs.mkdirSync(directory, { recursive: true });
      fs.writeFileSync(temporary, encodeEntry(key, image));
      fs.renameSync(temporary, path);
      if (this.#stores++ % STORES_A_PRUNE === 0) this.#prune(directory);
    } catch {
      remove(temporary); // read-only, full, or in use elsewhere (Windows)
    }
  }

  /**
   * Announces to all threads and processes that the caller makes the entry of a key, and returns a function that ends
   * the announcement. Undefined if another thread or process has announced it and will store the entry.
   */
  claim(key: string): (() => void) | undefined {
    if (this.directory === undefined) return () => {};
    const fs = nodeModule("node:fs");
    const path = this.#pathOf(this.directory, key) + CLAIM;
    try {
      fs.mkdirSync(this.directory, { recursive: true });
      fs.writeFileSync(path, ownerOf(process.pid), { flag: "wx" });
      return () => remove(path);
    } catch (error) {
      if ((error as { code?: string }).code !== "EEXIST") return () => {}; // nobody can claim anything here
      if (isAbandoned(path)) remove(path);
      return undefined;
    }
  }

  #pathOf(directory: string, key: string): string {
    return nodeModule("node:path").join(directory, cacheFileName(key) + SUFFIX);
  }

  /**
   * Deletes the files that have not been used for longest, until the rest fits the size limit, and files that crashed
   * processes left. Other files are not touched.
   */
  #prune(directory: string): void {
    let total = 0;
    for (const { path, bytes, age } of filesOf(directory)) {
      if (path.endsWith(SUFFIX)) total += bytes;
      const abandoned = !path.endsWith(SUFFIX) && age > HOUR;
      if (abandoned || (path.endsWith(SUFFIX) && total > this.#maxBytes)) remove(path);
    }
  }
}

/**
 * Tells whether the owner of a file is trusted: this user, or the administrator, as in container images. Code from
 * other users is not executed.
 */
const isTrusted = (uid: number): boolean => process.getuid === undefined || uid === process.getuid() || uid === 0;

/** Renews the time of a file's last use, because the files that have not been used for longest are deleted first. */
function markUsed(file: number, last: number): void {
  const now = Date.now();
  if (now - last < MARKING) return;
  try {
    nodeModule("node:fs").futimesSync(file, now / 1000, now / 1000);
  } catch {
    // It may be read, and not marked.
  }
}

/** The owner of a claim: a process, on a machine, since several may share the folder. */
const ownerOf = (pid: number): string => `${nodeModule("node:os").hostname()} ${pid}`;

/** Tells whether a claim is older than any compilation takes, or its process has ended. */
function isAbandoned(path: string): boolean {
  const fs = nodeModule("node:fs");
  try {
    if (Date.now() - fs.statSync(path).mtimeMs > CLAIM_LASTS) return true;
    const owner = fs.readFileSync(path, "utf8");
    const pid = Number(owner.split(" ").at(-1));
    return pid > 0 && owner === ownerOf(pid) && hasEnded(pid);
  } catch {
    return false; // it has been given up meanwhile
  }
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0); // a signal that only asks
    return false;
  } catch (error) {
    return (error as { code?: string }).code === "ESRCH";
  }
}

function remove(path: string): void {
  try {
    nodeModule("node:fs").rmSync(path, { force: true });
  } catch {
    // A directory that has become read-only, or is none.
  }
}

interface CacheFile {
  readonly path: string;
  readonly bytes: number;
  readonly age: number;
}

/** Returns the files of the cache, the most recently used first. */
function filesOf(directory: string): CacheFile[] {
  const fs = nodeModule("node:fs");
  const now = Date.now();
  const names = fs
    .readdirSync(directory)
    .filter((name) => [SUFFIX, TEMPORARY, CLAIM].some((end) => name.endsWith(end)));
  const found: CacheFile[] = [];
  for (const name of names) {
    const path = nodeModule("node:path").join(directory, name);
    const stat = fs.statSync(path, { throwIfNoEntry: false }); // deleted meanwhile
    if (stat !== undefined) found.push({ path, bytes: stat.size, age: now - stat.mtimeMs });
  }
  return found.sort((a, b) => a.age - b.age);
}
