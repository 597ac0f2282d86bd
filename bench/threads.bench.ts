import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Benchmark, type Context, inTurns } from "./harness.ts";
import { oneFactor, OurEngine } from "./one-factor/feynkac.ts";
import { describeMesh, type Mesh, neighbour, type Problem, put } from "./one-factor/problem.ts";

const european: Problem = { ...put, exercise: "european" };
const cases: readonly { readonly name: string; readonly problem: Problem; readonly mesh: Mesh }[] = [
  { name: "American put", problem: put, mesh: { nodes: 201, steps: 96 } },
  { name: "American put", problem: put, mesh: { nodes: 401, steps: 384 } },
  { name: "European put", problem: european, mesh: { nodes: 201, steps: 96 } },
];

async function run(context: Context): Promise<void> {
  const max = availableParallelism();
  if (max === 1) context.note("one core: nothing to compare");
  for (const threads of new Set([2, max])) if (threads <= max && max > 1) await scaling(threads, context);
}

/**
 * Several threads against one, in turns, since the clock of a shared machine drifts within minutes. The floor is as
 * many processes of one thread each, which share nothing.
 */
async function scaling(threads: number, context: Context): Promise<void> {
  using one = await OurEngine.open(1);
  using all = await OurEngine.open(threads);
  for (const { name, problem, mesh } of cases) {
    const problems = Array.from({ length: all.batch }, (_, i) => neighbour(problem, i));
    const instances = one.prepare(problems.map(oneFactor), mesh);
    // As many instances a thread on either side.
    const rate = async (engine: OurEngine): Promise<number> => {
      const start = performance.now();
      await engine.solve(instances.slice(0, engine.batch));
      return engine.batch / ((performance.now() - start) / 1e3);
    };
    const middle = await inTurns(
      context.quick ? 500 : 8000,
      () => rate(one),
      () => rate(all),
    );
    context.report({
      case: `${name}, ${describeMesh(mesh)}, time loop, ${threads} threads and one in turns`,
      device: context.cpu,
      precision: "f64",
      figure: middle.other,
      unit: "options/s",
      floor: await processesAtOnce(threads, problems.slice(0, 512), mesh, context.quick ? 1 : 4),
      peers: { "1 thread": middle.one },
    });
  }
}

/** Options a second of processes with one thread each, all at once. */
async function processesAtOnce(
  count: number,
  problems: readonly Problem[],
  mesh: Mesh,
  seconds: number,
): Promise<number> {
  const task = JSON.stringify({ problems, mesh, seconds });
  const rates = Array.from({ length: count }, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, alone(), task]);
    return Number(stdout);
  });
  return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
}

/** The program of one process: here, or beside the bundle of benchmarks. */
function alone(): string {
  const programs = ["ts", "mjs"].map((extension) => join(import.meta.dirname, `one-factor/alone.${extension}`));
  return programs.find(existsSync) ?? programs[0];
}

export const benchmark: Benchmark = {
  name: "threads",
  description: "the one-factor solver on several threads against one, and against as many processes",
  run,
};
