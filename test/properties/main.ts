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
const { only, output, accuracy } = values;
const properties = allProperties.filter(
  ({ name }) => only === undefined || only.split(",").some((part) => name.includes(part)),
);
if (properties.length === 0) {
  console.error(`--only ${only}: expected a part of one of ${allProperties.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
using device = createCpuDevice();
const started = performance.now();
const report = await run({
  device,
  properties,
  trades: Number(values.trades),
  seed: Number(values.seed),
  ...(accuracy === undefined ? {} : { accuracy: Number(accuracy) }),
  onProgress: (priced) => console.error(`${priced} trades, ${((performance.now() - started) / 1000).toFixed(0)} s`),
});
const verdict = verdictOn(report);
console.log(`${reportText(report, Number(values.top))}\n\n${verdictText(verdict)}`);
process.exitCode = verdict.passed ? 0 : 1;
if (output !== undefined) writeFileSync(output, [...report.failures, ...report.offenders].map(findingText).join("\n"));
