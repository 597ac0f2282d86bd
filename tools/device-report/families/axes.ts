/** Equations on two and three axes, every kind of kernel, against the CPU in f64. */
import { difference, problems, shared, tolerance } from "../../../test/pde/fdm/axes/device-cases.ts";
import { compiledAs } from "../compiled-as.ts";
import { type Check, type Family, some } from "../check.ts";

export const axes: Family = (target, context) => {
  const { precision, device } = target;
  if (device === context.cpu && precision === "f64") return [];
  const checks = [...some(Object.keys(problems), context, 4), ...Object.keys(shared)].map((name): Check => ({
    name,
    async run() {
      const worst = await difference(name, compiledAs(target), precision, context.cpu);
      const failure = `${name}: ${worst.toExponential(2)} from the CPU, at most ${tolerance[precision]} allowed`;
      return { error: worst, failure: worst < tolerance[precision] ? undefined : failure };
    },
  }));
  return [{ family: "equations on several axes, against the CPU", unit: "for strikes of 100", checks }];
};
