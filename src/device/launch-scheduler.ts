import { WorkProgress } from "../base/event-loop.ts";
import type { Device } from "./device.ts";

/**
 * The intended duration in milliseconds of a launch on the host's own thread. Below: of a launch that runs elsewhere,
 * whose submission has a cost.
 */
const HERE = 8;
const ELSEWHERE = 60;
/**
 * The assumed time in nanoseconds of one stage at one node on one thread, before anything is measured and without
 * costly user functions. It determines the size of the first launch.
 */
const FIRST_PACE = { cpu: 12, cuda: 2e-3, webgpu: 5e-2 } as const;

/**
 * The sizes of a time-stepping computation and of the launches in which it runs. The program of the computation is a
 * list of rows, each of which describes one or more time steps.
 */
export interface LaunchSizes {
  /** The number of rows of the program. */
  readonly rows: number;
  /** The smallest number of rows in a launch. */
  readonly fewest: number;
  /** The largest number of rows in a launch; unbounded by default. */
  readonly most?: number;
  /** The work of a row: the number of mesh nodes times the number of stages of the time-stepping scheme. */
  readonly work: number;
  /** The number of problems that advance side by side, for the progress report. */
  readonly instances: number;
}

/**
 * A scheduler that divides a time-stepping computation into short launches, so that the host stays responsive. It
 * measures the speed of each launch, chooses the length of the next one, and reports progress.
 */
export class LaunchScheduler extends WorkProgress {
  /**
   * The measured time in nanoseconds of one stage at one node of one entry, and, below, the intended duration of a
   * launch.
   */
  #pace: number;
  #aim = HERE;

  constructor({ backend, threads }: Device, ...of: ConstructorParameters<typeof WorkProgress>) {
    super(...of);
    this.#pace = FIRST_PACE[backend] / threads;
  }

  /**
   * Runs the program of `rows` rows in several launches. Each launch has at least `fewest` and at most `most` rows, and
   * otherwise as many as keep it short. `launch` records the rows from `first` to `end` − 1. It may return a promise
   * for the end of this launch; otherwise everything recorded on the device is awaited.
   * @throws the signal's reason, between two launches
   */
  async inParts(
    device: Device,
    { rows, fewest, most = rows, work, instances }: LaunchSizes,
    launch: (first: number, end: number) => Promise<unknown> | void,
  ): Promise<void> {
    for (let first = 0, end = 0; first < rows; first = end) {
      end = first + Math.min(most, Math.max(fewest, Math.floor(this.share / work)));
      if (rows - end < fewest) end = rows;
      const start = performance.now();
      const complete = launch(first, end);
      const returned = performance.now() - start;
      await (complete ?? device.finish());
      this.measured(work * (end - first), returned, performance.now() - start);
      await this.done(instances * (end - first));
    }
  }

  /** The amount of work, in nodes times stages, that the next launch should have. */
  get share(): number {
    return (this.#aim * 1e6) / this.#pace;
  }

  /**
   * Takes account of a launch of `work` nodes times stages. Its durations in milliseconds are those until `launch`
   * returned and until the launch was complete.
   */
  measured(work: number, returned: number, complete: number): void {
    // It may have been slow once, for code that was not optimised yet: half of what is new.
    this.#pace = Math.max(0.5 * (this.#pace + (complete * 1e6) / work), 1e-4);
    this.#aim = 2 * returned > complete ? HERE : ELSEWHERE;
  }
}
