// npm run check:properties -- [--trades 50000] [--seed 1] [--top 2] [--only PROPERTY] [--output FILE] [--accuracy 1e-5]
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { allProperties } from "./all.ts";
import { findingText, reportText, run } from "./run.ts";
import { verdictOn, verdictText } from "./verdict.ts";

const { values } = parseArgs({
  options: {
    trades: { type: "string", default: "3000" },
    seed: { type: "string", default: "1" },
    top: { type: "string", default: "2" },
    only: { type: "string" },
    output: { type: "string" },
    accuracy: { type: "string" },
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
const properties = allProperties.filter(
  ({ name }) => only === undefined || only.split(",").some((part) => name.includes(part)),
);
if (properties.length === 0)
  refuse(`--only ${only}: expected parts of ${allProperties.map(({ name }) => name).join(", ")}`);
using device = createCpuDevice();
const started = performance.now();
const report = await run({
  device,
  properties,
  trades,
  seed,
  ...(accuracy === undefined ? {} : { accuracy }),
  onProgress: (priced) => console.error(`${priced} trades, ${((performance.now() - started) / 1000).toFixed(0)} s`),
});
const verdict = verdictOn(report);
console.log(`${reportText(report, top)}\n\n${verdictText(verdict)}`);
process.exitCode = verdict.passed ? 0 : 1;
if (output !== undefined) writeFileSync(output, [...report.failures, ...report.offenders].map(findingText).join("\n"));

function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}
