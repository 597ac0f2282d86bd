import type { Resolution } from "../execute/grid.ts";
import type { ErrorModel } from "./error-model.ts";
import { power } from "../../../base/elementary.ts";

/** Nodes of a mesh, 4k + 1, and time steps, even: few, and a factor of √2 apart, so that many trades have the same. */
const NODES = [57, 81, 113, 161, 225, 321, 449, 641, 897, 1281, 1793, 2561, 4097];
const STEPS = [16, 24, 36, 48, 72, 96, 144, 192, 288, 384, 576, 768, 1152];

/**
 * The leading errors of a value in space and in time, relative to the spot, observed on two meshes and two time grids.
 */
export interface Observed {
  /** The leading error in space. */
  readonly inSpace: number;
  /** The leading error in time. */
  readonly inTime: number;
  /** The sum of the absolute leading errors of space and time. */
  readonly total: number;
  /** The largest error that comes from the exercise boundary lying between two nodes; it falls as h². */
  readonly noise: number;
  /**
   * The factor by which the mesh must be refined for diffusion to outweigh drift on the coarse mesh too; at most 1
   * where it already does.
   */
  readonly drift: number;
}

/**
 * The resolution at which all trades of one kind start. At the default accuracy it suffices for four fifths of the
 * reference cases. `accuracy` is the target error relative to the spot.
 */
export function firstResolution(
  accuracy: number,
  { first }: ErrorModel,
  greeks: boolean,
  maxNodes: number,
): Resolution {
  const { nodes, steps } = accuracy >= 1e-4 ? first.rough : greeks ? first.greeks : first.value;
  return { nodes: rung(NODES, nodes, maxNodes), steps };
}

/**
 * The next resolution to try: fine enough for the observed errors, with half of the target error for space and half for
 * time. It is at least twice as fine in both, so that the two resolutions can be compared, or √2 times with `nearly`.
 * It is the resolution `before` itself when `maxNodes` allows none that is finer.
 */
export function nextResolution(
  before: Resolution,
  observed: Observed,
  accuracy: number,
  { space, time }: ErrorModel,
  nearly: boolean,
  maxNodes: number,
): Resolution {
  const min = nearly ? 1.4 : 2;
  const finer = ({ part, order }: ErrorModel["space"], error: number): number =>
    Math.max(min, power((part * error) / (0.5 * accuracy), 1 / order));
  return {
    nodes: rung(
      NODES,
      before.nodes *
        Math.max(finer(space, observed.inSpace), Math.sqrt(observed.noise / (0.5 * accuracy)), observed.drift),
      maxNodes,
    ),
    steps: rung(STEPS, before.steps * finer(time, observed.inTime), Number.POSITIVE_INFINITY),
  };
}

/** The first rung that is `wanted`, or just short of it; the last that is not beyond `max` if there is none. */
function rung(ladder: readonly number[], wanted: number, max: number): number {
  const allowed = ladder.filter((step) => step <= max);
  return allowed.find((step) => step >= 0.95 * wanted) ?? allowed[allowed.length - 1] ?? ladder[0];
}
