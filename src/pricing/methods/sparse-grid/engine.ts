import { type AnySparseProblem, solveOnSparseGrid } from "../../../sparsegrid/index.ts";
import type { Engine } from "../several/engine.ts";
import { bySpot } from "./by-spot.ts";
import { finenessOf, levelsOfComponents, levelsOfSpots, nodesOf } from "./fineness.ts";
import { basisOf, onPrincipalComponents } from "./principal.ts";

/** Grids of more nodes take minutes. */
const MAX_NODES = 1e6;
/** A level more makes an error as many times smaller, or more. */
const GAIN = 8;

/** A level more takes about so many times as long: nodes and steps grow. */
const GROWTH = 5;

/** Sparse grids as a solver of trades in several factors. */
export const engine: Omit<Engine<AnySparseProblem>, "name" | "accuracy"> = {
  build: (terms, mesh, spots, part, level) =>
    part.knockOuts.length === 0
      ? onPrincipalComponents(terms, mesh, spots, part, (deviations) =>
          finenessOf(levelsOfComponents(deviations), level),
        )
      : bySpot(terms, mesh, spots, part, finenessOf(levelsOfSpots(terms.assets.length), level)),
  solve: async (problem, { parameters, precision, ...on }) =>
    (await solveOnSparseGrid({ ...problem, parameters, precision }, on)).entries,
  isFinest: (terms, level) => {
    const { barriers, assets } = terms;
    const initial =
      barriers.length === 0 ? levelsOfComponents(basisOf(terms).deviations) : levelsOfSpots(assets.length);
    return nodesOf(finenessOf(initial, level + 1)) > MAX_NODES;
  },
  refined: (_, level, ratio) => level + (ratio > GAIN ? 2 : 1),
  growth: (_, from, to) => GROWTH ** (to - from),
  levelsBelow: () => undefined,
  estimate: (_, correction) => correction,
  usesGamma: true,
  bumpLevel: (_, level) => Math.min(level, 1),
};
