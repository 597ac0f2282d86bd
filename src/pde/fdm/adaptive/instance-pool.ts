import type { BatchSolver } from "../execute/batch.ts";
import type { Instance } from "../execute/instance.ts";
import type { InstanceValues } from "../read/solution.ts";

/**
 * The instances of a batch in the order in which they are solved; they are referred to by index. The two solutions of
 * an extrapolation are neighbours: the fine one, then the one with every second node and half the time steps.
 */
export class InstancePool {
  readonly #instances: Instance[] = [];
  readonly #drift: number[] = [];
  readonly #values: InstanceValues[] = [];

  /** The number of instances. */
  get count(): number {
    return this.#instances.length;
  }

  /** The number of solved instances, which come first. */
  get solved(): number {
    return this.#values.length;
  }

  /**
   * Adds an instance; `drift` is the `cellPeclet` of the fine mesh of its pair, above 1 where drift dominates
   * diffusion.
   */
  add(instance: Instance, drift: number): void {
    this.#instances.push(instance);
    this.#drift.push(drift);
  }

  /** Removes the instances from index `count` on, none of which is solved. */
  truncate(count: number): void {
    this.#instances.length = count;
    this.#drift.length = count;
  }

  instance(number: number): Instance {
    return this.#instances[number];
  }

  /** Returns the ratio of drift to diffusion with which an instance was added. */
  drift(number: number): number {
    return this.#drift[number];
  }

  /** Returns the values read from a solved instance. */
  values(number: number): InstanceValues {
    const values = this.#values[number];
    if (values === undefined) throw new Error("an instance is read before it is solved");
    return values;
  }

  /**
   * Solves the next instances, up to index `end` (excluded). @throws the signal's reason; device errors; then none is
   * solved
   */
  async solve(solver: BatchSolver, end: number, signal: AbortSignal | undefined): Promise<void> {
    for (const values of await solver.solve(this.#instances.slice(this.solved, end), signal)) this.#values.push(values);
  }

  /** Skips the next instances, up to index `end` (excluded), whose results nobody reads. */
  skip(end: number): void {
    this.#values.length = end;
  }
}
