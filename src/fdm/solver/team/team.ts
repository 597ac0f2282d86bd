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
