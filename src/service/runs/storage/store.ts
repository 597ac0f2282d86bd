import type { RandomAccess } from "../../../book/index.ts";

/** A file to be written to a store. */
export interface NewFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A local folder or an S3 prefix. Each file appears atomically: readers see all of it, or none. */
export interface Store {
  /** The name of the store, without secrets. */
  readonly url: string;
  /** Returns a file's bytes; undefined if it does not exist. @throws StorageError */
  read(name: string): Promise<Uint8Array | undefined>;
  /**
   * Writes or replaces files atomically, in order: a file never exists without those before it in the list. @throws
   * StorageError
   */
  write(files: readonly NewFile[]): Promise<void>;
  /** Removes a file, if it exists. @throws StorageError */
  remove(name: string): Promise<void>;
  /** Returns the names of the files in a subfolder; none if it does not exist. @throws StorageError */
  list(folder: string): Promise<readonly string[]>;
}

/** A file whose bytes can be read at any position. */
export interface StoredFile extends RandomAccess {
  close(): Promise<void>;
}
