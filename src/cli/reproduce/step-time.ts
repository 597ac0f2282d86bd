import type { Progress } from "../../device/index.ts";
import type { AxesEntrySolution, AxesSolution } from "../../fdm/index.ts";
import { CliError } from "../failure.ts";

/** Time steps that `solve` takes at most. */
const MAX_STEPS = 100_000;
/** The factor by which more steps are tried if there were too few to measure. */
const MORE = 8;

/** The measured time of a step of a time loop. */
export interface StepTime<A extends string> {
  readonly seconds: number;
  /** The number of measured steps. */
  readonly measured: number;
  readonly steps: number;
  readonly entry: AxesEntrySolution<A>;
  readonly precision: AxesSolution<A>["precision"];
}

/**
 * Measures the time of a step of a time loop from the progress that `solve` reports. The first launch is excluded,
 * because it compiles, sets the terminal values and factors; so is the last one, which reads. With fewer than three
 * launches more steps are taken.
 *
 * @param run solves a problem in so many time steps.
 * @throws CliError if even the most steps are a launch or two
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
