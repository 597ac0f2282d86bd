/**
 * Plants one bug after another in copies of the sources, and runs the tests beside it. Prints a row for each bug, and
 * the table of design/planted.md. Words choose the folders of `src` whose bugs are planted:
 *
 * npm run check:planted -- [--set first|fresh] [--slice 1/3] [--workers 4] [--seconds 300] [FOLDER...]
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import type { Bug } from "./bug.ts";
import { bugs } from "./bugs.ts";
import { fresh } from "./fresh.ts";
import { Copy, type Outcome } from "./copy.ts";

/** The least part of the bugs that the tests are to find. */
const LEAST = 0.9;

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    set: { type: "string", default: "all" },
    slice: { type: "string", default: "1/1" },
    workers: { type: "string", default: String(Math.max(1, availableParallelism() >> 1)) },
    seconds: { type: "string", default: "300" },
  },
});

/** Bugs of the set, the slice and the folders that were asked for. Slices keep bugs of the same tests together. */
function chosenBugs(): readonly Bug[] {
  const sets: Readonly<Record<string, readonly Bug[]>> = { first: bugs, fresh, all: [...bugs, ...fresh] };
  if (!Object.hasOwn(sets, options.set)) throw new Error(`--set ${options.set}: expected first, fresh or all`);
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

const chosen = chosenBugs();
const found = new Map<Bug, boolean>();
/** What each set of tests says without a bug, once. */
const without = new Map<string, Promise<Outcome>>();
const tasks: ((copy: Copy) => Promise<unknown>)[] = [];
for (const tests of new Map(chosen.map((bug) => [bug.tests.join(" "), bug.tests])).values()) {
  const outcome = new Promise<Outcome>((resolve) => {
    tasks.push((copy) => copy.run(tests).then(resolve));
  });
  without.set(tests.join(" "), outcome);
}
for (const bug of chosen) tasks.push((copy) => plant(bug, copy));

async function plant(bug: Bug, copy: Copy): Promise<void> {
  const { failure, seconds } = await copy.runWith(bug);
  const usual = await without.get(bug.tests.join(" "));
  const isFound = failure !== undefined && usual?.failure === undefined;
  found.set(bug, isFound);
  const answer = usual?.failure === undefined ? (failure ?? "**survives**") : `**fails without it**: ${usual.failure}`;
  console.log(rowOf(bug, `${answer} (${seconds} s)`));
}

/** Does tasks in a copy of its own, on two cores of its own where that can be said. */
async function work(core: number): Promise<void> {
  using copy = new Copy(core, Number(options.seconds));
  for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) await task(copy);
}

await Promise.all(Array.from({ length: Number(options.workers) }, (_, core) => work(core)));

console.log("\n| folder | bugs | found |\n| --- | --- | --- |");
for (const folder of new Set(chosen.map(folderOf))) {
  const its = chosen.filter((bug) => folderOf(bug) === folder);
  console.log(`| \`${folder}\` | ${its.length} | ${its.filter((bug) => found.get(bug)).length} |`);
}
const count = chosen.filter((bug) => found.get(bug)).length;
console.log(`\n${count} of ${chosen.length} found, ${((100 * count) / chosen.length).toFixed(1)} %`);
process.exitCode = count >= LEAST * chosen.length ? 0 : 1;
