import { forwardOf, exerciseFactors } from "../time/forward.ts";
import { SpecError } from "../../../base/errors.ts";
import type { DiscreteDividend } from "../../../market/index.ts";
import type { Grid } from "../mesh/grid.ts";
import { type KinkedMesh, nodesOf } from "../mesh/mesh.ts";
import type { CoefficientSink } from "../operator/coefficients.ts";
import { type OneFactorProblem, valuesInLife } from "../problem/one-factor.ts";
import { BARRIERS, DIVIDEND, EVENT_FLAGS, implicitPart, stepTimes } from "../time/time-grid.ts";
import {
  discretisedProblem,
  eventReals,
  identity,
  meansOf,
  meansOverMiddle,
  putDividend,
  putEvent,
  square,
} from "./coefficients.ts";
import { type Instance, localVariances } from "./instance.ts";
import { inputCount, stepInputs } from "./option/reversed.ts";

/** Returns the number of inputs of the scheme of a grid (`weighedInputs`). */
export const inputCountOf = ({ time, shape, problem, mesh, forward }: Grid): number =>
  inputCount(time, shape, forward?.flat ?? problem, mesh.count);

/** A sum of coefficients, each times a weight of its own. */
class WeighedSum implements CoefficientSink {
  total = 0;
  readonly #weight: (k: number) => number;
  #next = 0;

  constructor(weight: (k: number) => number) {
    this.#weight = weight;
  }

  put(value: number): void {
    this.total += value * this.#weight(this.#next++);
  }
}

/**
 * Returns the sum of the inputs of a scheme, each times a weight: with the derivatives that an item computes
 * (`stepBack`) as weights, the difference of such sums of two problems is the change of the value to first order. The
 * problem is the grid's, or has moved inputs. The inputs are
 *
 *   for each step   h·σ², h·(r − q) and h·r, with the exact means over the step; h in place of h·σ² where σ² is in a
 *                   table or a surface, for a formula h times its mean over its value in the middle; for a formula and
 *                   a surface also the shift of σ; where the obstacle depends on time its two numbers after h·σ²
 *   at the end      the coefficients of events, first those at expiry; σ²S² of each node, for the shape "table"
 *
 * Unlike the coefficients of a launch they are told step by step, equal or not. In the forward coordinate they are
 * those of a mesh that does not move with the kink.
 */
export function weighedInputs(grid: Grid, problem: OneFactorProblem, weight: (k: number) => number): number {
  if (!hasDerivative(grid.problem, problem))
    throw new SpecError("slopes: the scheme has no derivative by what has moved; solve moved problems");
  const { time, shape, mesh, scheme } = grid;
  const rows = new WeighedSum(weight);
  const { spots } = grid.problem;
  const flat = grid.forward === undefined ? problem : forwardOf(problem).flat;
  const { rates, diffusion, dividendYield } = flat;
  const meanRate = meansOf(rates, identity);
  const meanVariance = diffusion.kind === "deterministic" ? meansOf(diffusion.sigma, square) : undefined;
  const ofMiddle = diffusion.kind === "formula" ? meansOverMiddle(flat, time.factored) : undefined;
  const exercise = scheme === "time-dependent" ? exerciseFactors(problem, time) : undefined;
  const kink = exercise && (problem.payoff.vanillaSign! * (mesh as KinkedMesh).kink) / spots[0];
  time.steps.forEach((step, i) => {
    const { from, to } = stepTimes(time, step);
    const h = implicitPart(step.scheme) * (to - from);
    rows.put(h * (meanVariance?.(from, to) ?? ofMiddle?.[i] ?? 1));
    if (exercise !== undefined && kink !== undefined) {
      rows.put(exercise[2 * i]);
      rows.put(kink * exercise[2 * i + 1]);
      return;
    }
    const rate = h * meanRate(from, to);
    rows.put(rate - h * dividendYield);
    rows.put(rate);
    if (stepInputs(shape) > 3 && "shift" in diffusion) rows.put(diffusion.shift);
  });
  const hasBarriers = eventReals(flat) > 0;
  if (hasBarriers) putEvent(rows, flat, grid, time.dates.length - 1);
  time.flags.forEach((flag, i) => {
    if ((flag & EVENT_FLAGS) === 0) return;
    if ((flag & DIVIDEND) !== 0) putDividend(rows, flat, grid, i);
    if (hasBarriers && (flag & BARRIERS) !== 0) putEvent(rows, flat, grid, time.steps[i].segment);
  });
  if (shape === "table")
    for (const variance of localVariances(problem, nodesOf(mesh))) rows.put(variance / (spots[0] * spots[0]));
  return rows.total;
}

/**
 * Tells whether a scheme has derivatives by the inputs in which two problems differ: it has none by nodes of a surface
 * and by numbers of a formula, but by their parallel shift, and none by dividends beside barriers.
 */
export function hasDerivative(from: OneFactorProblem, to: OneFactorProblem): boolean {
  const [a, b] = [from.diffusion, to.diffusion];
  if (a.kind !== b.kind || from.dividends.length !== to.dividends.length) return false;
  if (a.kind === "surface" && b.kind === "surface" && a.surface !== b.surface) return false;
  if (a.kind === "formula" && b.kind === "formula" && a.sigma !== b.sigma) return false;
  const isPaid = (one: DiscreteDividend, i: number): boolean =>
    one.cash === to.dividends[i].cash && one.proportional === to.dividends[i].proportional;
  return from.barriers === undefined || from.dividends.every(isPaid);
}

/**
 * Tells whether in some row of an instance's matrices drift may dominate diffusion, so that its derivatives are others
 * than the mesh's (`matrixRow`).
 */
export function isLimited(solved: Instance): boolean {
  const { grid, variance } = solved;
  const { rates, dividendYield, diffusion, expiry } = discretisedProblem(solved);
  const drift = Math.max(...valuesInLife(rates, expiry).map((rate) => Math.abs(rate - dividendYield)));
  if (drift === 0) return false;
  const least = diffusion.kind === "deterministic" ? Math.min(...valuesInLife(diffusion.sigma, expiry)) ** 2 : 0;
  const nodes = nodesOf(grid.mesh);
  for (let i = 1; i + 1 < nodes.length; i++) {
    const width = Math.max(Math.abs(nodes[i] - nodes[i - 1]), Math.abs(nodes[i + 1] - nodes[i]));
    if (drift * width * nodes[i] > (variance?.[i] ?? least * nodes[i] * nodes[i])) return true;
  }
  return false;
}
