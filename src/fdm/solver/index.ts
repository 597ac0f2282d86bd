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
export { WORKGROUP_ITEMS, workgroupKernel, workgroupWords } from "./workgroup/kernel.ts";
