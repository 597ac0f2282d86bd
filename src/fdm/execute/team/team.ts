import { fn } from "../../../kernel/index.ts";

/** The work items that solve one option together, each a run of consecutive nodes, and the way they exchange values. */
export interface Team {
  readonly name: "workgroup" | "subgroup" | "half-subgroup";
  readonly items: number;
  /**
   * The number of options of a workgroup. Options that share a subgroup exchange no values (`span`), but have the same
   * reach of scans, the larger of the two.
   */
  readonly options: 1 | 2;
  /** The number of rounds of a scan: log₂ of the items. */
  readonly levels: number;
  /** True for scans by shuffles within one subgroup; otherwise they use workgroup memory with a barrier a round. */
  readonly shuffles: boolean;
  /**
   * The number of rounds of a scan that often suffice: they reach some 70 nodes. In workgroup memory they come in
   * pairs, so that its halves alternate.
   */
  readonly few: number;
  /**
   * The number of rounds of the pivots' scan that often suffice: they reach some 35 nodes, beyond which pivots hardly
   * depend on the incoming value.
   */
  readonly fewOfPivots: number;
  /**
   * The number of neighbours that a scan with shuffles adds up where no more are needed: some 50 nodes, or 70 in f64
   * where a shuffle is worthwhile.
   */
  readonly neighbours: { readonly f32: number; readonly f64: number };
}

/** The team of a workgroup of 64 items, which exchanges values through workgroup memory. */
export const WORKGROUP: Team = {
  name: "workgroup",
  items: 64,
  options: 1,
  levels: 6,
  shuffles: false,
  few: 4,
  fewOfPivots: 2,
  neighbours: { f32: 0, f64: 0 },
};
/** The team for devices whose subgroups have 32 lanes, such as NVIDIA's. */
export const SUBGROUP: Team = {
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
 * The team for the same devices with two options a subgroup: half the shuffles for each option, and of its longer runs
 * fewer depend on each other.
 */
export const HALF_SUBGROUP: Team = {
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
 * The number of rows of the longest runs that stay in registers; longer runs would spill. Short runs also leave
 * workgroup memory for the kept factors of running sums.
 */
export const MAX_RESIDENT_ROWS = 9;

/** The number of work items of a workgroup. */
export const groupSize = ({ items, options }: Team): number => items * options;

/**
 * The number of lanes among which shuffles exchange values: those of one option, or all, since no subgroup has more.
 */
export const span = ({ items, options }: Team): number => (options === 1 ? 128 : items);

/** Returns the function for the index of an item among its option's items, and for its option's index in the group. */
export const placeIn = ({ items, options, levels }: Team) =>
  fn({
    name: "placeIn",
    params: [],
    env: { alone: options === 1, last: items - 1, levels },
    body(_, gpu, { alone, last, levels }) {
      const id = gpu.localId();
      return { item: alone ? id : id & last, option: alone ? 0 : id >> levels };
    },
  });

/**
 * The number of words of workgroup memory for the scans' exchanges: two alternating halves, so that a round needs one
 * barrier.
 */
export function scratchWords({ items, shuffles }: Team): number {
  return shuffles ? 1 : 2 * 4 * items;
}

/**
 * Divides a run into parts that are processed side by side, all of `size` rows but the last. Long runs leave registers
 * for so few subgroups that the latency of dependent operations dominates; short ones would only do more work.
 */
export function partsOf(rows: number): { readonly count: number; readonly size: number } {
  const size = rows > 9 ? Math.ceil(rows / 3) : rows;
  return { count: Math.ceil(rows / size), size };
}

/** The number of shuffles, side by side, by which sums of so many neighbours reach all items. */
export const hops = ({ items }: Team, neighbours: number): number => Math.ceil((items - 1) / neighbours) - 1;

/**
 * The number of multipliers of one scan for each item: those of doubling, or, with shuffles and lasting factors, of
 * neighbours' sums and their hops.
 */
export const multipliers = (team: Team, lasting: boolean): number => {
  const { levels, shuffles, neighbours } = team;
  const ofSums = (count: number): number => count - 1 + hops(team, count);
  return shuffles && lasting ? Math.max(ofSums(neighbours.f32), ofSums(neighbours.f64)) : levels;
};

/**
 * The number of words of workgroup memory for each option for the multipliers of one scan, an item's k-th at [k·items +
 * item]. In f32 they are in registers, which have no room for them in f64.
 */
export const multiplierWords = (team: Team, lasting: boolean): number => multipliers(team, lasting) * team.items;
