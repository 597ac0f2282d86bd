/** The kernel that carries a batch of one-factor problems from expiry to today. */
export {
  CRANK_NICOLSON,
  type DiffusionShape,
  DIVIDEND,
  type ExerciseScheme,
  REFACTOR,
  solverKernel,
  type SolverVariant,
} from "./kernel.ts";
export { CLOSED_WORDS, teamKernel, teamWords } from "./team/kernel.ts";
export { SUBGROUP, type Team, WORKGROUP } from "./team/team.ts";
