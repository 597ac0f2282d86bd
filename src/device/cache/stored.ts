/**
 * Compiled programs on disk, by the specifications of their kernels. A stored program needs neither the front end nor
 * code generation, which take most of the time from the start of a process to its first result.
 */
import { KernelCache } from "./kernel-cache.ts";
import { inNode } from "../node.ts";

/** The hash of the built code, which the package's build (scripts/bundle.js) inserts. */
declare const FEYNKAC_BUILD: string | undefined;

/**
 * Returns a hash that identifies the package's built code. It is undefined if the package runs from its TypeScript
 * sources, which may change at any time.
 */
export const buildId = (): string | undefined => (typeof FEYNKAC_BUILD === "undefined" ? undefined : FEYNKAC_BUILD);

/**
 * A compiled program before the GPU driver or V8 loads it. It consists of `bytes` and of data that JSON can represent.
 */
export interface StoredImage {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The time in milliseconds between two checks whether another thread or process has stored a program that it makes. */
const LOOK_EVERY = 5;

/** A cache on disk of compiled programs whose images have type `Image`. */
export class ProgramStore<Image extends StoredImage> {
  readonly #kind: string;
  readonly #build: string;
  readonly #cache: KernelCache;

  /**
   * Opens the cache. `kind` names the type of the images. `build` is the compiler's own code, so that images of another
   * version of the compiler are not found.
   */
  constructor(kind: string, build: string, cache = new KernelCache()) {
    this.#kind = kind;
    this.#build = build;
    this.#cache = cache;
  }

  /**
   * Returns the program of a kernel; undefined if there is none that can be read. `kernel` is a text of everything that
   * the program is made from.
   */
  find(kernel: string): Image | undefined {
    const entry = this.#cache.find(this.#keyOf(kernel));
    return entry === undefined ? undefined : decode<Image>(entry);
  }

  /** Stores a program. Disk errors are ignored. */
  store(kernel: string, image: Image): void {
    this.#cache.store(this.#keyOf(kernel), encode(image));
  }

  /**
   * Returns the stored program of a kernel, or makes it with `make` and stores it. It is made once, also if several
   * threads and processes need it at the same time.
   */
  async findOrMake(kernel: string, make: () => Promise<Image>): Promise<{ image: Image; isStored: boolean }> {
    for (;;) {
      const stored = this.find(kernel);
      if (stored !== undefined) return { image: stored, isStored: true };
      const release = this.#cache.claim(this.#keyOf(kernel));
      if (release !== undefined) {
        try {
          const image = await make();
          this.store(kernel, image);
          return { image, isStored: false };
        } finally {
          release();
        }
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
    }
  }

  /** Makes the program of a kernel and stores it, unless it is stored, or another thread or process makes it. */
  async makeAhead(kernel: string, make: () => Promise<Image>): Promise<void> {
    if (this.find(kernel) !== undefined) return;
    const release = this.#cache.claim(this.#keyOf(kernel));
    if (release === undefined) return;
    try {
      this.store(kernel, await make());
    } finally {
      release();
    }
  }

  #keyOf(kernel: string): string {
    return `feynkac ${this.#build} ${this.#kind}\n${kernel}`;
  }
}

/**
 * Returns the cache on disk of compiled programs of one kind. It is undefined in a browser, if FEYNKAC_CACHE is `off`,
 * and if the package runs from its sources, because the compiler's code may then change.
 */
export function programStoreOf<Image extends StoredImage>(kind: string): ProgramStore<Image> | undefined {
  const build = buildId();
  if (build === undefined || !inNode()) return undefined;
  const cache = new KernelCache();
  return cache.directory === undefined ? undefined : new ProgramStore<Image>(kind, build, cache);
}

/** Returns the bytes of a program: the length of its description, the description as JSON, and the program. */
function encode({ bytes, ...description }: StoredImage): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(description));
  const entry = new Uint8Array(4 + text.length + bytes.length);
  new DataView(entry.buffer).setUint32(0, text.length, true);
  entry.set(text, 4);
  entry.set(bytes, 4 + text.length);
  return entry;
}

function decode<Image extends StoredImage>(entry: Uint8Array<ArrayBuffer>): Image {
  const end = 4 + new DataView(entry.buffer, entry.byteOffset).getUint32(0, true);
  const description = JSON.parse(new TextDecoder().decode(entry.subarray(4, end))) as Omit<Image, "bytes">;
  return { ...description, bytes: entry.subarray(end) } as Image;
}
