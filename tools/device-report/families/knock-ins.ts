/** The value before a knock-in, beside that of the trade that has been knocked in, against the CPU in f64. */
import { kernels, problems } from "../../../test/pde/fdm/knock-in-cases.ts";
import { largestDifference, solved, TOLERANCE } from "../../../test/pde/fdm/split-cases.ts";
import { compiledAs } from "../compiled-as.ts";
import { type Check, type Family, some } from "../check.ts";

const SIZE = { nodes: 105, steps: 24 };

export const knockIns: Family = (target, context) => {
  const { precision, device } = target;
  if (device === context.cpu && precision === "f64") return [];
  // Of f32x2 this is all of its rounding, where two splits differ by a part of it.
  const allowed = precision === "f32x2" ? 1e-9 : TOLERANCE[precision];
  const checks = some(kernels, context, 2).map((name): Check => ({
    name,
    async run() {
      const problem = problems[name];
      const [got, expected] = [
        await solved(compiledAs(target), precision, problem, SIZE, "item"),
        await solved(context.cpu, "f64", problem, SIZE, "item"),
      ];
      const error = largestDifference(problem, got, expected);
      const failure = `${name}: ${error.toExponential(2)} of spot from the CPU, at most ${allowed} allowed`;
      return { error, failure: error <= allowed ? undefined : failure };
    },
  }));
  return [{ family: "knock-ins, against the CPU", unit: "of spot", checks }];
};
