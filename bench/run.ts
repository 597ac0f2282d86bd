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
if (positionals[0] === "compare") {
  const [, before, after = "bench/results"] = positionals;
  if (before === undefined) {
    console.error("compare: expected one or two of a file, a folder, a commit; the second is bench/results");
    process.exit(2);
  }
  const comparisons = compare(readResults(before), readResults(after));
  console.log(comparisonText(comparisons));
  process.exit(comparisons.some(({ ratio }) => ratio > Number(values.limit ?? Infinity)) ? 1 : 0);
}
const all = await loadAll();
const unknown = positionals.filter((name) => !all.some((benchmark) => benchmark.name === name));
if (values.list === true || unknown.length > 0) {
  for (const name of unknown) console.error(`no benchmark "${name}"`);
  for (const { name, description } of all) console.log(`${name}: ${description}`);
  process.exitCode = unknown.length > 0 ? 2 : 0;
} else {
  const chosen = positionals.length === 0 ? all : all.filter(({ name }) => positionals.includes(name));
  for (const benchmark of chosen) {
    const measurements = await measure(benchmark, values.quick ?? false);
    if (values.save ?? false) save(measurements);
  }
}
