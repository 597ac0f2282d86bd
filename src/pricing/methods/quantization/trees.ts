/** A cache of quantization trees between batches. Making a tree takes longer than valuing a hundred swings on it. */
import type { Device } from "../../../device/index.ts";
import type { QuantizationTree } from "../../../quadrature/quantization/index.ts";

/** The number of bytes of trees that nobody uses at the moment. */
const KEPT_BYTES = 2 ** 29;

interface Entry {
  readonly making: Promise<QuantizationTree>;
  made: QuantizationTree | undefined;
  users: number;
}

/** The trees by device, for all sessions that are open on it. */
const opened = new WeakMap<Device, Trees>();

/** A cache of quantization trees on a device, by key, which evicts the least recently used. */
export class Trees {
  readonly #device: Device;
  readonly #entries = new Map<string, Entry>();
  #sessions = 0;

  private constructor(device: Device) {
    this.#device = device;
  }

  /** Returns the cache of a device. Each call must be followed by one disposal of the cache. */
  static open(device: Device): Trees {
    let trees = opened.get(device);
    if (trees === undefined) opened.set(device, (trees = new Trees(device)));
    trees.#sessions++;
    return trees;
  }

  close(): void {
    if (--this.#sessions > 0) return;
    opened.delete(this.#device);
    this.clear();
  }

  /** Runs `job` on the tree with a key, which `make` makes if it is not cached. @throws errors of `make` and `job` */
  async use<T>(
    key: string,
    make: () => Promise<QuantizationTree>,
    job: (tree: QuantizationTree) => Promise<T>,
  ): Promise<T> {
    const entry = this.#entries.get(key) ?? { making: make(), made: undefined, users: 0 };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.users++;
    try {
      entry.made = await entry.making;
      return await job(entry.made);
    } catch (error) {
      if (entry.made === undefined && this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    } finally {
      entry.users--;
      if (this.#entries.get(key) !== entry) dispose(entry);
      else this.#trim();
    }
  }

  /** Removes all trees, as after the device was lost. */
  clear(): void {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    entries.forEach(dispose);
  }

  #trim(): void {
    let bytes = [...this.#entries.values()].reduce((sum, entry) => sum + bytesOf(entry), 0);
    for (const [key, entry] of this.#entries) {
      if (bytes <= KEPT_BYTES) return;
      if (entry.users > 0) continue;
      bytes -= bytesOf(entry);
      this.#entries.delete(key);
      dispose(entry);
    }
  }
}

const bytesOf = ({ made }: Entry): number =>
  made === undefined ? 0 : 12 * made.rows.rows * made.rows.slots + made.points.byteLength;

/** Disposes a tree at once where nobody uses it; otherwise the last user does. */
function dispose(entry: Entry): void {
  if (entry.users === 0) entry.made?.[Symbol.dispose]();
}
