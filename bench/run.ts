// npm run bench [-- NAME…] [--quick] [--save] [--list]
// npm run bench -- compare A B [--limit 1.05]: ratios of kept results; files, folders or commits
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { compare, comparisonText, readResults } from "./compare.ts";
import { type Benchmark, measure, type Measurement, resultFileName } from "./harness.ts";

const here = import.meta.dirname;

async function loadAll(): Promise<Benchmark[]> {
  const files = readdirSync(here).filter((name) => name.endsWith(".bench.ts"));
  const modules = await Promise.all(
    files.map((name) => import(pathToFileURL(join(here, name)).href) as Promise<{ benchmark: Benchmark }>),
  );
  return modules.map(({ benchmark }) => benchmark);
}

function save(measurements: readonly Measurement[]): void {
  for (const device of new Set(measurements.map((m) => m.device))) {
    const mine = measurements.filter((m) => m.device === device);
    const file = join(here, "results", resultFileName(mine[0].benchmark, device));
    writeFileSync(file, `${JSON.stringify(mine, null, 2)}\n`);
    console.log(`saved ${file}`);
  }
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean" },
    save: { type: "boolean" },
    list: { type: "boolean" },
    limit: { type: "string" },
  },
});
/** Compares two sets of results, and returns the exit code: 1 beyond the limit, 2 where there is nothing to compare. */
function compareSets([before, after = "bench/results"]: readonly string[], limit: number): number {
  if (before === undefined) {
    console.error("compare: expected one or two of a file, a folder, a commit; the second is bench/results");
    return 2;
  }
  if (!(limit > 0)) {
    console.error(`compare: --limit: expected a ratio, such as 1.05, got "${values.limit}"`);
    return 2;
  }
  const [old, now] = [readResults(before), readResults(after)];
  const comparisons = compare(old, now);
  console.log(comparisonText(old, now));
  if (comparisons.length === 0) {
    console.error("compare: both sets have no figure of one case, device and unit");
    return 2;
  }
  return comparisons.some(({ ratio }) => ratio > limit) ? 1 : 0;
}

/** Runs or lists benchmarks, and returns the exit code. */
async function runBenchmarks(names: readonly string[]): Promise<number> {
  const all = await loadAll();
  const unknown = names.filter((name) => !all.some((benchmark) => benchmark.name === name));
  if (values.list === true || unknown.length > 0) {
    for (const name of unknown) console.error(`no benchmark "${name}"`);
    for (const { name, description } of all) console.log(`${name}: ${description}`);
    return unknown.length > 0 ? 2 : 0;
  }
  for (const benchmark of names.length === 0 ? all : all.filter(({ name }) => names.includes(name))) {
    const measurements = await measure(benchmark, values.quick ?? false);
    if (values.save ?? false) save(measurements);
  }
  return 0;
}

const [first, ...others] = positionals;
process.exitCode =
  first === "compare" ? compareSets(others, Number(values.limit ?? Infinity)) : await runBenchmarks(positionals);
