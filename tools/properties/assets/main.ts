// npm run check:assets -- [--trades 500] [--seed 1] [--only "two assets"] [--accuracy 1e-3] [--sensitivities]
//   [--method montecarlo]   else alternating directions, and sparse grids on four assets and more
import { parseArgs } from "node:util";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import type { Method } from "../../../src/pricing/index.ts";
import { FAMILIES } from "./families.ts";
import { checkFamily, coverageOf, ratioOf } from "./price.ts";
import { checkSensitivities, excessOf, sensitivityTable } from "./sensitivities.ts";

const { values } = parseArgs({
  options: {
    trades: { type: "string", default: "500" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    method: { type: "string" },
    accuracy: { type: "string" },
    sensitivities: { type: "boolean", default: false },
  },
});
/** The share of trades whose error is within the estimate: Monte Carlo's is an interval of 95 %. */
const WITHIN = values.method === "montecarlo" ? 0.95 : 0.98;
/** Axes of alternating directions. */
const MAX_AXES = 3;
/** The largest error in estimates. */
const FAR = 3;

using device = createCpuDevice();
if (values.sensitivities) {
  const options = { device, count: Number(values.trades), seed: Number(values.seed), only: values.only };
  const checked = await checkSensitivities(options);
  console.log("family | sensitivity | n | within | max error/estimate\n--- | --- | --- | --- | ---");
  console.log(sensitivityTable(checked));
  for (const one of checked.filter((each) => !(excessOf(each) <= FAR))) console.log(JSON.stringify(one));
  process.exit(checked.every((one) => excessOf(one) <= FAR) ? 0 : 1);
}
console.log("family | n | within | max error/estimate | failed | beyond the accuracy in silence");
console.log("--- | --- | --- | --- | --- | ---");
for (const family of FAMILIES.filter(({ name }) => name.includes(values.only))) {
  const method = (values.method ?? (family.assets > MAX_AXES ? "sparse-grid" : "adi")) as Method;
  const accuracy = Number(values.accuracy ?? (method === "adi" ? 1e-4 : 1e-3));
  const checked = await checkFamily(family, {
    device,
    count: Number(values.trades),
    seed: Number(values.seed),
    method,
    accuracy,
  });
  const { n, covered, worst, failures, silent } = coverageOf(checked, accuracy);
  const within = `${((100 * covered) / n).toFixed(1)} %`;
  console.log([family.name, n, within, worst.toFixed(2), failures, silent].join(" | "));
  for (const one of checked.filter((each) => !(ratioOf(each) <= FAR))) console.log(JSON.stringify(one));
  if (covered < WITHIN * n || worst > FAR || failures > 0) process.exitCode = 1;
}
