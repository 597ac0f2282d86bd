import { availableParallelism } from "node:os";
import { clockGHz, inTurns, medianSeconds, type Benchmark, type Context, type Report } from "./harness.ts";
import { oneFactor, OurEngine } from "./one-factor/feynkac.ts";
import { describeMesh, type Mesh, neighbour, type Problem, put, referencePrices } from "./one-factor/problem.ts";
import { fastestAtError, ourLadder, quantLibPricer, type MeshCost, type Pricer } from "./one-factor/search.ts";
import { openQuantLib, type QuantLib } from "./peers/quantlib.ts";

/** Timed on the same mesh as QuantLib. */
interface Case {
  readonly name: string;
  readonly problem: Problem;
  readonly mesh: Mesh;
}
const dividends = [
  [0.2, 2],
  [0.8, 2],
] as const;
const bermudan: Problem = {
  ...put,
  exercise: "bermudan",
  dates: [36, 73, 109, 146, 182, 219, 255, 292, 328].map((day) => day / 365),
};
const knockOut: Problem = { ...put, type: "call", exercise: "european", lower: 80, upper: 130 };
const cases: readonly Case[] = [
  { name: "American put", problem: put, mesh: { nodes: 201, steps: 96 } },
  { name: "American put", problem: put, mesh: { nodes: 401, steps: 384 } },
  { name: "European put", problem: { ...put, exercise: "european" }, mesh: { nodes: 201, steps: 96 } },
  { name: "American put, two cash dividends", problem: { ...put, dividends }, mesh: { nodes: 201, steps: 96 } },
  { name: "Bermudan put, nine dates and expiry", problem: bermudan, mesh: { nodes: 201, steps: 96 } },
  { name: "double knock-out call", problem: knockOut, mesh: { nodes: 201, steps: 96 } },
  { name: "American put, local volatility", problem: { ...put, beta: 0.5 }, mesh: { nodes: 201, steps: 96 } },
];

/** Compared at equal error: one option, and the worst of six, since the error of one alone may cross zero by chance. */
interface Goal {
  readonly name: string;
  readonly problems: readonly Problem[];
  /** Largest absolute error, on a spot of 100. */
  readonly error: number;
}
/** Where rounding does not count: it moves prices on meshes of some ten nodes by 2e-6 to 4e-6. */
const LEAST_IN_F32 = 1e-3;
const sixOf = (problem: Problem): Problem[] => [90, 95, 100, 105, 110, 120].map((spot) => ({ ...problem, spot }));
const goals: readonly Goal[] = [
  { name: "American put at the money", problems: [put], error: 1e-3 },
  { name: "American put, two cash dividends", problems: [{ ...put, dividends }], error: 1e-3 },
  { name: "Bermudan put", problems: [bermudan], error: 1e-3 },
  { name: "double knock-out call", problems: [knockOut], error: 1e-3 },
  { name: "American put, local volatility", problems: [{ ...put, beta: 0.5 }], error: 1e-3 },
  { name: "the worst of six American puts", problems: sixOf(put), error: 1e-3 },
  // The others are first order in the time step there, and would take some seconds an option at 1e-4.
  ...[1e-3, 1e-4].flatMap((error) => [
    { name: "the worst of six American puts, two cash dividends", problems: sixOf({ ...put, dividends }), error },
    { name: "the worst of six Bermudan puts", problems: sixOf(bermudan), error },
  ]),
];

/**
 * The floor of one node and time step on a core, in cycles: one factorised implicit step reads u, the inverse pivot and
 * the upper factor, then z, the lower factor, u and (American) the obstacle, and writes z and u. Two 16-byte loads a cycle
 * bring 4 words of 8 bytes; the writes and the 10 flops fit beside them. Every array is taken to be in the L1 cache.
 */
const floorCycles = { american: 7 / 4, european: 6 / 4, bermudan: 6 / 4 };

interface Setting {
  readonly context: Context;
  readonly quantLib: QuantLib | undefined;
  readonly gigahertz: number;
  readonly atGoals: ReadonlyMap<Goal, AtGoal>;
}

interface AtGoal {
  /** Reference prices: fine meshes, some seconds each. */
  readonly expected: readonly number[];
  /** QuantLib's own fastest mesh within the error. */
  readonly best: MeshCost | undefined;
}

async function run(context: Context): Promise<void> {
  const gigahertz = clockGHz();
  context.note(`${context.cpu}; clock now ${gigahertz.toFixed(2)} GHz`);
  const quantLib = openQuantLib((text) => {
    context.note(text);
  });
  const atGoals = quantLib === undefined ? new Map<Goal, AtGoal>() : await peerSearch(quantLib, context);
  const setting: Setting = { context, quantLib, gigahertz, atGoals };
  for (const threads of new Set([1, availableParallelism()])) await runOurs(setting, threads);
}

async function peerSearch(quantLib: QuantLib, context: Context): Promise<Map<Goal, AtGoal>> {
  const found = new Map<Goal, AtGoal>();
  for (const goal of goals) {
    const expected = referencePrices(quantLib, goal.problems);
    const pricer = quantLibPricer(quantLib, goal.problems, context.quick ? 3 : 9);
    const best = await fastestAtError(goal.error, expected, pricer);
    const answer = best === undefined ? "not reached" : `${describeMesh(best.mesh)}, ${milliseconds(best.seconds)}`;
    context.note(`QuantLib at an error of ${goal.error}, ${goal.name}: ${answer}`);
    found.set(goal, { expected, best });
  }
  return found;
}

async function runOurs(setting: Setting, threads: number): Promise<void> {
  using engine = await OurEngine.open(threads);
  for (const each of cases) await sameMesh(setting, engine, each);
  for (const goal of goals) await equalError(setting, engine, goal);
  using single = await OurEngine.open(threads, "f32");
  for (const goal of goals) if (goal.error >= LEAST_IN_F32) await equalError(setting, single, goal);
}

async function sameMesh({ context, quantLib, gigahertz }: Setting, engine: OurEngine, { name, problem, mesh }: Case) {
  const batch = Array.from({ length: engine.batch }, (_, i) => oneFactor(neighbour(problem, i)));
  const repetitions = context.quick ? 3 : 9;
  const lanes = engine.prepare(batch, mesh);
  const solving = (await medianSeconds(repetitions, () => engine.solve(lanes))) / batch.length;
  const seconds = (await medianSeconds(repetitions, () => engine.price(batch, mesh))) / batch.length;
  const peer = quantLib && (await quantLibPricer(quantLib, [problem], context.quick ? 5 : 25).seconds(mesh));
  const common = {
    case: `${name}, ${describeMesh(mesh)}, ${describeThreads(engine)}`,
    device: context.cpu,
    precision: "f64" as const,
    ...errorOf((await engine.price([batch[0]], mesh))[0], referencePrices(quantLib, [problem])[0]),
  };
  // Rannacher's half steps are work like any other; QuantLib takes exactly the steps it is told.
  // ns per node-step: packing, time loop and reading back; options/s: the building of meshes and lanes, too.
  const nodeSteps = mesh.nodes * engine.stepsOf(batch[0], mesh);
  context.report({
    ...common,
    figure: (solving * 1e9) / nodeSteps,
    unit: "ns per node-step",
    floor: floorCycles[problem.exercise] / gigahertz / engine.threads,
    ...peersOf("QuantLib, 1 thread", peer && (peer * 1e9) / (mesh.nodes * mesh.steps)),
  });
  context.report({
    ...common,
    figure: 1 / seconds,
    unit: "options/s",
    ...peersOf("QuantLib, 1 thread", peer && 1 / peer),
  });
}

async function equalError({ context, quantLib, atGoals }: Setting, engine: OurEngine, goal: Goal): Promise<void> {
  const atGoal = atGoals.get(goal);
  if (quantLib === undefined || atGoal === undefined) return; // no reference
  const problems = goal.problems.map(oneFactor);
  const batch = Array.from({ length: engine.batch }, (_, i) => oneFactor(goal.problems[i % problems.length]));
  const repetitions = context.quick ? 3 : 9;
  const pricer: Pricer = {
    ladder: ourLadder,
    price: (mesh) => engine.priceExtrapolated(problems, mesh),
    seconds: async (mesh) =>
      (await medianSeconds(repetitions, () => engine.priceExtrapolated(batch, mesh))) / batch.length,
  };
  const ours = await fastestAtError(goal.error, atGoal.expected, pricer);
  if (ours === undefined) {
    context.note(`our solver: no mesh tried reaches ${goal.error}`);
    return;
  }
  const peer = atGoal.best;
  const theirs = quantLibPricer(quantLib, goal.problems, 3);
  const timed =
    peer &&
    (await inTurns(
      context.quick ? 500 : 4000,
      () => pricer.seconds(ours.mesh),
      () => theirs.seconds(peer.mesh),
    ));
  context.report({
    case: `${goal.name}, error ≤ ${goal.error}: ${describeMesh(ours.mesh)} extrapolated, ${describeThreads(engine)}`,
    device: context.cpu,
    precision: engine.precision,
    figure: 1 / (timed?.one ?? ours.seconds),
    unit: "options/s",
    error: ours.error,
    ...(peer && timed && peersOf(`QuantLib ${describeMesh(peer.mesh)}, 1 thread`, 1 / timed.other)),
  });
}

const describeThreads = ({ threads }: OurEngine): string => (threads === 1 ? "1 thread" : `${threads} threads`);
const milliseconds = (seconds: number): string => `${(seconds * 1e3).toPrecision(3)} ms an option`;

function errorOf(price: number, expected: number): Pick<Report, "error"> {
  return Number.isNaN(expected) ? {} : { error: Math.abs(price - expected) };
}

function peersOf(name: string, figure: number | undefined): Pick<Report, "peers"> {
  return figure === undefined ? {} : { peers: { [name]: figure } };
}

export const benchmark: Benchmark = {
  name: "one-factor",
  description: "the one-factor finite-difference solver against QuantLib's, on the same mesh and at equal error",
  run,
};
