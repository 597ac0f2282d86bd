import { type AnyProblem, solveAxes } from "../../../fdm/index.ts";
import type { EquationSolver } from "../../equations/solver.ts";
import { estimateOf, LEVELS_BELOW } from "./estimate.ts";
import { finenessOf, growth, refined } from "./fineness.ts";
import { isLognormal, lognormalProblem } from "./lognormal.ts";
import { build } from "./problem.ts";

/**
 * The number of levels that a trade may rise at once. Estimates of lognormal ones fall faster than their order tells.
 */
const MAX_RISE = 4;

/** Alternating directions as a solver of trades in several factors. */
export const solver: EquationSolver<AnyProblem> = {
  name: "adi",
  accuracy: 1e-4,
  build: (terms, mesh, spots, part, level) =>
    isLognormal(terms)
      ? lognormalProblem(terms, mesh, spots, part, level)
      : build(terms, mesh, spots, part, finenessOf(mesh, level)),
  solve: async (problem, { parameters, precision, ...on }) =>
    (await solveAxes({ ...problem, parameters, precision }, on)).entries,
  refined: (terms, level, ratio) => refined(terms, level, ratio, isLognormal(terms) ? LEVELS_BELOW : MAX_RISE),
  growth,
  levelsBelow: LEVELS_BELOW,
  estimate: estimateOf,
  bumpLevel: (terms, level) => (isLognormal(terms) ? Math.min(level, Math.max(level - 2, 0)) : Math.min(level, 2)),
};
