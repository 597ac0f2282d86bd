/** Storage of books and runs: folders of a file system, or S3. */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { folderStore, openLocal } from "./folder.ts";
import { openS3, s3Store } from "./s3.ts";
import type { Store, StoredFile } from "./store.ts";

export type { NewFile, Store, StoredFile } from "./store.ts";

/** Tells whether a URL is in S3. */
export function isS3(url: string): boolean {
  return /^s3:\/\//i.test(url);
}

/**
 * Returns the name of a file or folder independently of the working directory: an absolute path, or a URL unchanged.
 */
export function absoluteName(url: string): string {
  return isS3(url) ? url : resolve(url);
}

/** Opens a store: a local folder or an S3 prefix, which need not exist yet. @throws RunError */
export async function openStore(url: string): Promise<Store> {
  return isS3(url) ? s3Store(url.replace(/\/+$/, "")) : folderStore(resolve(url));
}

/** Opens a local file or an S3 object for reading at any position. @throws RunError | StorageError */
export async function openFile(url: string): Promise<StoredFile> {
  return isS3(url) ? openS3(url) : openLocal(url);
}

/** The number of bytes that are hashed at a time. */
const SLICE = 1 << 22;

/** Returns the SHA-256 of bytes, in hexadecimal. */
export function hashOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Returns the SHA-256 of a file, in hexadecimal. @throws StorageError; the signal's reason */
export async function hashOfFile(file: StoredFile, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for (let start = 0; start < file.byteLength; start += SLICE) {
    signal?.throwIfAborted();
    hash.update(new Uint8Array(await file.slice(start, Math.min(start + SLICE, file.byteLength))));
  }
  return hash.digest("hex");
}
