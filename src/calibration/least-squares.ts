/**
 * Nonlinear least squares within bounds, min ½‖r(x)‖², lower ≤ x ≤ upper, by the method of Levenberg and Marquardt.
 *
 * A step solves (JᵀJ + λD)·δ = −Jᵀr over the parameters that are free, with D the largest diagonal of JᵀJ so far (Moré,
 * *The Levenberg–Marquardt algorithm: implementation and theory*, 1978), and ends at the bounds. A parameter at a
 * bound is held there while the gradient points outwards. λ follows Nielsen, *Damping parameter in Marquardt's method*,
 * IMM-REP-1999-05. Many starts advance together, so that one launch evaluates all of them.
 *
 * Verified: test/calibration/least-squares, on problems of Moré, Garbow & Hillstrom (1981) and on bounds.
 */
import { SpecError } from "../base/errors.ts";

/** The residuals and their derivatives at one point of a least-squares problem. */
export interface Linearisation {
  readonly residuals: Float64Array;
  /** The derivatives ∂rᵢ/∂xⱼ, row by row: [residual][parameter]. */
  readonly jacobian: Float64Array;
}

/**
 * The settings of a least-squares problem, min ½‖r(x)‖² with lower ≤ x ≤ upper: its bounds, and the conditions under
 * which a search ends.
 */
export interface LeastSquaresSpec {
  /** The lower bound of each parameter. */
  readonly lower: ArrayLike<number>;
  /** The upper bound of each parameter. */
  readonly upper: ArrayLike<number>;
  /** The maximum number of evaluations from each starting point, 100 by default. */
  readonly maxEvaluations?: number;
  /** The relative step, and the relative decrease of ½‖r‖², below which the search ends; 1e-12 by default. */
  readonly tolerance?: number;
  /** The norm ‖r‖ below which the search ends, 0 by default. */
  readonly smallest?: number;
  /**
   * The initial damping λ, 1e-3 by default. Use less if the start is near the solution, or if the residuals can vanish.
   */
  readonly damping?: number;
}

/** The result of a search from one starting point. */
export interface LeastSquaresFit {
  /** The status of the search; "failed" if the residuals at the start are not finite. */
  readonly status: "converged" | "not converged" | "failed";
  readonly point: Float64Array;
  readonly residuals: Float64Array;
  /** The sum of squares ‖r‖². */
  readonly sum: number;
  readonly evaluations: number;
  /** The standard errors, NaN at a bound; see `standardErrorsOf`. */
  readonly standardErrors: Float64Array;
}

/** Residuals whose root mean square is below this are rounding, for residuals of the order of 1. */
const ROUNDING = 1e-9;

/** The largest cosine between the residuals and their derivatives with respect to a parameter at a minimum. */
const ORTHOGONAL = 1e-2;

/**
 * A search from one starting point by the method of Levenberg and Marquardt. Its user evaluates the residuals at
 * `trial` and passes them to `tell`, until `isDone`.
 */
class LevenbergMarquardt {
  /** The point at which residuals are needed next. */
  readonly trial: Float64Array;
  isDone = false;
  readonly #lower: ArrayLike<number>;
  readonly #upper: ArrayLike<number>;
  readonly #most: number;
  readonly #tolerance: number;
  readonly #smallest: number;
  readonly #point: Float64Array;
  readonly #scale: Float64Array;
  readonly #gradient: Float64Array;
  readonly #normal: Float64Array;
  readonly #step: Float64Array;
  #best: Linearisation | undefined;
  #sum = Number.POSITIVE_INFINITY;
  #damping: number;
  #increase = 2;
  #evaluations = 0;
  #hasConverged = false;

  /** @throws SpecError where the bounds are no intervals, or the start is not a number */
  constructor(start: ArrayLike<number>, spec: LeastSquaresSpec) {
    const n = start.length;
    for (let j = 0; j < n; j++) {
      if (!(spec.lower[j] <= spec.upper[j]))
        throw new SpecError(`bounds[${j}]: got ${spec.lower[j]} to ${spec.upper[j]}, expected an interval`);
      if (Number.isNaN(start[j])) throw new SpecError(`start[${j}]: got NaN, expected a number`);
    }
    this.#lower = spec.lower;
    this.#upper = spec.upper;
    this.#most = spec.maxEvaluations ?? 100;
    this.#tolerance = spec.tolerance ?? 1e-12;
    this.#smallest = spec.smallest ?? 0;
    this.#damping = spec.damping ?? 1e-3;
    this.trial = Float64Array.from(start, (x, j) => Math.min(Math.max(x, spec.lower[j]), spec.upper[j]));
    this.#point = this.trial.slice();
    this.#scale = new Float64Array(n);
    this.#gradient = new Float64Array(n);
    this.#normal = new Float64Array(n * n);
    this.#step = new Float64Array(n);
  }

  /**
   * Processes the residuals and derivatives at `trial`, which the search keeps without copying, and sets the next
   * `trial`.
   */
  tell(at: Linearisation): void {
    this.#evaluations++;
    const sum = squares(at.residuals);
    if (this.#best === undefined) {
      if (!Number.isFinite(sum)) {
        this.isDone = true;
        return;
      }
      this.#accept(at, sum);
    } else {
      const predicted = this.#predicted();
      const gain = (0.5 * (this.#sum - sum)) / predicted;
      // Rounding alone remains where the decrease that the model expects is in the last places of the sum.
      const isFlat = predicted <= this.#tolerance * 0.5 * this.#sum;
      if (sum <= this.#sum && Number.isFinite(sum)) {
        const isSmall = this.#isSmallStep();
        this.#accept(at, sum);
        this.#damping *= Math.max(1 / 3, 1 - (2 * gain - 1) ** 3);
        this.#increase = 2;
        if (isFlat || isSmall) this.#end(true);
      } else {
        this.#damping *= this.#increase;
        this.#increase *= 2;
        if (isFlat || this.#isSmallStep()) this.#end(true);
      }
    }
    if (Math.sqrt(this.#sum) <= this.#smallest) this.#end(true);
    while (!this.isDone && !this.#propose()) {
      this.#damping = Math.max(this.#damping, 1e-12) * 10;
      if (this.#damping > 1e12) this.#end(false);
    }
    if (this.#evaluations >= this.#most) this.#end(this.#hasConverged);
  }

  /** The best point so far, with its residuals and standard errors. */
  get fit(): LeastSquaresFit {
    const best = this.#best ?? { residuals: new Float64Array(0), jacobian: new Float64Array(0) };
    const isFree = Array.from(this.#point, (x, j) => x > this.#lower[j] && x < this.#upper[j]);
    return {
      status: this.#best === undefined ? "failed" : this.#hasConverged ? "converged" : "not converged",
      point: this.#point,
      residuals: best.residuals,
      sum: this.#sum,
      evaluations: this.#evaluations,
      get standardErrors() {
        return standardErrorsOf(best, isFree);
      },
    };
  }

  #end(hasConverged: boolean): void {
    this.isDone = true;
    this.#hasConverged = hasConverged && this.#isStationary();
  }

  /**
   * Tells whether the residuals are nearly orthogonal to their derivatives, or rounding alone. Where they are neither,
   * no step has helped although one should: at a kink, or with wrong derivatives.
   */
  #isStationary(): boolean {
    const n = this.trial.length;
    const size = Math.sqrt(this.#sum);
    if (size <= Math.max(this.#smallest, ROUNDING * Math.sqrt(this.#best?.residuals.length ?? 0))) return true;
    // A decrease by τ of the sum of squares, at which a search may end, is a cosine of √τ.
    const most = Math.max(ORTHOGONAL, 2 * Math.sqrt(this.#tolerance)) * size;
    return this.#gradient.every(
      (slope, j) => !this.#isFree(j) || Math.abs(slope) <= most * Math.sqrt(this.#normal[j * n + j]),
    );
  }

  #accept(at: Linearisation, sum: number): void {
    this.#best = at;
    this.#sum = sum;
    this.#point.set(this.trial);
    const n = this.trial.length;
    const { residuals, jacobian } = at;
    const [normal, gradient] = [this.#normal.fill(0), this.#gradient.fill(0)];
    for (let i = 0; i < residuals.length; i++) {
      const row = i * n;
      for (let j = 0; j < n; j++) {
        const slope = jacobian[row + j];
        if (slope === 0) continue;
        gradient[j] += slope * residuals[i];
        for (let k = 0, into = j * n; k <= j; k++) normal[into + k] += slope * jacobian[row + k];
      }
    }
    for (let j = 0; j < n; j++) this.#scale[j] = Math.max(this.#scale[j], this.#normal[j * n + j]);
  }

  /** Tells whether x may move in the direction of −gradient. */
  #isFree(j: number): boolean {
    const x = this.#point[j];
    const slope = this.#gradient[j];
    return this.#scale[j] > 0 && !(x <= this.#lower[j] && slope >= 0) && !(x >= this.#upper[j] && slope <= 0);
  }

  /**
   * The next trial, or false if the damped matrix is not positive definite. A parameter whose step would leave the
   * bounds goes to its bound, and the step of the others is solved for again with that given.
   */
  #propose(): boolean {
    const n = this.trial.length;
    const free = Array.from({ length: n }, (_, j) => j).filter((j) => this.#isFree(j));
    if (free.length === 0) {
      this.#end(true);
      return true;
    }
    this.#step.fill(0);
    for (let open = free; open.length > 0;) {
      const matrix = this.#freeNormal(open, this.#damping);
      if (!cholesky(matrix, open.length)) return false;
      const right = Float64Array.from(open, (j) => this.#steepest(j));
      solveCholesky(matrix, open.length, right);
      const kept = open.filter((j, row) => {
        const step = Math.min(Math.max(right[row], this.#lower[j] - this.#point[j]), this.#upper[j] - this.#point[j]);
        this.#step[j] = step;
        return step === right[row];
      });
      if (kept.length === open.length) break;
      for (const j of kept) this.#step[j] = 0;
      open = kept;
    }
    for (let j = 0; j < n; j++)
      this.trial[j] = Math.min(Math.max(this.#point[j] + this.#step[j], this.#lower[j]), this.#upper[j]);
    return true;
  }

  /** −∂/∂xⱼ of ½‖r‖² where the parameters that go to a bound have taken their steps, and the others none. */
  #steepest(j: number): number {
    const n = this.trial.length;
    let slope = this.#gradient[j];
    for (let k = 0; k < n; k++)
      if (this.#step[k] !== 0) slope += this.#normal[Math.max(j, k) * n + Math.min(j, k)] * this.#step[k];
    return -slope;
  }

  #freeNormal(free: readonly number[], damping: number): Float64Array {
    const n = this.trial.length;
    const size = free.length;
    const matrix = new Float64Array(size * size);
    for (let a = 0; a < size; a++) {
      for (let b = 0; b <= a; b++) matrix[a * size + b] = this.#normal[free[a] * n + free[b]];
      matrix[a * size + a] += damping * this.#scale[free[a]];
    }
    return matrix;
  }

  /** The decrease of ½‖r‖² that the linearised residuals promise for the step. */
  #predicted(): number {
    const n = this.trial.length;
    let decrease = 0;
    for (let j = 0; j < n; j++) {
      let row = 0;
      for (let k = 0; k < n; k++) row += this.#normal[Math.max(j, k) * n + Math.min(j, k)] * this.#step[k];
      decrease -= this.#step[j] * (this.#gradient[j] + 0.5 * row);
    }
    return Math.max(decrease, Number.MIN_VALUE);
  }

  #isSmallStep(): boolean {
    return this.#step.every((step, j) => Math.abs(step) <= this.#tolerance * (Math.abs(this.#point[j]) + 1e-9));
  }
}

/**
 * Returns the standard errors √((JᵀJ)⁻¹ⱼⱼ·‖r‖²/(m − n)) of the free parameters, with m residuals and n free parameters.
 * They are NaN for the other parameters, and for all parameters if m ≤ n or JᵀJ is singular.
 */
export function standardErrorsOf({ residuals, jacobian }: Linearisation, isFree: readonly boolean[]): Float64Array {
  const n = isFree.length;
  const errors = new Float64Array(n).fill(Number.NaN);
  const free = Array.from({ length: n }, (_, j) => j).filter((j) => isFree[j]);
  const size = free.length;
  const freedom = residuals.length - n;
  if (freedom <= 0) return errors;
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < residuals.length; i++)
    for (let a = 0; a < size; a++)
      for (let b = 0; b <= a; b++) matrix[a * size + b] += jacobian[i * n + free[a]] * jacobian[i * n + free[b]];
  if (!cholesky(matrix, size)) return errors;
  const variance = squares(residuals) / freedom;
  free.forEach((j, row) => {
    const unit = new Float64Array(size);
    unit[row] = 1;
    solveCholesky(matrix, size, unit);
    errors[j] = Math.sqrt(unit[row] * variance);
  });
  return errors;
}

/** Returns the fit from one starting point. The residuals are evaluated on the calling thread. */
export function leastSquares(
  start: ArrayLike<number>,
  spec: LeastSquaresSpec,
  evaluate: (point: Float64Array) => Linearisation,
): LeastSquaresFit {
  const search = new LevenbergMarquardt(start, spec);
  while (!search.isDone) search.tell(evaluate(search.trial));
  return search.fit;
}

/**
 * Runs the searches from many starting points together: the generator yields the points of all searches, receives their
 * residuals and derivatives, and returns the fits.
 */
export function* leastSquaresSearches(
  starts: readonly ArrayLike<number>[],
  spec: LeastSquaresSpec,
): Generator<readonly Float64Array[], LeastSquaresFit[], readonly Linearisation[]> {
  const searches = starts.map((start) => new LevenbergMarquardt(start, spec));
  for (;;) {
    const open = searches.filter(({ isDone }) => !isDone);
    if (open.length === 0) return searches.map(({ fit }) => fit);
    const found = yield open.map(({ trial }) => trial);
    open.forEach((search, i) => search.tell(found[i]));
  }
}

/**
 * Returns the fits from many starting points. The residuals of all of them are evaluated together, for instance in one
 * launch on a device.
 */
export async function leastSquaresBatch(
  starts: readonly ArrayLike<number>[],
  spec: LeastSquaresSpec,
  evaluate: (points: readonly Float64Array[]) => Promise<readonly Linearisation[]>,
): Promise<LeastSquaresFit[]> {
  const searches = leastSquaresSearches(starts, spec);
  let step = searches.next();
  while (step.done !== true) step = searches.next(await evaluate(step.value));
  return step.value;
}

function squares(residuals: Float64Array): number {
  let sum = 0;
  for (const residual of residuals) sum += residual * residual;
  return sum;
}

/** L in place of the lower triangle of A, or false where A is not positive definite to rounding. */
function cholesky(a: Float64Array, size: number): boolean {
  for (let j = 0; j < size; j++) {
    const before = a[j * size + j];
    for (let i = j; i < size; i++) {
      let sum = a[i * size + j];
      for (let k = 0; k < j; k++) sum -= a[i * size + k] * a[j * size + k];
      if (i > j) a[i * size + j] = sum / a[j * size + j];
      else if (sum > 1e-15 * before) a[j * size + j] = Math.sqrt(sum);
      else return false;
    }
  }
  return true;
}

/** x in place of b, with L·Lᵀ·x = b. */
function solveCholesky(l: Float64Array, size: number, b: Float64Array): void {
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) b[i] -= l[i * size + k] * b[k];
    b[i] /= l[i * size + i];
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) b[i] -= l[k * size + i] * b[k];
    b[i] /= l[i * size + i];
  }
}
