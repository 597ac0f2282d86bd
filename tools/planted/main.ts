/**
 * Plants one bug after another in copies of the sources, and runs the tests beside it. Prints a row for each bug when
 * its tests have ended, and the table of design/planted.md. Words choose the folders of `src` whose bugs are planted.
 * After so many minutes it ends what is under way. `--out` names a file of what tests have said so far, where another
 * call goes on; with `--again` it plants the survivors again. With `--check` it only looks whether all bugs can be
 * planted, which a change of the sources may end:
 *
 * npm run check:planted -- [--set first|fresh|second|third] [--slice 1/3] [--workers 4] [--seconds 300] [--minutes 9]
 *   [--out FILE.json] [--again] [--check] [FOLDER...]
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import type { Bug } from "./bug.ts";
import { bugs } from "./bugs.ts";
import { Copy, faultOf } from "./copy.ts";
import { fresh } from "./fresh.ts";
import { type Fate, Results } from "./results.ts";
import { second } from "./second.ts";
import { third } from "./third.ts";

/** The least part of the bugs that the tests are to find. */
const LEAST = 0.9;

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    set: { type: "string", default: "all" },
    slice: { type: "string", default: "1/1" },
    workers: { type: "string", default: String(Math.max(1, availableParallelism() >> 1)) },
    seconds: { type: "string", default: "300" },
    minutes: { type: "string", default: "Infinity" },
    out: { type: "string" },
    again: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  },
});

/** A number above 0 that an option gives. */
function numberOf(name: "workers" | "seconds" | "minutes"): number {
  const value = Number(options[name]);
  if (!(value > 0)) throw new Error(`--${name} ${options[name]}: expected a number above 0`);
  return value;
}

/** Bugs of the set, the slice and the folders that were asked for. Slices keep bugs of the same tests together. */
function chosenBugs(): readonly Bug[] {
  const sets: Readonly<Record<string, readonly Bug[]>> = {
    first: bugs,
    fresh,
    second,
    third,
    all: [...bugs, ...fresh, ...second, ...third],
  };
  if (!Object.hasOwn(sets, options.set))
    throw new Error(`--set ${options.set}: expected first, fresh, second, third or all`);
  const [part, parts] = options.slice.split("/").map(Number);
  if (!(part >= 1 && part <= parts)) throw new Error(`--slice ${options.slice}: expected 1/3, 2/3 or 3/3, say`);
  const all = sets[options.set].filter(({ file }) => words.length === 0 || words.some((word) => file.startsWith(word)));
  return all.slice(Math.round(((part - 1) * all.length) / parts), Math.round((part * all.length) / parts));
}

/** A row of the table: what was changed, and the test that failed. */
function rowOf(bug: Bug, answer: string): string {
  const cells = [bug.file, `\`${bug.from}\``, `\`${bug.to}\``, answer];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ")).join(" | ")} |`;
}

const folderOf = ({ file }: Bug): string => file.split("/")[0];
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const [workers, seconds, minutes] = [numberOf("workers"), numberOf("seconds"), numberOf("minutes")];
const results = new Results(options.out);
const chosen = chosenBugs();
const faults = new Map<Bug, string>();

for (const bug of chosen) {
  const fault = faultOf(bug);
  if (fault === undefined) continue;
  faults.set(bug, fault);
  console.log(rowOf(bug, `**not planted**: ${fault}`));
}

const isOpen = (bug: Bug): boolean => ["survives", "failed"].includes(results.fateOf(bug) ?? "");
// All at once: what tests say without a bug goes with it, and with that what became of others.
if (options.again) for (const bug of chosen.filter(isOpen)) results.forget(bug);

const fateOf = (bug: Bug): Fate | undefined => (faults.has(bug) ? "failed" : results.fateOf(bug));

/** Prints the row of a bug whose tests have ended with it and without it. */
function print(bug: Bug): void {
  const [outcome, usual] = [results.of(bug), results.without(bug.tests)];
  if (outcome === undefined || usual === undefined) return;
  const fails = usual.failure === undefined ? undefined : `**fails without it**: ${usual.failure}`;
  console.log(rowOf(bug, `${fails ?? outcome.failure ?? "**survives**"} (${outcome.seconds} s)`));
}

type Task = (copy: Copy) => Promise<void>;

/** The runs that are left, each set of tests without a bug first. */
function tasksFor(left: readonly Bug[]): Task[] {
  const sets = new Map(left.map(({ tests }) => [tests.join(" "), tests]));
  return [...sets.values()].flatMap((tests) => {
    const its = left.filter((bug) => bug.tests.join(" ") === tests.join(" "));
    const usual = async (copy: Copy): Promise<void> => {
      results.addWithout(tests, await copy.run(tests));
      its.forEach(print);
    };
    const plant = (bug: Bug) => async (copy: Copy) => {
      results.add(bug, await copy.runWith(bug));
      print(bug);
    };
    const planted = its.filter((bug) => results.of(bug) === undefined).map(plant);
    return results.without(tests) === undefined ? [usual, ...planted] : planted;
  });
}

/** Does tasks in a copy of its own, on two cores where that can be said, until none is left or it is late. */
async function work(tasks: Task[], core: number, end: number): Promise<void> {
  using copy = new Copy(core, seconds, end);
  for (let task = tasks.shift(); task !== undefined && performance.now() < end; task = tasks.shift()) {
    try {
      await task(copy);
    } catch (error) {
      console.error(`not run: ${messageOf(error)}`);
    }
  }
}

if (!options.check) {
  const end = performance.now() + 60_000 * minutes;
  const tasks = tasksFor(chosen.filter((bug) => fateOf(bug) === undefined));
  const ended = await Promise.allSettled(Array.from({ length: workers }, (_, core) => work(tasks, core, end)));
  for (const one of ended) if (one.status === "rejected") console.error(`a worker has ended: ${messageOf(one.reason)}`);
}

const countOf = (some: readonly Bug[], fate: Fate | undefined): number =>
  some.filter((bug) => fateOf(bug) === fate).length;

if (options.check) {
  console.log(`${chosen.length - faults.size} of ${chosen.length} can be planted`);
  process.exitCode = faults.size === 0 ? 0 : 1;
} else {
  console.log("\n| folder | bugs | found | failed | not run |\n| --- | --- | --- | --- | --- |");
  for (const folder of new Set(chosen.map(folderOf))) {
    const its = chosen.filter((bug) => folderOf(bug) === folder);
    const counts = [its.length, ...(["found", "failed", undefined] as const).map((fate) => countOf(its, fate))];
    console.log(`| \`${folder}\` | ${counts.join(" | ")} |`);
  }
  const [found, failed, left] = (["found", "failed", undefined] as const).map((fate) => countOf(chosen, fate));
  const told = chosen.length - failed - left;
  const part = ((100 * found) / Math.max(told, 1)).toFixed(1);
  console.log(`\n${found} of ${told} found, ${part} %; ${failed} failed to run, ${left} were not run`);
  process.exitCode = found >= LEAST * chosen.length ? 0 : 1;
}
