/**
 * Which of the splits' problems stand for all of them where a kernel takes a second to compile (design/splits.md). Free
 * of the test runner.
 */
import { grids, type OneFactorProblem } from "../../../src/pde/fdm/index.ts";
import { hasObstacle } from "../../../src/pde/fdm/mesh/grid.ts";
import { nodeAt } from "../../../src/pde/fdm/mesh/mesh.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import { mayBePaired } from "./split-cases.ts";

const SMALL = { nodes: 33, steps: 8 };

/** A problem, and the precision in which it is solved. */
export interface Run {
  readonly name: string;
  readonly problem: OneFactorProblem;
  readonly precision: Precision;
}

/** The features of a problem that decide which code of the solver runs. */
export type Features = Readonly<
  Record<"exercise" | "dividends" | "barriers" | "rows" | "diffusion" | "payoff" | "mesh" | "spots", string>
>;

export function featuresOf(problem: OneFactorProblem): Features {
  const [{ scheme, time, mesh, table }] = grids(problem, SMALL);
  return {
    exercise: scheme,
    dividends: time.dividends > 0 ? "dividends" : "no dividends",
    barriers: problem.barriers === undefined ? "no barriers" : "barriers",
    rows: time.homogeneous ? "homogeneous" : "refactorised",
    diffusion: problem.diffusion.kind,
    payoff: table === undefined ? "closed" : hasObstacle(table) ? "two columns" : "one column",
    mesh: nodeAt(mesh, 0) < nodeAt(mesh, 1) ? "ascending" : "descending",
    spots: problem.spots.length > 1 ? "spots" : "one spot",
  };
}

/** What is compiled in or left out: early exercise, dividends, barriers, rows made once or again each step. */
export const variantOf = ({ exercise, dividends, barriers, rows }: Features): string =>
  [exercise, dividends, barriers, rows].join(", ");

/**
 * All there are: early exercise up to a barrier is policy iteration's, and the obstacle moves where nothing else
 * changes with time.
 */
export const variants: readonly string[] = [
  ...["none", "brennan-schwartz", "policy", "dates"].flatMap((exercise) =>
    ["no dividends", "dividends"].flatMap((dividends) =>
      (exercise === "brennan-schwartz" ? ["no barriers"] : ["no barriers", "barriers"]).flatMap((barriers) =>
        ["homogeneous", "refactorised"].map((rows) => [exercise, dividends, barriers, rows].join(", ")),
      ),
    ),
  ),
  "time-dependent, no dividends, no barriers, homogeneous",
];

/** Those of which two options may share a subgroup. */
export const pairedVariants = variants.filter(
  (name) => !/policy|, barriers/.test(name) && !/, dividends.*refactorised/.test(name),
);
export const paired = (variant: string): string => `${variant}, two a subgroup`;

/**
 * What a run shows: a variant, alone in a subgroup and beside another one, each feature in its precision, each pair of
 * features.
 */
export function shownBy({ problem, precision }: Run): string[] {
  const features = featuresOf(problem);
  const all = Object.values(features);
  const pairs = all.flatMap((one, i) => all.slice(i + 1).map((other) => `${one} × ${other}`));
  const variant = variantOf(features);
  const both = mayBePaired(problem, SMALL, precision) ? [paired(variant)] : [];
  return [variant, ...both, ...all.map((feature) => `${feature} in ${precision}`), ...pairs];
}

/** Every problem in every precision, those precisions in turn first. */
export const everyRun = (
  problems: Readonly<Record<string, OneFactorProblem>>,
  precisions: readonly Precision[],
): Run[] =>
  Object.entries(problems).flatMap(([name, problem], k) =>
    precisions.map((_, i): Run => ({ name, problem, precision: precisions[(i + k) % precisions.length] })),
  );

/**
 * Of `runs` a few that show all that they show together, but for what `others` show anyway: each time the first of
 * those that show most that is new.
 */
export function covering(runs: readonly Run[], others: readonly Run[]): Run[] {
  const shown = runs.map(shownBy);
  const missing = new Set(shown.flat());
  for (const one of others.flatMap(shownBy)) missing.delete(one);
  const chosen: Run[] = [];
  while (missing.size > 0) {
    const news = shown.map((all) => all.filter((one) => missing.has(one)).length);
    const best = news.indexOf(Math.max(...news));
    for (const one of shown[best]) missing.delete(one);
    chosen.push(runs[best]);
  }
  return chosen;
}
