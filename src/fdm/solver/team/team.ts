/** The items that solve one option together, each a run of consecutive nodes; and how they exchange values. */
export interface Team {
  readonly items: number;
  /** log₂ of it: rounds of a scan. */
  readonly levels: number;
  /** By shuffles within one subgroup, else through workgroup memory with a barrier a round. */
  readonly shuffles: boolean;
}

export const WORKGROUP: Team = { items: 64, levels: 6, shuffles: false };
/** For devices whose subgroups have 32 lanes, as NVIDIA's have. */
export const SUBGROUP: Team = { items: 32, levels: 5, shuffles: true };

/** Words of workgroup memory that scans pass values through: two halves in turn, so that a round needs one barrier. */
export function scratchWords({ items, shuffles }: Team): number {
  return shuffles ? 1 : 2 * 4 * items;
}

/** How a run of rows is cut into parts that are worked on side by side: all of `size`, the last of what is left. */
export function partsOf(rows: number): { readonly count: number; readonly size: number } {
  const size = rows < 6 ? rows : Math.ceil(rows / 3);
  return { count: Math.ceil(rows / size), size };
}

/** Words of workgroup memory for the multipliers of one scan, those of doubling and of `fiveTerms`, an item's at [k·items + item]: registers have no room for them in f64. */
export const multiplierWords = ({ items, levels, shuffles }: Team): number => (levels + (shuffles ? 4 : 0)) * items;
