import { type CallOptions, type Device, offeredPrecision, withDevice } from "../../device/index.ts";
import type { Precision, UserFunctions } from "../../kernel/index.ts";
import type { WorkOptions } from "../../base/event-loop.ts";
import { isObject, knownKeys } from "../../base/argument-checks.ts";
import type { AnyProblem, EquationProblem } from "./problem/equation.ts";
import { axesModelOf, oneAxisModelOf } from "./model/full-grid.ts";
import { placed } from "./problem/place.ts";
import { axesOf, MAX_AXES, PROBLEM_KEYS } from "./problem/settings.ts";
import type { AxesSolution } from "./read/axes-solution.ts";
import type { Solution } from "./read/equation-solution.ts";
import { movedProblem } from "./read/columns.ts";
import { solveOnAxes, solveOnAxis } from "./solve-entries.ts";

/** True where a type of names has more than one. */
type HasSeveral<A extends string, Each = A> = Each extends unknown ? ([A] extends [Each] ? false : true) : never;

/** The result type of `solve`: `Solution` for one axis, `AxesSolution` for several. @experimental */
export type SolutionOn<A extends string> = true extends HasSeveral<A> ? AxesSolution<A> : Solution;

/**
 * Solves a parabolic equation on one to three axes that you write, backward from its terminal condition to today,
 *
 *   ∂V/∂t + SS ∂²V/∂S² + S ∂V/∂S + V·V + source = 0,
 *
 * on several axes with all first, second and mixed derivatives, for all entries of its parameters at once: one
 * compilation, one launch. docs/pde.md shows how to write a problem.
 *
 * An entry that fails has an `error`, and the others are solved. It fails by its parameters, by coefficients that are
 * not finite, by a negative diffusion, or by a loop in one of its functions that does not end. The event loop keeps
 * running during the solution.
 *
 * Accuracy: second order in space, and in time by the default scheme; see `errorEstimate` and `extrapolate`.
 * Verified: test/pde/fdm/equation and test/pde/fdm/axes, against closed forms and published prices.
 *
 * @param problem the axes, the equation, the terminal condition, and whatever else it has. Times are in years.
 * @param options the device, a signal that ends the solution, and a callback for its progress in stages of time steps.
 * @returns one solution per entry of the parameters, in order.
 * @throws SpecError or KernelError with the place in the problem and in your code, and the remedy (that of an entry if
 *   all entries fail before they are solved); PrecisionError; the signal's reason; whatever the device throws.
 * @example
 * import { solve } from "feynkac";
 *
 * const { entries } = await solve({
 *   axes: { S: { from: 0, to: "4*K", points: ["K"] } },
 *   parameters: { K: 100, r: 0.05, sigma: [0.2, 0.3] },
 *   equation: ({ S, r, sigma }) => ({ SS: 0.5 * sigma ** 2 * S ** 2, S: r * S, V: -r }),
 *   terminal: ({ S, K }) => Math.max(K - S, 0),
 *   expiry: 1,
 *   conditions: [{ kind: "exercise", payoff: ({ S, K }) => Math.max(K - S, 0) }],
 * });
 * for (const entry of entries) console.log(entry.parameters["sigma"], entry.at(100).value.toFixed(2));
 * // 0.2 6.09; then 0.3 9.87
 * @stable
 */
export async function solve<
  const A extends string,
  const P extends string = never,
  C extends string = never,
  F extends UserFunctions = Record<never, never>,
>(problem: EquationProblem<A, P, C, F>, options: CallOptions = {}): Promise<SolutionOn<A>> {
  const called = new Error("solve");
  try {
    isObject("solve's second argument", options, "an object with device, signal, onProgress");
    knownKeys("", options, ["device", "signal", "onProgress"]);
    const given = problem as unknown as AnyProblem;
    // What is wrong with a problem is said before a device is opened.
    const solver = solverOf(given, options, called);
    const wanted = given.precision ?? "f64";
    return (await withDevice(options.device, given, (device) => solver(device, wanted))) as SolutionOn<A>;
  } catch (error) {
    throw placed(error, called);
  }
}

/** Solves a problem that has been understood on a device. */
function solverOf(
  problem: AnyProblem,
  options: WorkOptions,
  called: Error,
): (device: Device, wanted: Precision) => Promise<Solution | AxesSolution> {
  const isOne = axesOf(problem, PROBLEM_KEYS, MAX_AXES).length === 1;
  const moved = movedProblem(problem);
  const solver = isOne
    ? solveOnAxis.bind(undefined, oneAxisModelOf(moved.problem))
    : solveOnAxes.bind(undefined, axesModelOf(moved.problem));
  return async (device, wanted) =>
    solver(moved, { ...options, device, called, wanted: await offeredPrecision(device, wanted) });
}
