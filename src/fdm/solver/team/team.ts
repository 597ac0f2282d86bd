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

/**
 * How a run is cut into parts that are worked on side by side, all of `size` rows but the last: long runs leave registers for so few subgroups that a chain of
 * dependent operations is what they wait for; short ones would only have more to do.
 */
export function partsOf(rows: number): { readonly count: number; readonly size: number } {
  const size = rows > 9 ? Math.ceil(rows / 3) : rows;
  return { count: Math.ceil(rows / size), size };
}

/** Multipliers of one scan, those of doubling and, where factors last, of `fiveTerms`, an item's. */
export const multipliers = ({ levels, shuffles }: Team, lasting: boolean): number =>
  levels + (shuffles && lasting ? 4 : 0);

/** Words of workgroup memory for those of one scan, an item's k-th at [k·items + item]. In f32 they are in registers, which have no room for them in f64. */
export const multiplierWords = (team: Team, lasting: boolean): number => multipliers(team, lasting) * team.items;
