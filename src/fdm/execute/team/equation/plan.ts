import type { Precision } from "../../../../kernel/index.ts";
import type { EquationVariant } from "../../../operator/equation-variant.ts";
import { multiplierWords, partsOf, scratchWords, type Team } from "../team.ts";

/** The choices from which a team kernel's code follows: its team and the variant of the equation. */
export interface EquationPlan {
  readonly team: Team;
  readonly variant: EquationVariant;
  /** The number of rows of an item's run. */
  readonly rows: number;
  readonly parts: number;
  /** True where exercise is possible at all times; by which of the methods. */
  readonly early: boolean;
  readonly penalty: boolean;
  readonly splitting: boolean;
  /** True where nodes may have values of their own. */
  readonly pins: boolean;
}

/** Returns the plan of a team kernel for a variant of the equation. */
export function planOf(variant: EquationVariant, team: Team): EquationPlan {
  const { exercise, first, last, region, capacity } = variant;
  const rows = Math.ceil(capacity / team.items);
  return {
    team,
    variant,
    rows,
    parts: partsOf(rows).count,
    early: exercise !== "none",
    penalty: exercise === "penalty",
    splitting: exercise === "operator-splitting",
    pins: first.kind === "dirichlet" || last.kind === "dirichlet" || region !== undefined,
  };
}

/** The number of words of `Memory.faults` for each item. */
export const FAULT_WORDS = 4;

/**
 * The number of bytes of workgroup memory: nodes and steps, three or four arrays, the scans' memory, faults, and two
 * counters.
 */
export function equationBytes(team: Team, { hasSource, capacity }: EquationVariant, precision: Precision): number {
  const perNode = hasSource ? 6 : 5;
  const kept = precision === "f32" ? 0 : 2 * multiplierWords(team, false);
  const words = perNode * capacity + kept + scratchWords(team);
  return words * (precision === "f32" ? 4 : 8) + 4 * (FAULT_WORDS * team.items + 2);
}
