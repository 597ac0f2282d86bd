/** Arrays that check every access: bounds, initialisation, and data races. */
import type { HostNumbers } from "./arguments.ts";
import type { AccessHistory, AccessKind } from "./races.ts";

/**
 * The description of a fault of an access; undefined if the access is valid. The caller adds the position in the
 * source.
 */
export type AccessFault = string | undefined;

const VERB: Readonly<Record<AccessKind, string>> = {
  read: "reads",
  write: "writes",
  atomicRead: "atomically reads",
  atomicWrite: "atomically updates",
};

/** The work item that accesses an element, as error messages name it. */
interface Accessor {
  readonly place: { readonly globalId: number };
  readonly group: { readonly id: number; readonly epoch: number };
}

/** The options of a checked array. */
export interface CheckedArrayOptions {
  readonly name: string;
  readonly values: HostNumbers;
  /** True where elements are initially undefined and must be written before they are read. */
  readonly undefinedAtFirst: boolean;
  /**
   * The accesses so far, for finding data races; undefined if races are not searched for. Two names of one buffer share
   * a history.
   */
  readonly history: AccessHistory | undefined;
}

/** An array of the interpreter that checks bounds, initialisation and data races at every access. */
export class CheckedArray {
  readonly name: string;
  readonly values: HostNumbers;
  readonly #written: Uint8Array | undefined;
  readonly #history: AccessHistory | undefined;

  constructor({ name, values, undefinedAtFirst, history }: CheckedArrayOptions) {
    this.name = name;
    this.values = values;
    this.#written = undefinedAtFirst ? new Uint8Array(values.length) : undefined;
    this.#history = history;
  }

  get length(): number {
    return this.values.length;
  }

  /**
   * Checks an access before it is made. `needsValue` is true if the access reads the element. Returns the description
   * of a fault, or undefined.
   */
  check(index: number, kind: AccessKind, needsValue: boolean, item: Accessor): AccessFault {
    if (!(index >= 0 && index < this.values.length)) return this.#outOfBounds(index, kind);
    if (needsValue && this.#written?.[index] === 0) {
      return `reads ${this.name}[${index}] (length ${this.length}) before anything was stored there, or what was fetched had arrived; store to it, or await it, first`;
    }
    if (this.#written !== undefined && (kind === "write" || kind === "atomicWrite")) this.#written[index] = 1;
    return this.#history === undefined ? undefined : this.#race(index, kind, item, this.#history);
  }

  /** Marks an element as undefined while an asynchronous copy to it is under way. */
  await(index: number): void {
    if (this.#written !== undefined) this.#written[index] = 0;
  }

  arrive(index: number, values: readonly number[]): void {
    values.forEach((value, k) => {
      this.values[index + k] = value;
      if (this.#written !== undefined) this.#written[index + k] = 1;
    });
  }

  #outOfBounds(index: number, kind: AccessKind): string {
    return `${VERB[kind]} ${this.name}[${index}], out of bounds: the length is ${this.length}; guard the access or pass a longer array`;
  }

  #race(index: number, kind: AccessKind, item: Accessor, history: AccessHistory): AccessFault {
    const by = { item: item.place.globalId, group: item.group.id, epoch: item.group.epoch };
    const rival = history.record(index, kind, by);
    if (rival === undefined) return undefined;
    return (
      `${VERB[kind]} ${this.name}[${index}] (length ${this.length}), which item ${rival.item} ${VERB[rival.kind]} in the same launch ` +
      `with no barrier between: a data race; put a barrier (\`yield\`) between, use atomics, or give each item its own element`
    );
  }
}
