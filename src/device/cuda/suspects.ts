/** Kernels launched and not yet known to be complete: when the device faults, it was one of these. */
import type { Program } from "./program/program.ts";

/** The kernels that are launched and not yet known to be complete. If the device fails, one of them is the cause. */
export class SuspectKernels {
  readonly #programs = new Set<Program>();
  /** The number of launches so far. */
  sequence = 0;

  launched(program: Program): void {
    program.lastLaunch = ++this.sequence;
    this.#programs.add(program);
  }

  /** Records that all launches up to number `sequence` are complete. */
  complete(sequence: number): void {
    for (const program of this.#programs) if (program.lastLaunch <= sequence) this.#programs.delete(program);
  }

  /** Returns "kernel a", or "one of the kernels a, b" in the order of their last launches. */
  describe(): string {
    const last = [...this.#programs].sort((a, b) => a.lastLaunch - b.lastLaunch).map(({ signature }) => signature.name);
    const names = [...new Set(last)];
    if (names.length === 0) return "no kernel under way";
    return names.length === 1 ? `kernel ${names[0]}` : `one of the kernels ${names.join(", ")}`;
  }
}
