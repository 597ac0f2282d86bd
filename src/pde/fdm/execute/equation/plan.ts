import type { Precision } from "../../../../kernel/index.ts";
import type { EquationVariant } from "../../operator/equation-variant.ts";
import { multiplierWords, scratchWords, type Team } from "../team/team.ts";

/** The choices that determine the code of an equation's kernel: the variant, and how many items solve an instance. */
export interface EquationPlan {
  readonly variant: EquationVariant;
  /** The team of items that solve an instance together; undefined where a single item does. */
  readonly team: Team | undefined;
  /** The number of items that solve an instance. */
  readonly items: number;
  /** The number of nodes of each item of a team; undefined where a single item has all nodes. */
  readonly rows: number | undefined;
  /** True with exercise at all times; `penalty` and `splitting` say by which method. */
  readonly early: boolean;
  readonly penalty: boolean;
  readonly splitting: boolean;
  /** True where the values of some nodes may be prescribed. */
  readonly pins: boolean;
}

/** The choices for a kernel in which a team of items solves an instance. */
export interface TeamEquationPlan extends EquationPlan {
  readonly team: Team;
  readonly rows: number;
}

/** Tells whether a team of items solves an instance. */
export const isTeam = (plan: EquationPlan): plan is TeamEquationPlan => plan.team !== undefined;

/** Returns the choices for a variant and a team; undefined for a single item. */
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

/** The number of integers of each item in `AllNodes.faults`. */
export const FAULT_WORDS = 4;

/**
 * The number of bytes of workgroup memory of a team: nodes and steps, three or four arrays, the memory of scans,
 * faults, and two counters.
 */
export function equationBytes(team: Team, { hasSource, capacity }: EquationVariant, precision: Precision): number {
  const perNode = hasSource ? 6 : 5;
  const kept = precision === "f32" ? 0 : 2 * multiplierWords(team, false);
  const words = perNode * capacity + kept + scratchWords(team);
  return words * (precision === "f32" ? 4 : 8) + 4 * (FAULT_WORDS * team.items + 2);
}
