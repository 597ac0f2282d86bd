/** Storage of runs in a local folder or on a shared file system. */
import { closeSync, openSync, read } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { getSystemErrorMap, promisify } from "node:util";
import { StorageError } from "../error.ts";
import type { Store, StoredFile } from "./store.ts";

/** The suffix of the names of files that are being written. A process that is killed leaves such files behind. */
export const UNFINISHED_SUFFIX = ".tmp";

/** The number of temporary files that this process has created, which makes their names unique. */
let counted = 0;

/** Returns the store whose files are in a local folder. */
export function folderStore(path: string): Store {
  return {
    url: path,
    read: async (name) => {
      try {
        return await readFile(join(path, name));
      } catch (cause) {
        if (isMissing(cause)) return undefined;
        throw failed("read", join(path, name), cause);
      }
    },
    write: async (written) => {
      try {
        await writeWhole(written.map(({ name, bytes }) => ({ path: join(path, name), bytes })));
      } catch (cause) {
        throw failed("write", written.map(({ name }) => join(path, name)).join(" and "), cause);
      }
    },
    remove: async (name) => {
      try {
        await rm(join(path, name), { force: true });
      } catch (cause) {
        throw failed("remove", join(path, name), cause);
      }
    },
    list: async (folder) => {
      try {
        return await readdir(join(path, folder));
      } catch (cause) {
        if (isMissing(cause)) return [];
        throw failed("read", join(path, folder), cause);
      }
    },
  };
}

interface WholeFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * Writes files under temporary names, flushes them to disk, and renames them in the given order. After a power failure,
 * each file is either the old or the new one. The directory is flushed only once, because that takes most of the time
 * for a small file. If the rename of a result file is lost, its receipt is ignored.
 */
async function writeWhole(files: readonly WholeFile[]): Promise<void> {
  const written = files.map((file) => ({ ...file, temporary: temporaryOf(file.path) }));
  try {
    // All of them have ended before any is removed.
    const all = await Promise.allSettled(written.map(({ temporary, bytes }) => writeSynced(temporary, bytes)));
    for (const one of all) if (one.status === "rejected") throw one.reason;
    for (const { temporary, path } of written) await rename(temporary, path);
  } catch (error) {
    await Promise.all(written.map(({ temporary }) => rm(temporary, { force: true }).catch(() => undefined)));
    throw error;
  }
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) await syncFolder(folder);
}

function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.${counted++}${UNFINISHED_SUFFIX}`);
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await openNew(path);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Creates a file, and its folder if that does not exist. */
async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx");
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    await mkdir(dirname(path), { recursive: true });
    return open(path, "wx");
  }
}

/**
 * Flushes a directory to disk, and with it the new names of files. It does nothing on Windows, where directories cannot
 * be opened and need not be flushed.
 */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

/** Opens a local file for reading at any position. @throws StorageError no such file, a folder, no permission */
export async function openLocal(path: string): Promise<StoredFile> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) throw new StorageError(`cannot read ${path}: it is a directory`);
    if (!stats.isFile())
      throw new StorageError(`cannot read ${path}: a run in parts needs a file, which it can come back to`);
    // A number, where a handle would complain when its thread is ended.
    return openedFile(openSync(path, "r"), path, stats.size);
  } catch (cause) {
    throw cause instanceof StorageError ? cause : failed("read", path, cause);
  }
}

const readAt = promisify(read);

function openedFile(file: number, path: string, byteLength: number): StoredFile {
  return {
    byteLength,
    slice: async (start, end = byteLength) => {
      const bytes = new Uint8Array(Math.max(Math.min(end, byteLength) - start, 0));
      let filled = 0;
      try {
        while (filled < bytes.length) {
          const { bytesRead } = await readAt(file, bytes, filled, bytes.length - filled, start + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
      } catch (cause) {
        throw failed("read", path, cause);
      }
      return filled === bytes.length ? bytes.buffer : bytes.buffer.slice(0, filled);
    },
    close: async () => closeSync(file),
  };
}

function isMissing(cause: unknown): boolean {
  return (cause as NodeJS.ErrnoException).code === "ENOENT";
}

/** The error for an operation that failed, with the reason given by the operating system. */
function failed(what: string, path: string, cause: unknown): StorageError {
  const { errno, message } = cause as NodeJS.ErrnoException;
  const words = isMissing(cause) ? "there is no such file" : errno && getSystemErrorMap().get(errno)?.[1];
  return new StorageError(`cannot ${what} ${path}: ${words ?? message}`, { cause });
}
