/**
 * What a user of QuantLib may choose from to price these options: its finite differences, and for American options its
 * fixed point.
 */
import type { Answer, Job, QuantLib } from "../peers/quantlib.ts";
import type { Mesh, Problem } from "./problem.ts";
import { type Candidate, ladders, type Pricer } from "./search.ts";

/** What is added up: solutions on a part of the nodes and steps, each with its weight. */
interface Term {
  readonly nodes: number;
  readonly steps: number;
  readonly weight: number;
}
const fine = { nodes: 1, steps: 1 };
const halfTheSteps = { nodes: 1, steps: 0.5 };
const halfTheNodes = { nodes: 0.5, steps: 1 };
const halfOfBoth = { nodes: 0.5, steps: 0.5 };

/**
 * Richardson's extrapolation, which QuantLib leaves to its user. With exercise its finite differences are of first
 * order in time: two solutions of n and n/2 steps then give 2·fine − coarse.
 */
const EXTRAPOLATIONS: Readonly<Record<string, readonly Term[]>> = {
  "linear in time, quadratic in space": [
    { ...fine, weight: 2 },
    { ...halfTheSteps, weight: -2 / 3 },
    { ...halfOfBoth, weight: -1 / 3 },
  ],
  "linear in time": [
    { ...fine, weight: 2 },
    { ...halfTheSteps, weight: -1 },
  ],
  "quadratic in time and space": [
    { ...fine, weight: 4 / 3 },
    { ...halfOfBoth, weight: -1 / 3 },
  ],
  "quadratic in time": [
    { ...fine, weight: 4 / 3 },
    { ...halfTheSteps, weight: -1 / 3 },
  ],
  "quadratic in space": [
    { ...fine, weight: 4 / 3 },
    { ...halfTheNodes, weight: -1 / 3 },
  ],
  none: [{ ...fine, weight: 1 }],
};

/** Steps of implicit Euler before the others. */
const DAMPING = [0, 2];

interface Solutions extends Candidate {
  readonly terms: readonly { readonly weight: number; readonly job: Pick<Job, "tgrid" | "xgrid" | "damping"> }[];
}

/** Nodes and steps are even, so that there are half of them. */
const even = (wanted: number): number => 2 * Math.round(wanted / 2);

function solutions({ nodes, steps }: Mesh, damping: number, extrapolation: string): Solutions {
  const terms = EXTRAPOLATIONS[extrapolation].map((term) => ({
    weight: term.weight,
    job: { xgrid: nodes * term.nodes, tgrid: steps * term.steps, damping },
  }));
  const damped = damping === 0 ? "" : `, ${damping} damping steps`;
  const extrapolated = extrapolation === "none" ? "" : `, extrapolated ${extrapolation}`;
  return {
    name: `${nodes} nodes × ${steps} steps${damped}${extrapolated}`,
    work: terms.reduce((sum, { job }) => sum + job.xgrid * (job.tgrid + damping), 0),
    terms,
  };
}

/** On one mesh, without anything added. */
export const onMesh = (mesh: Mesh): Solutions => solutions(mesh, 0, "none");

/** Finite differences in QuantLib's default scheme, Douglas', which is Crank and Nicolson's in one dimension. */
export function finiteDifferences(
  quantLib: QuantLib,
  problems: readonly Problem[],
  repetitions: number,
): Pricer<Solutions> {
  const { nodes, steps } = ladders({ nodes: even, steps: even });
  const answers = async ({ terms }: Solutions, times: number): Promise<Answer[][]> => {
    const jobs = problems.flatMap((problem) =>
      terms.map(({ job }) => ({ engine: "fd" as const, ...problem, ...job, repetitions: times })),
    );
    const all = await quantLib.price(jobs);
    return problems.map((_, i) => all.slice(i * terms.length, (i + 1) * terms.length));
  };
  return {
    rows: Object.keys(EXTRAPOLATIONS).flatMap((extrapolation) =>
      DAMPING.flatMap((damping) =>
        nodes.map((count) => steps.map((n) => solutions({ nodes: count, steps: n }, damping, extrapolation))),
      ),
    ),
    price: async (candidate) =>
      (await answers(candidate, 0)).map((each) =>
        each.reduce((sum, { price }, i) => sum + candidate.terms[i].weight * price, 0),
      ),
    seconds: async (candidate) => {
      const all = (await answers(candidate, repetitions)).flat();
      return all.reduce((sum, { seconds }) => sum + seconds, 0) / problems.length;
    },
  };
}

interface FixedPoint extends Candidate {
  readonly iteration: NonNullable<Job["iteration"]>;
}

/** QdFpAmericanEngine's fast scheme, (7, 2, 7)-27. */
export const FAST: FixedPoint = { name: "QdFp, fast scheme", work: 1, iteration: "fast" };

/**
 * Andersen, Lake & Offengenden's fixed point, for American options without cash dividends: the fast scheme, and any
 * smaller (l, m, n)-p.
 */
export function fixedPoint(quantLib: QuantLib, problems: readonly Problem[], repetitions: number): Pricer<FixedPoint> {
  const smaller = [3, 5, 7].flatMap((l) =>
    [1, 2].flatMap((m) =>
      [3, 5, 7].flatMap((n) =>
        [7, 15, 27].map((p) => ({ name: `QdFp (${l}, ${m}, ${n})-${p}`, scheme: [l, m, n, p] })),
      ),
    ),
  );
  const answers = ({ iteration }: FixedPoint, times: number) =>
    quantLib.price(problems.map((problem) => ({ engine: "qdfp" as const, ...problem, iteration, repetitions: times })));
  return {
    // What a scheme of each number is good to is not known beforehand: each is a row.
    rows: [FAST, ...smaller.map(({ name, scheme }) => ({ name, work: 1, iteration: scheme }))].map((one) => [one]),
    price: async (candidate) => (await answers(candidate, 0)).map(({ price }) => price),
    seconds: async (candidate) =>
      (await answers(candidate, 20 * repetitions)).reduce((sum, { seconds }) => sum + seconds, 0) / problems.length,
  };
}
