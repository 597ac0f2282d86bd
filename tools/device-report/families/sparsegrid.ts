/** Sparse grids, every shape of their kernel, against the CPU in f64. */
import { difference, problems, tolerance } from "../../../test/pde/sparsegrid/device-cases.ts";
import { compiledAs } from "../compiled-as.ts";
import { type Check, type Family, isSlow, some } from "../check.ts";

export const sparsegrid: Family = (target, context) => {
  const { precision, device } = target;
  if (device === context.cpu && precision === "f64") return [];
  const names = Object.keys(problems) as (keyof typeof problems)[];
  const checks = some(isSlow(target) ? names.slice(0, 1) : names, context, 4).map((name): Check => ({
    name,
    async run() {
      const worst = await difference(name, compiledAs(target), precision, context.cpu);
      const failure = `${name}: ${worst.toExponential(2)} from the CPU, at most ${tolerance[precision]} allowed`;
      return { error: worst, failure: worst < tolerance[precision] ? undefined : failure };
    },
  }));
  return [{ family: "sparse grids, against the CPU", unit: "for spots of 100", checks }];
};
