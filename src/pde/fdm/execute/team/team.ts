import { fn, i32, write } from "../../../../kernel/index.ts";

/**
 * The work items that solve one instance together, each with an interval of consecutive nodes, and the way in which
 * they exchange values.
 */
export interface Team {
  readonly name: "workgroup" | "subgroup" | "half-subgroup";
  readonly items: number;
  /**
   * The number of instances of a workgroup. Two that share a subgroup exchange no values (`shuffleSpan`), but their
   * scans have the same reach, the larger of the two.
   */
  readonly options: 1 | 2;
  /** The number of rounds of a scan: log₂ of the items. */
  readonly levels: number;
  /**
   * True for scans by shuffles within one subgroup; otherwise scans use workgroup memory, with a barrier for each
   * round.
   */
  readonly shuffles: boolean;
  /**
   * The number of rounds of a scan that often suffice; they reach some 70 nodes. In workgroup memory the number is
   * even, because its halves alternate.
   */
  readonly few: number;
  /**
   * The number of rounds of the pivots' scan that often suffice. They reach some 35 nodes, beyond which pivots hardly
   * depend on the value that enters.
   */
  readonly fewOfPivots: number;
  /**
   * The number of neighbouring items that a scan with shuffles adds up where no more are needed: they have some 50
   * nodes, or 70 in f64 where a shuffle pays.
   */
  readonly neighbours: { readonly f32: number; readonly f64: number };
}

/** A team of 64 items in a workgroup, which exchange values through workgroup memory. */
export const WORKGROUP_TEAM: Team = {
  name: "workgroup",
  items: 64,
  options: 1,
  levels: 6,
  shuffles: false,
  few: 4,
  fewOfPivots: 2,
  neighbours: { f32: 0, f64: 0 },
};
/** A team of 32 items in a subgroup, for devices whose subgroups have 32 lanes, such as NVIDIA's. */
export const SUBGROUP_TEAM: Team = {
  name: "subgroup",
  items: 32,
  options: 1,
  levels: 5,
  shuffles: true,
  few: 3,
  fewOfPivots: 2,
  neighbours: { f32: 5, f64: 5 },
};
/**
 * A team of 16 items, two of which share a subgroup of 32 lanes. Each instance needs half the shuffles, and fewer of
 * the operations on an item's more numerous nodes depend on one another.
 */
export const HALF_SUBGROUP_TEAM: Team = {
  name: "half-subgroup",
  items: 16,
  options: 2,
  levels: 4,
  shuffles: true,
  few: 2,
  fewOfPivots: 1,
  neighbours: { f32: 3, f64: 4 },
};

/**
 * The largest number of nodes of an item that stay in registers; with more, registers would spill. Fewer nodes also
 * leave workgroup memory for the kept factors of running sums.
 */
export const MAX_RESIDENT_ROWS = 9;

/** Returns the number of work items of a workgroup. */
export const groupSize = ({ items, options }: Team): number => items * options;

/**
 * Returns the number of lanes among which a shuffle exchanges values: those of one instance where two share a subgroup;
 * otherwise 128, because no subgroup has more.
 */
export const shuffleSpan = ({ items, options }: Team): number => (options === 1 ? 128 : items);

/**
 * Returns the function that computes the index of an item among those of its instance, and the index of the instance in
 * the workgroup.
 */
export const itemIndex = ({ items, options, levels }: Team) =>
  fn({
    name: "itemIndex",
    params: [],
    env: { alone: options === 1, last: items - 1, levels },
    body(_, gpu, { alone, last, levels }) {
      const id = gpu.localId();
      return { item: alone ? id : id & last, option: alone ? 0 : id >> levels };
    },
  });

/**
 * Returns the number of reals of workgroup memory in which scans exchange values: two alternating halves, so that a
 * round needs only one barrier.
 */
export function scratchReals({ items, shuffles }: Team): number {
  return shuffles ? 1 : 2 * 4 * items;
}

/**
 * Divides an item's nodes into intervals that are processed side by side, all of `size` nodes except the last. Items
 * with many nodes leave registers for so few subgroups that the latency of dependent operations dominates. Items with
 * few nodes would only do more work.
 */
export function partsOf(rows: number): { readonly count: number; readonly size: number } {
  const size = rows > 9 ? Math.ceil(rows / 3) : rows;
  return { count: Math.ceil(rows / size), size };
}

/**
 * Returns the number of further shuffles, independent of one another, that are needed until sums over `neighbours`
 * items have reached all items.
 */
export const hopCount = ({ items }: Team, neighbours: number): number => Math.ceil((items - 1) / neighbours) - 1;

/**
 * Returns the number of multipliers of one scan for each item. Recursive doubling has one for each round. With
 * shuffles, and factors of several steps, there is one for each further neighbour in a sum, and one for each hop.
 */
export const multiplierCount = (team: Team, reusesFactors: boolean): number => {
  const { levels, shuffles, neighbours } = team;
  const ofSums = (count: number): number => count - 1 + hopCount(team, count);
  return shuffles && reusesFactors ? Math.max(ofSums(neighbours.f32), ofSums(neighbours.f64)) : levels;
};

/**
 * Returns the number of reals of workgroup memory for the multipliers of one scan of an instance, where the k-th of an
 * item is at [k·items + item]. In f32 they are in registers, which have no room for them in f64.
 */
export const multiplierReals = (team: Team, reusesFactors: boolean): number =>
  multiplierCount(team, reusesFactors) * team.items;

/**
 * Returns the function that computes the sum of a number over the work items of a group ("add"), or the largest of
 * nonnegative numbers ("max"). It uses atomics, because a subgroup maximum would depend on which items execute together
 * (design/splits.md, "Reductions"). `counter` is an integer in workgroup memory that is 0 before and after, and
 * `result` one that no other function writes. Cost: an atomic operation for each item, and two barriers.
 */
export const groupReduction = (operation: "add" | "max") =>
  fn({
    name: operation === "add" ? "total" : "largest",
    params: [i32, write(i32), write(i32)],
    env: { operation },
    *body([mine, counter, result], gpu, { operation }) {
      if (operation === "add") gpu.atomicAdd(counter, 0, mine);
      else gpu.atomicMax(counter, 0, mine);
      yield;
      if (gpu.localId() === 0) {
        result[0] = gpu.atomicLoad(counter, 0);
        gpu.atomicStore(counter, 0, 0);
      }
      yield;
      return result[0];
    },
  });
