/** The kernel that carries a batch of one-factor problems from expiry to today. */
export { barrierWords, CROSSING_WORDS } from "./barrier.ts";
export { crossInWords, knockInWords, WAITING_END } from "./knock-in.ts";
export { CLOSED_WORDS, coefficientWords } from "./rows.ts";
export {
  ALEXANDER,
  ALEXANDER_GAMMA,
  BARRIERS,
  CRANK_NICOLSON,
  DIVIDEND,
  EXERCISE,
  REFACTOR,
  runsOfSteps,
  SECOND,
  stepsOfRun,
} from "./flags.ts";
export {
  type DiffusionShape,
  type ExerciseScheme,
  KEPT_FACTORS,
  MOST_VARIANTS,
  solverKernel,
  type SolverVariant,
  variantName,
} from "./kernel.ts";
export { valueAfterJump } from "./dividend.ts";
export { LEAST } from "./least.ts";
export { matrixRow, rowWeight } from "./matrix.ts";
export { EXERCISED, pointWords } from "./point.ts";
export { PIECE_WORDS } from "./surface.ts";
export { teamKernel, teamWords } from "./team/kernel.ts";
export { groupSize, HALF_SUBGROUP, SUBGROUP, type Team, WORKGROUP } from "./team/team.ts";
