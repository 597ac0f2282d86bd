// The benchmarks of devices as a program of its own, for machines that have Node and a GPU but no development tools:
// bundled by `npm run bundle:device`. node bench.mjs [NAME…] [--quick] [--output FILE]
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { deviceBenchmark as axes } from "../axes.bench.ts";
import { benchmark as cycles } from "../cycles.bench.ts";
import { benchmark as device } from "../device.bench.ts";
import { measure, type Measurement } from "../harness.ts";
import { benchmark as ladder } from "../ladder.bench.ts";
import { benchmark as threads } from "../threads.bench.ts";
import { benchmark as calibration } from "./calibration.ts";
import { benchmark as dense } from "./dense.ts";
import { benchmark as integral } from "./integral.ts";
import { benchmark as quantization, webgpuBenchmark as quantizationWebGpu } from "./quantization.ts";
import { benchmark as random } from "./random.ts";
import { benchmark as rates } from "./rates.ts";
import { benchmark as sparse } from "./sparse.ts";
import { benchmark as sparsegrid } from "./sparsegrid.ts";
import { benchmark as tridiagonal } from "./tridiagonal.ts";
import { benchmark as tridiagonalSizes } from "./tridiagonal-sizes.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean" }, output: { type: "string" } },
});
const measurements: Measurement[] = [];
for (const benchmark of [
  device,
  tridiagonal,
  tridiagonalSizes,
  dense,
  calibration,
  sparse,
  sparsegrid,
  random,
  integral,
  rates,
  quantization,
  quantizationWebGpu,
  axes,
  threads,
  ladder,
  cycles,
]) {
  if (positionals.length > 0 && !positionals.includes(benchmark.name)) continue;
  await measure(benchmark, values.quick ?? false, (measurement) => {
    measurements.push(measurement);
    if (values.output !== undefined) writeFileSync(values.output, `${JSON.stringify(measurements, null, 2)}\n`);
  });
}
