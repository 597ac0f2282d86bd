import { median } from "../harness.ts";
import type { QuantLib } from "../peers/quantlib.ts";
import type { Mesh, Problem } from "./problem.ts";

/** One way to price a set of options on a mesh of one's choice. */
export interface Pricer {
  readonly ladder: Ladder;
  price(mesh: Mesh): Promise<ArrayLike<number>>;
  /** Seconds for one option. */
  seconds(mesh: Mesh): Promise<number>;
}

export interface MeshCost {
  readonly mesh: Mesh;
  /** Largest absolute error over the options. */
  readonly error: number;
  readonly seconds: number;
}

/** Numbers of nodes and of time steps to choose from, each in increasing order. */
export interface Ladder {
  readonly nodes: readonly number[];
  readonly steps: readonly number[];
}

const geometric = (from: number, to: number, ratio: number): number[] =>
  Array.from({ length: Math.floor(Math.log(to / from) / Math.log(ratio)) + 1 }, (_, i) => from * ratio ** i);

/** Steps from one number to the next, of nodes and of time steps: as fine for either side. */
const RATIOS = { nodes: 2 ** (1 / 4), steps: 2 ** (1 / 8) };

const ladder = (nodes: [number, number], steps: [number, number], nodesOf: Rounding, stepsOf: Rounding): Ladder => ({
  nodes: [...new Set(geometric(...nodes, RATIOS.nodes).map(nodesOf))],
  steps: [...new Set(geometric(...steps, RATIOS.steps).map(stepsOf))],
});
type Rounding = (wanted: number) => number;

const quantLibLadder = ladder([50, 800], [10, 2600], Math.round, Math.round);

/** Ours are restricted: nodes 4k + 1, steps even. */
export const ourLadder = ladder(
  [25, 513],
  [8, 800],
  (nodes) => 4 * Math.round((nodes - 1) / 4) + 1,
  (steps) => 2 * Math.round(steps / 2),
);

/** Meshes that took at most as many times as long as the quickest are timed again, in turns: the clock of a shared machine drifts within minutes. */
const CLOSE = 1.6;
const TURNS = 3;

/**
 * The fastest mesh on which every option is within `target` of `expected`: for each number of nodes the fewest time steps
 * that do, found by bisection on a fine ladder, and the quickest of these meshes by the clock.
 */
export async function fastestAtError(
  target: number,
  expected: readonly number[],
  pricer: Pricer,
): Promise<MeshCost | undefined> {
  let best: MeshCost | undefined;
  const timed: MeshCost[] = [];
  for (const nodes of pricer.ladder.nodes) {
    const found = await fewestSteps(nodes, target, expected, pricer);
    if (found === undefined) continue;
    if (best !== undefined && nodes * found.mesh.steps > 2 * best.mesh.nodes * best.mesh.steps) continue; // cannot win
    const seconds = await pricer.seconds(found.mesh);
    timed.push({ ...found, seconds });
    if (best === undefined || seconds < best.seconds) best = { ...found, seconds };
  }
  return (
    best &&
    quickest(
      timed.filter(({ seconds }) => seconds <= CLOSE * best.seconds),
      pricer,
    )
  );
}

async function quickest(candidates: readonly MeshCost[], pricer: Pricer): Promise<MeshCost> {
  if (candidates.length === 1) return candidates[0];
  const turns = candidates.map((): number[] => []);
  for (let turn = 0; turn < TURNS; turn++)
    for (const [i, { mesh }] of candidates.entries()) turns[i].push(await pricer.seconds(mesh));
  const again = candidates.map((candidate, i) => ({ ...candidate, seconds: median(turns[i]) }));
  return again.reduce((a, b) => (b.seconds < a.seconds ? b : a));
}

/** The error falls with the steps, down to that of the nodes alone; where it does not, a finer mesh is returned. */
async function fewestSteps(nodes: number, target: number, expected: readonly number[], pricer: Pricer) {
  const { steps } = pricer.ladder;
  let low = 0;
  let high = steps.length;
  let found: Omit<MeshCost, "seconds"> | undefined;
  while (low < high) {
    const middle = (low + high) >> 1;
    const mesh = { nodes, steps: steps[middle] };
    const prices = await pricer.price(mesh);
    const error = Math.max(...expected.map((value, i) => Math.abs(prices[i] - value)));
    if (error <= target) {
      high = middle;
      found = { mesh, error };
    } else low = middle + 1;
  }
  return found;
}

/** QuantLib's finite differences, with its default scheme and settings. */
export function quantLibPricer(quantLib: QuantLib, problems: readonly Problem[], repetitions: number): Pricer {
  const answers = (mesh: Mesh, times: number) =>
    quantLib.price(
      problems.map((problem) => ({
        engine: "fd" as const,
        ...problem,
        tgrid: mesh.steps,
        xgrid: mesh.nodes,
        repetitions: times,
      })),
    );
  return {
    ladder: quantLibLadder,
    price: (mesh) => Promise.resolve(answers(mesh, 1).map(({ price }) => price)),
    seconds: (mesh) =>
      Promise.resolve(answers(mesh, repetitions).reduce((sum, { seconds }) => sum + seconds, 0) / problems.length),
  };
}
