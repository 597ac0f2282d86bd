/**
 * The kinds of accesses that the search for data races distinguishes. A race is found exactly if two work items access
 * one element, at least one of them writes, not both accesses are atomic, and no barrier of a common workgroup lies
 * between them.
 *
 * Workgroups run one after another, and the number of barriers that a workgroup has passed (its epoch) only grows. For
 * each element and kind of access it therefore suffices to keep one item of an earlier workgroup and two different
 * items of the last workgroup's last epoch.
 */
export type AccessKind = "read" | "write" | "atomicRead" | "atomicWrite";

const CONFLICTS: Readonly<Record<AccessKind, readonly AccessKind[]>> = {
  read: ["write", "atomicWrite"],
  write: ["read", "write", "atomicRead", "atomicWrite"],
  atomicRead: ["write"],
  atomicWrite: ["read", "write"],
};

/**
 * An access of a work item to an element, by the numbers of the item and of its workgroup, and the number of barriers
 * that the workgroup had passed.
 */
export interface PastAccess {
  readonly item: number;
  readonly group: number;
  readonly epoch: number;
}

const NOBODY = -1;

class KindHistory {
  readonly #group: Int32Array;
  readonly #epoch: Int32Array;
  readonly #first: Int32Array;
  readonly #second: Int32Array;
  readonly #earlierGroup: Int32Array;

  constructor(length: number) {
    this.#group = new Int32Array(length).fill(NOBODY);
    this.#epoch = new Int32Array(length);
    this.#first = new Int32Array(length).fill(NOBODY);
    this.#second = new Int32Array(length).fill(NOBODY);
    this.#earlierGroup = new Int32Array(length).fill(NOBODY);
  }

  /**
   * Returns a work item other than `by` whose access to element `index` no barrier separates from the present one; −1
   * if there is none.
   */
  unordered(index: number, by: PastAccess): number {
    if (this.#group[index] !== by.group) return this.#first[index];
    if (this.#earlierGroup[index] !== NOBODY) return this.#earlierGroup[index];
    if (this.#epoch[index] !== by.epoch) return NOBODY;
    return this.#first[index] === by.item ? this.#second[index] : this.#first[index];
  }

  record(index: number, by: PastAccess): void {
    const newGroup = this.#group[index] !== by.group;
    if (newGroup && this.#group[index] !== NOBODY) this.#earlierGroup[index] = this.#first[index];
    if (newGroup || this.#epoch[index] !== by.epoch) {
      this.#group[index] = by.group;
      this.#epoch[index] = by.epoch;
      this.#first[index] = by.item;
      this.#second[index] = NOBODY;
    } else if (this.#first[index] !== by.item) {
      this.#second[index] = by.item;
    }
  }
}

/** The accesses to one array during a launch, from which data races are found. */
export class AccessHistory {
  readonly #length: number;
  readonly #kinds: Partial<Record<AccessKind, KindHistory>> = {};

  constructor(length: number) {
    this.#length = length;
  }

  /**
   * Records an access. If it is a data race with an earlier access, returns the other work item and the kind of its
   * access, otherwise undefined.
   */
  record(
    index: number,
    kind: AccessKind,
    by: PastAccess,
  ): { readonly item: number; readonly kind: AccessKind } | undefined {
    for (const other of CONFLICTS[kind]) {
      const item = this.#kinds[other]?.unordered(index, by) ?? NOBODY;
      if (item !== NOBODY) return { item, kind: other };
    }
    (this.#kinds[kind] ??= new KindHistory(this.#length)).record(index, by);
    return undefined;
  }
}
