import { availableParallelism } from "node:os";
import { clockGHz, inTurns, medianSeconds, type Benchmark, type Context, type Report } from "./harness.ts";
import { oneFactor, OurEngine } from "./one-factor/feynkac.ts";
import {
  describeMesh,
  hasFixedPoint,
  type Mesh,
  neighbour,
  type Problem,
  put,
  referencePrices,
} from "./one-factor/problem.ts";
import { FAST, finiteDifferences, fixedPoint, onMesh } from "./one-factor/quantlib.ts";
import { type Candidate, errorOf, fastestAtError, ladders, type Pricer } from "./one-factor/search.ts";
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

/** Compared at equal error: the worst of six, since the error of one alone may cross zero by chance. */
interface Goal {
  readonly name: string;
  readonly problems: readonly Problem[];
  /** Largest absolute error, on a spot of 100; or that of QuantLib's fast fixed point, whatever that is. */
  readonly error: number | "of QdFp's fast scheme";
}
/** Of each timing at equal error; the two sides are timed in turns in the end. */
const REPETITIONS = 3;
/** Options that ours are timed with there, two batches of a book. */
const BATCH = 1024;
/** Where rounding does not count: it moves prices on meshes of some ten nodes by 2e-6 to 4e-6. */
const MIN_ERROR_IN_F32 = 1e-3;
const sixOf = (problem: Problem): Problem[] => [90, 95, 100, 105, 110, 120].map((spot) => ({ ...problem, spot }));
const goals: readonly Goal[] = [
  { name: "American puts", problems: sixOf(put), error: "of QdFp's fast scheme" },
  ...[1e-3, 1e-4].flatMap((error) => [
    { name: "American puts", problems: sixOf(put), error },
    { name: "American puts, two cash dividends", problems: sixOf({ ...put, dividends }), error },
    { name: "Bermudan puts", problems: sixOf(bermudan), error },
    { name: "double knock-out calls", problems: sixOf(knockOut), error },
  ]),
  { name: "American puts, local volatility", problems: sixOf({ ...put, beta: 0.5 }), error: 1e-3 },
];

/**
 * The floor of one node and time step on a core, in cycles: one factorised implicit step reads u, the inverse pivot and
 * the upper factor, then z, the lower factor, u and (American) the obstacle, and writes z and u. Two 16-byte loads a
 * cycle bring 4 words of 8 bytes; the writes and the 10 flops fit beside them. Every array is taken to be in the L1
 * cache.
 */
const floorCycles = { american: 7 / 4, european: 6 / 4, bermudan: 6 / 4 };

interface Setting {
  readonly context: Context;
  readonly quantLib: QuantLib | undefined;
  readonly gigahertz: number;
  readonly targets: readonly Target[];
}

/** One side's fastest way to the error asked for. */
interface Best {
  readonly name: string;
  /** Seconds for one option, timed now. */
  seconds(): Promise<number>;
}

/** A goal with what QuantLib has made of it. */
interface Target {
  readonly goal: Goal;
  readonly error: number;
  /** Reference prices: fine meshes, some seconds each. */
  readonly expected: readonly number[];
  /** QuantLib's fastest ways within the error, of each kind that can price these options. */
  readonly best: readonly Best[];
}

async function run(context: Context): Promise<void> {
  const gigahertz = clockGHz();
  context.note(`${context.cpu}; clock now ${gigahertz.toFixed(2)} GHz`);
  using quantLib = openQuantLib((text) => {
    context.note(text);
  });
  const targets: Target[] = [];
  if (quantLib !== undefined)
    for (const goal of context.quick ? goals.slice(0, 2) : goals)
      targets.push(await peerSearch(quantLib, goal, context));
  const setting: Setting = { context, quantLib, gigahertz, targets };
  for (const threads of new Set([1, availableParallelism()])) {
    using engine = await OurEngine.open(threads);
    for (const each of cases) await sameMesh(setting, engine, each);
  }
  for (const precision of ["f64", "f32"] as const) {
    using engine = await OurEngine.open(1, precision);
    for (const target of targets)
      if (precision === "f64" || target.error >= MIN_ERROR_IN_F32) await equalError(setting, engine, target);
  }
}

/** QuantLib's fastest ways to a goal; the fixed point, where there is one, beside finite differences. */
async function peerSearch(quantLib: QuantLib, goal: Goal, context: Context): Promise<Target> {
  const { problems } = goal;
  const expected = await referencePrices(quantLib, problems);
  const points = hasFixedPoint(problems[0]) ? fixedPoint(quantLib, problems, REPETITIONS) : undefined;
  const error = typeof goal.error === "number" ? goal.error : await errorOf(points!, FAST, expected);
  const best: Best[] = [];
  const look = async <C extends Candidate>(pricer: Pricer<C>): Promise<void> => {
    const start = performance.now();
    const found = await fastestAtError(error, expected, pricer);
    const answer = found === undefined ? "not reached" : `${found.candidate.name}, ${milliseconds(found.seconds)}`;
    const spent = ((performance.now() - start) / 1e3).toFixed(0);
    context.note(`QuantLib, ${goal.name}, error ≤ ${error.toPrecision(2)}: ${answer} (searched for ${spent} s)`);
    if (found !== undefined) best.push({ name: found.candidate.name, seconds: () => pricer.seconds(found.candidate) });
  };
  if (points !== undefined) await look(points);
  // Beside the fixed point's own error finite differences are no choice.
  if (typeof goal.error === "number") await look(finiteDifferences(quantLib, problems, REPETITIONS));
  return { goal, error, expected, best };
}

async function sameMesh({ context, quantLib, gigahertz }: Setting, engine: OurEngine, { name, problem, mesh }: Case) {
  const batch = Array.from({ length: engine.batch }, (_, i) => oneFactor(neighbour(problem, i)));
  const repetitions = context.quick ? 3 : 9;
  const instances = engine.prepare(batch, mesh);
  const solving = (await medianSeconds(repetitions, () => engine.solve(instances))) / batch.length;
  const seconds = (await medianSeconds(repetitions, () => engine.price(batch, mesh))) / batch.length;
  const peer = quantLib && (await finiteDifferences(quantLib, [problem], context.quick ? 5 : 25).seconds(onMesh(mesh)));
  const described = `${name}, ${describeMesh(mesh)}, ${describeThreads(engine)}`;
  const common = {
    device: context.cpu,
    precision: "f64" as const,
    ...errorOfOne((await engine.price([batch[0]], mesh))[0], (await referencePrices(quantLib, [problem]))[0]),
  };
  // Rannacher's half steps are work like any other; QuantLib takes exactly the steps it is told.
  const nodeSteps = mesh.nodes * engine.stepsOf(batch[0], mesh);
  context.report({
    ...common,
    case: described,
    figure: 1 / seconds,
    unit: "options/s",
    ...peersOf(peer && 1 / peer),
  });
  context.report({
    ...common,
    case: described,
    figure: (seconds * 1e9) / nodeSteps,
    unit: "ns per node-step",
    ...peersOf(peer && (peer * 1e9) / (mesh.nodes * mesh.steps)),
  });
  // QuantLib has no such part to time alone.
  context.report({
    ...common,
    case: `${described}, the time loop alone`,
    figure: (solving * 1e9) / nodeSteps,
    unit: "ns per node-step",
    floor: floorCycles[problem.exercise] / gigahertz / engine.threads,
  });
}

async function equalError({ context }: Setting, engine: OurEngine, target: Target): Promise<void> {
  const { goal, expected, best } = target;
  const problems = goal.problems.map(oneFactor);
  const batch = Array.from({ length: BATCH }, (_, i) => problems[i % problems.length]);
  const pricer: Pricer<Mesh & Candidate> = {
    rows: ourMeshes,
    price: (mesh) => engine.priceExtrapolated(problems, mesh),
    seconds: async (mesh) =>
      (await medianSeconds(REPETITIONS, () => engine.priceExtrapolated(batch, mesh))) / batch.length,
  };
  const ours = await fastestAtError(target.error, expected, pricer);
  if (ours === undefined) {
    context.note(`our solver: ${goal.name}: no mesh tried reaches ${target.error}`);
    return;
  }
  let figure = 1 / ours.seconds;
  const peers: Record<string, number> = {};
  for (const [i, { name, seconds }] of best.entries()) {
    const timed = await inTurns(context.quick ? 500 : 3000, () => pricer.seconds(ours.candidate), seconds);
    if (i === 0) figure = 1 / timed.one;
    // Of what was measured in turns the quotient is what holds.
    peers[`QuantLib ${name}, 1 thread`] = figure * (timed.one / timed.other);
  }
  const error = typeof goal.error === "number" ? `≤ ${goal.error}` : goal.error;
  context.report({
    case: `${goal.name}, worst of six, error ${error}: ${ours.candidate.name}, ${describeThreads(engine)}`,
    device: context.cpu,
    precision: engine.precision,
    figure,
    unit: "options/s",
    error: ours.error,
    peers,
  });
}

/** Ours are restricted: nodes 4k + 1, steps even. All are extrapolated in both, as those of a book are. */
const ourMeshes = (() => {
  const { nodes, steps } = ladders({
    nodes: (wanted) => 4 * Math.round((wanted - 1) / 4) + 1,
    steps: (wanted) => 2 * Math.round(wanted / 2),
  });
  return nodes.map((count) =>
    steps.map((n) => ({
      nodes: count,
      steps: n,
      work: count * n,
      name: `${describeMesh({ nodes: count, steps: n })} extrapolated`,
    })),
  );
})();

const describeThreads = ({ threads }: OurEngine): string => (threads === 1 ? "1 thread" : `${threads} threads`);
const milliseconds = (seconds: number): string => `${(seconds * 1e3).toPrecision(3)} ms an option`;

function errorOfOne(price: number, expected: number): Pick<Report, "error"> {
  return Number.isNaN(expected) ? {} : { error: Math.abs(price - expected) };
}

function peersOf(figure: number | undefined): Pick<Report, "peers"> {
  return figure === undefined ? {} : { peers: { "QuantLib, 1 thread": figure } };
}

export const benchmark: Benchmark = {
  name: "one-factor",
  description: "the one-factor finite-difference solver against QuantLib's, on the same mesh and at equal error",
  run,
};
