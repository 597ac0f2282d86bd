/** The minimisation of smooth functions of many variables, by the limited-memory BFGS method. */

/** The result of `minimise`. */
export interface MinimisationResult {
  /**
   * True if the search ended because `isEnough` returned true, or because ten iterations decreased the function by less
   * than the relative `gain`.
   */
  readonly hasConverged: boolean;
  readonly point: Float64Array;
  readonly evaluations: number;
}

/** Pairs of steps and changes of the gradient that are kept. */
const MEMORY = 12;

/** The settings of `minimise`. */
interface MinimiseSpec {
  /** The relative decrease over ten iterations below which the search ends. */
  readonly gain: number;
  readonly maxEvaluations: number;
  /** A function that returns true to end the search after an evaluation that is good enough. */
  readonly isEnough: () => boolean;
}

/** The decrease that a step must have, as a part of what the slope promises. */
const ARMIJO = 1e-4;

/**
 * Minimises a function f from `start` by the L-BFGS method with backtracking. `evaluate` returns f at a point and
 * writes its gradient. Cost for each iteration: one evaluation, and 4·12 operations on vectors. Source: Nocedal &
 * Wright, *Numerical Optimization*, 2006, algorithms 7.4 and 7.5.
 */
export function minimise(
  start: Float64Array,
  evaluate: (point: Float64Array, gradient: Float64Array) => number,
  { gain, maxEvaluations, isEnough }: MinimiseSpec,
): MinimisationResult {
  let point = start.slice();
  let gradient = new Float64Array(start.length);
  let value = evaluate(point, gradient);
  const values = [value];
  const kept: { readonly step: Float64Array; readonly change: Float64Array; readonly product: number }[] = [];
  let evaluations = 1;
  while (!isEnough() && !(values.length > 10 && values[values.length - 11] - value <= gain * value)) {
    const direction = gradient.map((slope) => -slope);
    const shares: number[] = [];
    for (let i = kept.length - 1; i >= 0; i--) {
      shares[i] = dot(kept[i].step, direction) / kept[i].product;
      add(direction, -shares[i], kept[i].change);
    }
    const last = kept.at(-1);
    const scale =
      last === undefined ? 1 / Math.sqrt(dot(gradient, gradient)) : last.product / dot(last.change, last.change);
    for (let i = 0; i < direction.length; i++) direction[i] *= scale;
    kept.forEach(({ step, change, product }, i) => {
      add(direction, shares[i] - dot(change, direction) / product, step);
    });
    const slope = dot(gradient, direction);
    let length = 1;
    const next = new Float64Array(point.length);
    const there = new Float64Array(point.length);
    for (;;) {
      if (evaluations >= maxEvaluations) return { hasConverged: false, point, evaluations };
      for (let i = 0; i < next.length; i++) next[i] = point[i] + length * direction[i];
      const found = evaluate(next, there);
      evaluations++;
      if (found <= value + ARMIJO * length * slope) {
        value = found;
        break;
      }
      length *= 0.3;
      // No decrease is left but rounding.
      if (length < 1e-8) return { hasConverged: true, point, evaluations };
    }
    const step = next.map((x, i) => x - point[i]);
    const change = there.map((x, i) => x - gradient[i]);
    const product = dot(step, change);
    if (product > 0) kept.push({ step, change, product });
    if (kept.length > MEMORY) kept.shift();
    values.push(value);
    point = next;
    gradient = there;
  }
  return { hasConverged: true, point, evaluations };
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

function add(to: Float64Array, factor: number, from: Float64Array): void {
  for (let i = 0; i < to.length; i++) to[i] += factor * from[i];
}
