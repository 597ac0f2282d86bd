import { type AnySparseProblem, solveOnSparseGrid } from "../../../sparsegrid/index.ts";
import type { EquationSolver } from "../../equations/solver.ts";
import type { Terms } from "../../terms.ts";
import { bySpot } from "./by-spot.ts";
import { finenessOf, levelsOfComponents, levelsOfSpots, nodesOf } from "./fineness.ts";
import { deviationsOf, onPrincipalComponents } from "./principal.ts";

/** Grids of more nodes take minutes. */
const MAX_NODES = 1e6;
/** A level more makes an error as many times smaller, or more. */
const GAIN = 8;

/** A level more takes about so many times as long: nodes and steps grow. */
const GROWTH = 5;

/** Sparse grids as a solver of trades in several factors. */
export const solver: EquationSolver<AnySparseProblem> = {
  name: "sparse-grid",
  accuracy: 1e-3,
  build: (terms, mesh, spots, part, level) =>
    part.knockOuts.length === 0
      ? onPrincipalComponents(terms, mesh, spots, part, (deviations) =>
          finenessOf(levelsOfComponents(deviations), level),
        )
      : bySpot(terms, mesh, spots, part, finenessOf(levelsOfSpots(terms.assets.length), level)),
  solve: async (problem, { parameters, precision, ...on }) =>
    (await solveOnSparseGrid({ ...problem, parameters, precision }, on)).entries,
  refined: (terms, level, ratio) => {
    const wanted = level + (ratio > GAIN ? 2 : 1);
    return isFinest(terms, level) ? level : wanted;
  },
  growth: (_, from, to) => GROWTH ** (to - from),
  levelsBelow: 0,
  estimate: (_, correction) => correction,
  bumpLevel: (_, level) => Math.min(level, 1),
};

function isFinest(terms: Terms, level: number): boolean {
  const { barriers, assets } = terms;
  const initial = barriers.length === 0 ? levelsOfComponents(deviationsOf(terms)) : levelsOfSpots(assets.length);
  return nodesOf(finenessOf(initial, level + 1)) > MAX_NODES;
}
