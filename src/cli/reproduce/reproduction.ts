import type { EngineOptions } from "../choose-backend.ts";

export interface ReproduceOptions extends EngineOptions {
  /** The number of nodes of each axis. */
  readonly nodes: number;
  /** Time steps, at least. */
  readonly steps: number;
  /** The number of points of an estimate of π, and how many estimates. */
  readonly points: number;
  readonly repeats: number;
  /** The paths of quantization trees. */
  readonly paths: number;
}

/** The surroundings of a reproduction: its options, and where it tells what. */
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
  /** Author, work and year. */
  readonly source: string;
  /** @throws CliError what cannot be run here, or as small; whatever devices throw */
  readonly run: (surroundings: Surroundings) => Promise<void>;
}
