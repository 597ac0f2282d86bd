import type { EngineOptions } from "./choose-backend.ts";

/** The options of the command `feynkac reproduce`. */
export interface ReproduceOptions extends EngineOptions {
  /** The number of nodes of each axis. */
  readonly nodes: number;
  /** The minimum number of time steps. */
  readonly steps: number;
  /** The number of random points of an estimate of π. */
  readonly points: number;
  /** The number of estimates of π. */
  readonly repeats: number;
  /** The number of Monte Carlo paths from which transition probabilities of quantization trees are estimated. */
  readonly paths: number;
}

/**
 * The inputs of the reproduction of a published result: its options, a signal to abort it, and a function that prints.
 */
export interface ReproductionContext {
  readonly options: ReproduceOptions;
  readonly signal: AbortSignal;
  /** Prints a line. */
  readonly say: (line: string) => void;
}

/** A published result that this program computes and whose computation it times on this machine. */
export interface Reproduction {
  readonly name: string;
  readonly title: string;
  /** The authors, the title and the year of the publication. */
  readonly source: string;
  /** Runs the reproduction. @throws CliError a size that cannot be run here; device errors */
  readonly run: (context: ReproductionContext) => Promise<void>;
}
