// npm run check:properties -- [--trades 50000] [--seed 1] [--top 2] [--only PROPERTY] [--output FILE] [--accuracy 1e-5]
// npm run check:properties -- --factors several: several factors and paths, with so many trades of each family; --only
// then selects families
// npm run check:properties -- --factors rates: short rates whose formulas depend on time
// npm run check:properties -- --factors company --trades 20: each trade of so many books alone, whose bits are the same
// npm run check:properties -- --factors explain --trades 200: unexplained changes of value of so many random books on
// quotes; --only then selects families
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { allProperties } from "./all.ts";
import { checkCompany } from "./company/check.ts";
import { explainRandomBooks, explainTable, FAMILIES } from "./explain.ts";
import { type Finding, findingText, reportText, run } from "./run.ts";
import { checkShortRates } from "./short-rates.ts";
import { type FamilyReport, familyTable, runFamily, severalFamilies } from "./several.ts";
import { verdictOn, verdictText } from "./verdict.ts";

const { values } = parseArgs({
  options: {
    trades: { type: "string", default: "3000" },
    seed: { type: "string", default: "1" },
    top: { type: "string", default: "2" },
    only: { type: "string" },
    output: { type: "string" },
    accuracy: { type: "string" },
    factors: { type: "string", default: "one" },
  },
});
const { only, output } = values;
const [trades, seed, top] = (
  [
    ["trades", 1],
    ["seed", 0],
    ["top", 0],
  ] as const
).map(([name, min]) => {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= min) return number;
  return refuse(`--${name} ${values[name]}: expected a whole number from ${min} on`);
});
const accuracy = values.accuracy === undefined ? undefined : Number(values.accuracy);
if (accuracy !== undefined && !(accuracy >= 1e-8 && accuracy <= 1e-3))
  refuse(`--accuracy ${values.accuracy}: expected a number from 1e-8 to 1e-3`);
using device = createCpuDevice();
const options = { device, trades, seed, ...(accuracy === undefined ? {} : { accuracy }), onProgress: progress() };
if (values.factors === "several") await checkSeveral();
else if (values.factors === "one") await checkOne();
else if (values.factors === "rates") await checkRates();
else if (values.factors === "company") await checkBooks();
else if (values.factors === "explain") await checkExplain();
else refuse(`--factors ${values.factors}: expected "one", "several", "rates", "company" or "explain"`);

async function checkOne(): Promise<void> {
  const properties = selected(allProperties);
  const report = await run({ ...options, properties });
  const verdict = verdictOn(report);
  console.log(`${reportText(report, top)}\n\n${verdictText(verdict)}`);
  finish(verdict.passed, [...report.failures, ...report.offenders]);
}

async function checkRates(): Promise<void> {
  const { within, worstRatio, worst } = await checkShortRates(device, trades, seed);
  console.log(`${within} of ${trades} within their estimates, worst ratio ${worstRatio.toFixed(1)}:\n${worst}`);
  process.exitCode = within >= 0.98 * trades && worstRatio <= 3 ? 0 : 1;
}

async function checkBooks(): Promise<void> {
  const { compared, priced, differences } = await checkCompany(device, { books: trades, seed, extent: "all" });
  console.log(
    [...differences, `${compared} trades, ${priced} with a value, ${differences.length} differ`].join("\n\n"),
  );
  process.exitCode = differences.length === 0 ? 0 : 1;
}

async function checkExplain(): Promise<void> {
  const families = selected(FAMILIES.map((name) => ({ name }))).map(({ name }) => name);
  const found = await explainRandomBooks(device, { books: trades, seed, families, onProgress: options.onProgress });
  const { text, passed } = explainTable(found);
  console.log(text);
  finish(passed, []);
}

async function checkSeveral(): Promise<void> {
  const reports: FamilyReport[] = [];
  for (const family of selected(severalFamilies)) reports.push(await runFamily(family, options));
  const found = reports.flatMap(({ report: { failures, offenders } }) => [...failures, ...offenders]);
  const worst = reports.flatMap(({ report, worst: one }) => [...report.failures.slice(0, top), ...(one ? [one] : [])]);
  console.log([familyTable(reports), ...(top > 0 ? worst.map(findingText) : [])].join("\n"));
  finish(
    reports.every(({ passed }) => passed),
    found,
  );
}

function selected<T extends { readonly name: string }>(all: readonly T[]): readonly T[] {
  const chosen = all.filter(({ name }) => only === undefined || only.split(",").some((part) => name.includes(part)));
  if (chosen.length === 0) refuse(`--only ${only}: expected parts of ${all.map(({ name }) => name).join(", ")}`);
  return chosen;
}

function progress(): (priced: number) => void {
  const started = performance.now();
  return (priced) => console.error(`${priced} trades, ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

function finish(passed: boolean, found: readonly Finding[]): void {
  process.exitCode = passed ? 0 : 1;
  if (output !== undefined) writeFileSync(output, found.map(findingText).join("\n"));
}

function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}
