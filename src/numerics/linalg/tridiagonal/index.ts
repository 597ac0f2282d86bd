/** Batched tridiagonal systems on every device. */
export { solveTridiagonal, type HostOptions, type HostSolution, type HostSystem } from "./host.ts";
export { TridiagonalSolver, type TridiagonalMatrix, type TridiagonalSystem } from "./solver.ts";
export {
  tridiagonalSpec,
  type Algorithm,
  type Placement,
  type TridiagonalOptions,
  type TridiagonalSpec,
} from "./spec.ts";
export { describeStatus, type Failure, type SystemStatus } from "./status.ts";
