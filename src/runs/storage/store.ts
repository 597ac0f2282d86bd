import type { RandomAccess } from "../../book/index.ts";

/** A file that is to be written. */
export interface NewFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A folder of files, or of objects, each of which appears whole or not at all. */
export interface Store {
  /** Its name, without secrets. */
  readonly url: string;
  /** A file's bytes; undefined where there is none. @throws StorageError */
  read(name: string): Promise<Uint8Array | undefined>;
  /**
   * Writes files, or replaces them: whoever reads one finds all of the new bytes, or all of the old, and a file is
   * never there without those before it in the list.
   * @throws StorageError
   */
  write(files: readonly NewFile[]): Promise<void>;
  /** Does nothing where there is no such file. @throws StorageError */
  remove(name: string): Promise<void>;
  /** Names of the files in a folder of it; none where there is no such folder. @throws StorageError */
  list(folder: string): Promise<readonly string[]>;
}

/** A file that can be read at any place. */
export interface StoredFile extends RandomAccess {
  close(): Promise<void>;
}
