import type { Precision } from "../../../kernel/index.ts";
import type { EquationVariant } from "../../operator/equation-variant.ts";
import { multiplierWords, scratchWords, type Team } from "../team/team.ts";

/** The choices from which the code of an equation's kernel follows: who solves an instance, and the variant. */
export interface EquationPlan {
  readonly variant: EquationVariant;
  /** The items that solve an instance together; undefined: one item does it alone. */
  readonly team: Team | undefined;
  /** The number of these items. */
  readonly items: number;
  /** The number of nodes that each holds; undefined: one item holds all nodes. */
  readonly rows: number | undefined;
  /** True where exercise is possible at all times; by which of the methods. */
  readonly early: boolean;
  readonly penalty: boolean;
  readonly splitting: boolean;
  /** True where nodes may have values of their own. */
  readonly pins: boolean;
}

/** The plan of a kernel for a team. */
export interface TeamEquationPlan extends EquationPlan {
  readonly team: Team;
  readonly rows: number;
}

/** Tells whether a plan is that of a team. */
export const isTeam = (plan: EquationPlan): plan is TeamEquationPlan => plan.team !== undefined;

/** Returns the plan of a kernel for a variant of the equation. */
export function planOf(variant: EquationVariant, team: Team | undefined): EquationPlan {
  const { exercise, first, last, region, capacity } = variant;
  return {
    variant,
    team,
    items: team?.items ?? 1,
    rows: team && Math.ceil(capacity / team.items),
    early: exercise !== "none",
    penalty: exercise === "penalty",
    splitting: exercise === "operator-splitting",
    pins: first.kind === "dirichlet" || last.kind === "dirichlet" || region !== undefined,
  };
}

/** The number of words of `AllNodes.faults` for each item. */
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
