// The benchmark of devices as a program of its own, for machines that have Node and a GPU but no development tools: bundled by
// `npm run bundle:device`. node bench.mjs [--quick] [--output FILE]
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { benchmark } from "../device.bench.ts";
import { measure } from "../harness.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean" }, output: { type: "string" } } });
const measurements = await measure(benchmark, values.quick ?? false);
if (values.output !== undefined) writeFileSync(values.output, `${JSON.stringify(measurements, null, 2)}\n`);
