/** The data of a run that a worker keeps from chunk to chunk: the manifest, and the book with its market. */
import {
  type Manifest,
  requireManifest,
  type OpenBook,
  openRunBook,
  openStore,
  RunError,
  type Store,
} from "../runs/index.ts";
import type { RunJob } from "./jobs.ts";
import { planHash } from "./plan-hash.ts";

/** The data of a run that a worker keeps from chunk to chunk: its folder, its manifest and its book. */
export interface RunContext {
  readonly store: Store;
  readonly manifest: Manifest;
  /** Returns the book, which is opened when the first chunk is priced. */
  book(): Promise<OpenBook>;
}

/** The maximum number of runs that are kept in memory. */
const MAX_RUNS = 4;

/** A cache of the contexts of the runs that a worker prices. */
export class RunContextCache implements AsyncDisposable {
  readonly #known = new Map<string, Promise<Kept>>();

  /**
   * Returns the context of a job's run. @throws RunError if the folder has another run than was submitted; StorageError
   */
  async get(job: RunJob): Promise<RunContext> {
    const key = `${job.plan} ${job.output}`; // a plan is a hash, of one length
    let context = this.#known.get(key);
    if (context === undefined) {
      context = open(job);
      this.#known.set(key, context);
      context.catch(() => this.#known.delete(key)); // the next chunk tries again
      while (this.#known.size > MAX_RUNS) await this.#drop(this.#known.keys().next().value as string);
    }
    return context;
  }

  async #drop(key: string): Promise<void> {
    const context = this.#known.get(key);
    this.#known.delete(key);
    await (await context?.catch(() => undefined))?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const key of Array.from(this.#known.keys())) await this.#drop(key);
  }
}

interface Kept extends RunContext {
  close(): Promise<void>;
}

async function open({ output, plan }: RunJob): Promise<Kept> {
  const store = await openStore(output);
  const manifest = await requireManifest(store);
  if (planHash(manifest) !== plan)
    throw new RunError(
      `${output} has another run than the one that was submitted; submit it again, into another folder`,
    );
  let book: Promise<OpenBook> | undefined;
  return {
    store,
    manifest,
    book: async () => {
      book ??= openRunBook(store, manifest);
      book.catch(() => (book = undefined));
      return book;
    },
    close: async () => {
      await (await book?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
