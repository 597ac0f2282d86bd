// node --import ./scripts/typescript.js tools/coverage/main.ts [--families PARTS] [--trades 500] [--seed 1]
//   [--workers N] [--minutes 8] [--family-seconds 600] [--output FILE.json] [--save] [--from FILE.json]
// Prices random trades of each family beside independent references and prints how many errors are within their
// estimates. --save writes the table into docs/accuracy.md; --from makes it from an earlier --output, without pricing.
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { FAMILIES } from "./families/all.ts";
import { multipleOf, type Outcome } from "./price.ts";
import { hasPassed, lineOf, type Row, rowOf, writeTable } from "./report.ts";
import type { Answer, Task } from "./worker.ts";

const { values } = parseArgs({
  options: {
    families: { type: "string", default: "" },
    trades: { type: "string", default: "500" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: String(availableParallelism()) },
    minutes: { type: "string", default: "60" },
    "family-seconds": { type: "string", default: "400" },
    output: { type: "string" },
    from: { type: "string" },
    save: { type: "boolean", default: false },
  },
});
const number = (name: "trades" | "seed" | "workers" | "minutes" | "family-seconds", min: number): number => {
  const given = Number(values[name]);
  if (given >= min) return given;
  console.error(`--${name} ${values[name]}: expected a number from ${min} on`);
  process.exit(2);
};
const [trades, seed, workers] = [number("trades", 1), number("seed", 0), number("workers", 1)];
const [minutes, familySeconds] = [number("minutes", 0), number("family-seconds", 1)];
const DOCUMENT = join(import.meta.dirname, "../../docs/accuracy.md");
const WORKER = join(import.meta.dirname, "worker.ts");
/** Trades of a task, which are priced in one book. */
const TOGETHER = 20;

interface Progress {
  readonly index: number;
  readonly tasks: Task[];
  readonly outcomes: Outcome[];
  readonly failures: string[];
  open: number;
  seconds: number;
  cut: boolean;
}

const rows =
  values.from === undefined ? await measure() : (JSON.parse(readFileSync(values.from, "utf8")) as { rows: Row[] }).rows;
if (values.save) writeTable(DOCUMENT, rows);
const passed = rows.filter(hasPassed).length;
console.log(`${passed} of ${rows.length} families passed`);
process.exitCode = passed === rows.length ? 0 : 1;

async function measure(): Promise<readonly Row[]> {
  const parts = values.families.split(",");
  const chosen = FAMILIES.flatMap(({ name }, index) => (parts.some((part) => name.includes(part)) ? [index] : []));
  if (chosen.length === 0) {
    console.error(`--families ${values.families}: expected parts of ${FAMILIES.map(({ name }) => name).join("; ")}`);
    process.exit(2);
  }
  const all = chosen.map(progressOf);
  const count = Math.min(workers, chosen.length * Math.ceil(trades / TOGETHER));
  await Promise.all(Array.from({ length: count }, () => work(all)));
  const made = all.map((one) => rowOf(FAMILIES[one.index], one.outcomes, one.seconds, one.cut));
  if (values.output !== undefined) {
    const offenders = all.flatMap((one) =>
      one.outcomes.filter(isOutside).map((outcome) => ({ family: FAMILIES[one.index].name, ...outcome })),
    );
    const failures = all.flatMap((one) => one.failures);
    writeFileSync(values.output, JSON.stringify({ seed, rows: made, offenders, failures }, undefined, 1));
  }
  return made;
}

function progressOf(index: number): Progress {
  const count = Math.min(trades, FAMILIES[index].most ?? trades);
  const tasks = Array.from({ length: Math.ceil(count / TOGETHER) }, (_, k) => ({
    family: index,
    seed,
    from: k * TOGETHER,
    to: Math.min((k + 1) * TOGETHER, count),
  }));
  return { index, tasks, outcomes: [], failures: [], open: 0, seconds: 0, cut: false };
}

function isOutside(outcome: Outcome): boolean {
  return !(multipleOf(outcome) <= 1) || Number.isNaN(outcome.reference.value);
}

/** Hands tasks to a process until none is left or time has ended; one that ends early is replaced. */
async function work(all: readonly Progress[]): Promise<void> {
  let child = fork(WORKER);
  for (;;) {
    const one = all.find(({ tasks }) => tasks.length > 0);
    if (one === undefined) break;
    if (performance.now() > 60_000 * minutes || one.seconds > familySeconds) {
      one.cut = true;
      one.tasks.length = 0;
      if (one.open === 0) tell(one);
      continue;
    }
    const task = one.tasks.shift()!;
    one.open++;
    const { outcomes, seconds, failure } = await ask(child, task);
    if (!child.connected) child = fork(WORKER);
    one.open--;
    one.seconds += seconds;
    one.outcomes.push(...outcomes);
    if (failure !== undefined) one.failures.push(`${FAMILIES[task.family].name} ${task.from}: ${failure}`);
    if (one.tasks.length === 0 && one.open === 0) tell(one);
  }
  child.disconnect();
}

function ask(child: ChildProcess, task: Task): Promise<Answer> {
  return new Promise((resolve) => {
    const ended = (code: number | null): void =>
      resolve({ task, outcomes: [], seconds: 0, failure: `the process ended with ${code}` });
    child.once("exit", ended);
    child.once("message", (answer) => {
      child.off("exit", ended);
      resolve(answer as Answer);
    });
    child.send(task);
  });
}

/** One line a family, and what is not within its estimate. */
function tell(one: Progress): void {
  console.log(lineOf(rowOf(FAMILIES[one.index], one.outcomes, one.seconds, one.cut)));
  for (const failure of one.failures) console.log(`  ${failure}`);
  for (const outcome of one.outcomes
    .filter(isOutside)
    .toSorted((a, b) => multipleOf(b) - multipleOf(a))
    .slice(0, 5)) {
    const { index, value, estimate, reference, error, method, book } = outcome;
    const own = `${value} ± ${estimate?.toExponential(2)} (${method})`;
    const known = `${own}, reference ${reference.value} ± ${reference.error?.toExponential(2)}`;
    console.log(`  #${index}: ${multipleOf(outcome).toFixed(2)}: ${error ?? known}\n    ${JSON.stringify(book)}`);
  }
}
