import type { Progress } from "../../src/device/index.ts";
import type { AxesEntrySolution, AxesSolution } from "../../src/pde/fdm/index.ts";
import { CliError } from "../../src/cli/failure.ts";

/** The maximum number of time steps in one call of `solve`. */
const MAX_STEPS = 100_000;
/** The factor by which the number of steps is increased if the measured time is too short. */
const MORE = 8;

/** The measured time of a time step. */
export interface StepTime<A extends string> {
  readonly seconds: number;
  /** The number of measured steps. */
  readonly measured: number;
  readonly steps: number;
  readonly entry: AxesEntrySolution<A>;
  readonly precision: AxesSolution<A>["precision"];
}

/**
 * Measures the time of a time step from the progress that `run` reports after each launch. The first launch is
 * excluded, because it compiles kernels, sets the terminal values and factorises; the last one is excluded, because it
 * reads results. With fewer than three launches the number of steps grows.
 *
 * @param run solves a problem in a given number of time steps.
 * @param first the number of time steps to begin with.
 * @throws CliError if even the maximum number of steps takes fewer than three launches
 */
export async function timeStep<A extends string>(
  run: (
    steps: number,
    onProgress: (progress: Progress) => void,
  ) => Promise<Pick<AxesSolution<A>, "entries" | "precision">>,
  first: number,
): Promise<StepTime<A>> {
  for (let steps = first; steps <= MAX_STEPS; steps *= MORE) {
    const launches: { readonly done: number; readonly at: number }[] = [];
    const { entries, precision } = await run(steps, ({ done }) => launches.push({ done, at: performance.now() }));
    const [begin, end] = [launches[0], launches[launches.length - 2]];
    if (launches.length < 3) continue;
    const measured = end.done - begin.done;
    return { seconds: (end.at - begin.at) / 1e3 / measured, measured, steps, entry: entries[0], precision };
  }
  throw new CliError(`a step is too short to measure by ${MAX_STEPS} of them; take more nodes: --nodes 64`);
}
