// npm run check:faults -- --runs 200 --seed 1: runs in a queue under random faults.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { programFolder } from "../support/program.ts";
import { runFaults } from "./faults.ts";
import { noRedis } from "./redis.ts";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "200" }, seed: { type: "string", default: "1" } },
});
if (noRedis !== undefined) throw new Error(noRedis);
const folder = mkdtempSync(join(tmpdir(), "feynkac-faults-"));
const programs = programFolder();
const request = { folder, programs, runs: Number(values.runs), seed: Number(values.seed) };
const { happened, wrong } = await runFaults({ ...request, report: (line) => console.log(line) });
rmSync(programs, { recursive: true });
console.log(happened);
console.log(
  `${request.runs} runs, ${wrong.length} of them wrong${wrong.length > 0 ? `: ${wrong.join(", ")} in ${folder}` : ""}`,
);
if (wrong.length === 0) rmSync(folder, { recursive: true });
process.exitCode = wrong.length === 0 ? 0 : 1;
