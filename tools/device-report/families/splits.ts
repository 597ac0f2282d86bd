/**
 * The solver's splits, one item, one subgroup or one workgroup an option, agree with each other; those of items, with
 * the CPU's.
 */
import { largestNodes, type OneFactorProblem, type Resolution } from "../../../src/pde/fdm/index.ts";
import type { TeamSplit } from "../../../src/pde/fdm/execute/split.ts";
import {
  allowed,
  american,
  compared,
  difference,
  differenceBeside,
  differenceOfCopies,
  european,
  isSolvedBy,
  differenceOfEnds,
  everyEnds,
  largestDifference,
  movable,
  problems,
  solved,
  strangers,
  TOLERANCE,
} from "../../../test/pde/fdm/split-cases.ts";
import { compiledAs } from "../compiled-as.ts";
import {
  type Check,
  type Context,
  type Family,
  type Group,
  isSlow,
  some,
  type Target,
  type Verdict,
} from "../check.ts";

const TEAMS: readonly TeamSplit[] = ["half-subgroup", "subgroup", "workgroup"];

export const splits: Family = (target, context) => {
  const size = isSlow(target) || context.quick ? { nodes: 105, steps: 24 } : { nodes: 161, steps: 48 };
  const fitting = TEAMS.filter((split) => fits(target, size, split));
  // In f32x2 those of a workgroup were not done after four minutes on an H200; they are not used where subgroups fit.
  const teams = target.precision === "f32x2" ? fitting.slice(0, 1) : fitting;
  return [...againstCpu(target, context, size), ...teams.map((split) => groupOf(target, context, size, split))];
};

/** The same operations in the same order: where none are contracted, the same bits. */
function againstCpu(target: Target, context: Context, size: Resolution): Group[] {
  const { device, precision, fma } = target;
  const reference = precision === "f32" ? "f32" : "f64";
  if (device === context.cpu) return [];
  // Of f32x2 this is all of its rounding, where two splits differ by a part of it.
  const most = fma === "exact" ? 0 : precision === "f32x2" ? 1e-9 : TOLERANCE[precision];
  const checks = some(Object.entries(problems), context, 4).map(([name, problem]): Check => ({
    name,
    async run() {
      const [got, expected] = [
        await solved(compiledAs(target), precision, problem, size, "item"),
        await solved(context.cpu, reference, problem, size, "item"),
      ];
      return verdict(name, largestDifference(problem, got, expected), most);
    },
  }));
  return [{ family: "item split, against the CPU", unit: "of spot", checks }];
}

function verdict(name: string, error: number, most: number): Verdict {
  const failure = `${name}: ${error.toExponential(2)} of spot apart, at most ${most} allowed`;
  return { error, failure: error <= most ? undefined : failure };
}

/** Of a problem that any split is for, unless said. */
const fits = ({ device, precision }: Target, size: Resolution, split: TeamSplit, problem = european): boolean =>
  isSolvedBy(split, device, precision, problem, size);

const problemsOf = (target: Target, size: Resolution, split: TeamSplit): [string, OneFactorProblem][] =>
  Object.entries(problems).filter(([, problem]) => fits(target, size, split, problem));

function groupOf(target: Target, context: Context, size: Resolution, split: TeamSplit): Group {
  const all = some(problemsOf(target, size, split), context, 4);
  const checks = all.map(([name, problem]) => agreement(target, name, problem, size, split));
  return {
    family: `splits, ${split} and item`,
    unit: "of spot",
    checks: [
      ...checks,
      ...copies(target, context, size, split),
      ...(split === "half-subgroup" ? beside(target, size) : []),
      ...everySize(target, context, split),
      ...ends(target, context, split),
    ],
  };
}

/** Copies of an instance side by side, and again: the same bits. */
function copies(target: Target, context: Context, size: Resolution, split: TeamSplit): Check[] {
  if (isSlow(target)) return [];
  return some(problemsOf(target, size, split), context, 8).map(([problem, terms]): Check => {
    const name = `copies of ${problem}`;
    return {
      name,
      run: async () =>
        verdict(name, await differenceOfCopies(compiledAs(target), target.precision, terms, size, split), 0),
    };
  });
}

/** An option beside itself, and beside one that has little in common with it. */
function beside(target: Target, size: Resolution): Check[] {
  return Object.entries(strangers).map(([problem, both]): Check => {
    const name = `${problem}, beside another`;
    return {
      name,
      async run() {
        const error = await differenceBeside(compiledAs(target), target.precision, both, size);
        return verdict(name, error, TOLERANCE[target.precision]);
      },
    };
  });
}

/** Around every capacity that there are kernels for; see `allowed` for coarse meshes. */
function everySize(target: Target, { quick }: Context, split: TeamSplit): Check[] {
  if (quick || isSlow(target)) return [];
  return [17, 33, 129, 193, 257, 321, 513]
    .map((nodes) => ({ nodes, steps: 24 }))
    .filter((size) => fits(target, size, split) && size.nodes <= maxOfAnItem(target, "brennan-schwartz"))
    .map((size): Check => {
      const name = `American put, ${size.nodes} nodes`;
      return {
        name,
        async run() {
          const comparison = await compared(compiledAs(target), target.precision, american, size, split);
          const isCoarse = size.nodes < 65;
          const most = isCoarse ? allowed(target.precision, comparison) : TOLERANCE[target.precision];
          return verdict(name, comparison.difference, most);
        },
      };
    });
}

/** Barriers on any nodes of an item's run, and on both sides of one. */
function ends(target: Target, context: Context, split: TeamSplit): Check[] {
  const { precision } = target;
  const sizes = (context.quick || isSlow(target) ? [33] : [33, 129, 257]).filter(
    (nodes) => fits(target, { nodes, steps: 8 }, split) && nodes <= maxOfAnItem(target, "policy"),
  );
  const all = Object.entries(movable).filter(([, problem]) => fits(target, { nodes: 33, steps: 8 }, split, problem));
  return some(all, context, 2).flatMap(([problemName, problem]) =>
    sizes.map((nodes): Check => {
      const name = `${problemName}, barriers on any nodes of ${nodes}`;
      return {
        name,
        async run() {
          const size = { nodes, steps: 8 };
          const error = await differenceOfEnds(
            compiledAs(target),
            precision,
            problem,
            size,
            everyEnds(nodes, 500),
            split,
          );
          return verdict(name, error, TOLERANCE[precision]);
        },
      };
    }),
  );
}

/** WebGPU gives an item little private memory. */
const maxOfAnItem = ({ device, precision }: Target, scheme: "brennan-schwartz" | "policy"): number =>
  largestNodes(device, precision, scheme, ["item"]);

function agreement(target: Target, name: string, problem: OneFactorProblem, size: Resolution, split: TeamSplit): Check {
  return {
    name,
    async run() {
      const error = await difference(compiledAs(target), target.precision, problem, size, split);
      return verdict(name, error, TOLERANCE[target.precision]);
    },
  };
}
