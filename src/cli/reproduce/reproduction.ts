import type { EngineOptions } from "../choose-backend.ts";

/** The options of `feynkac reproduce`. */
export interface ReproduceOptions extends EngineOptions {
  /** The number of nodes of each axis. */
  readonly nodes: number;
  /** The minimum number of time steps. */
  readonly steps: number;
  /** The number of points of an estimate of π. */
  readonly points: number;
  readonly repeats: number;
  /** The number of paths of quantization trees. */
  readonly paths: number;
}

/** The options of a reproduction, and its output. */
export interface Surroundings {
  readonly options: ReproduceOptions;
  readonly signal: AbortSignal;
  /** Writes a line. */
  readonly say: (line: string) => void;
}

/** A published result that this program computes and times on the machine at hand. */
export interface Reproduction {
  readonly name: string;
  readonly title: string;
  /** The author, work and year. */
  readonly source: string;
  /** Runs the reproduction. @throws CliError a size that cannot be run here; device errors */
  readonly run: (surroundings: Surroundings) => Promise<void>;
}
