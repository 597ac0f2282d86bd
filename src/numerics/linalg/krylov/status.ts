/** The way in which the solution of one system ended. @stable */
export type KrylovStatus =
  /** The residual of the solution, computed from A, b and x, is as small as was asked for. */
  | "converged"
  /** `maxIterations` were not enough. */
  | "max-iterations"
  /** A quantity that the iteration divides by is zero, or cg met a matrix that is not positive definite. */
  | "breakdown"
  /** No smaller residual for `patience` iterations, or rounding keeps the residual above the tolerance. */
  | "stagnation"
  /** An infinity or a NaN appeared, or was in the input. */
  | "not-finite";

/**
 * The result of the solution of one system. There is no error estimate of x: ‖x − A⁻¹b‖ ≤ ‖A⁻¹‖·residual, and an
 * iteration does not know the norm of A⁻¹.
 * @stable
 */
export interface KrylovResult {
  readonly status: KrylovStatus;
  readonly iterations: number;
  /** The residual ‖b − A·x‖₂, computed from A, b and x at the end, not from the recurrences of the iteration. */
  readonly residual: number;
  /** The residual divided by ‖b‖₂; the residual itself if b is zero. */
  readonly relativeResidual: number;
}

/** The codes by which the device stores a status. */
export const statusCodes = {
  RUNNING: 0,
  CONVERGED: 1,
  BREAKDOWN: 2,
  STAGNATION: 3,
  NOT_FINITE: 4,
  /** b = 0, so that x = 0. */
  ZERO: 5,
  /** The recurrences say that it has converged; the true residual does not. */
  MISSED: 6,
} as const;

/**
 * Returns the result of a system from the code of its status, its iterations, and the norms of its residual and
 * right-hand side.
 */
export const krylovResultOf = (word: number, iterations: number, residual: number, rhs: number): KrylovResult => ({
  status: statusOf(word),
  iterations,
  residual,
  relativeResidual: rhs === 0 ? residual : residual / rhs,
});

/** The status of a code. */
function statusOf(word: number): KrylovStatus {
  switch (word) {
    case statusCodes.CONVERGED:
    case statusCodes.ZERO:
      return "converged";
    case statusCodes.BREAKDOWN:
      return "breakdown";
    case statusCodes.STAGNATION:
    case statusCodes.MISSED:
      return "stagnation";
    case statusCodes.NOT_FINITE:
      return "not-finite";
    default:
      return "max-iterations";
  }
}
