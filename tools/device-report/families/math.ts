/**
 * The functions of the kernel language against mpmath, and, where arithmetic is IEEE 754's, bit for bit against
 * JavaScript's.
 */
import {
  casesOf,
  columns,
  type Evaluator,
  host,
  interpreter,
  names,
  onDevice,
  unitOf,
  worstError,
  wrongSpecials,
} from "../../../test/kernel/math-accuracy.ts";
import { type Check, compileOptions, type Context, type Family, type Group, some, type Target } from "../check.ts";

export const math: Family = (target, context) => {
  const evaluator = onDevice(target.device, compileOptions(target));
  return [
    {
      family: "functions",
      unit: unitOf(target.precision),
      checks: names.map((name) => accuracy(name, evaluator, context)),
    },
    ...(target.device.backend === "webgpu" ? [] : exactValues(target, evaluator, context)),
  ];
};

function accuracy(name: string, evaluator: Evaluator, { quick }: Context): Check {
  return {
    name,
    async run() {
      const { worst, at } = await worstError(name, evaluator, quick ? 8 : 1);
      const bound = evaluator.bound(name);
      const failure = `${at}: ${worst} ${unitOf(evaluator.precision)}, at most ${bound} allowed`;
      return { error: worst, failure: worst <= bound ? undefined : failure };
    },
  };
}

/** WGSL promises nothing about NaN, infinities and signs of zeros, nor about single bits. */
function exactValues(target: Target, evaluator: Evaluator, context: Context): Group[] {
  const exact = target.device.backend === "cpu" || target.fma === "exact";
  const special: Check = {
    name: "special values",
    async run() {
      const wrong = await wrongSpecials(evaluator);
      return { error: wrong.length, failure: wrong[0] };
    },
  };
  const bits = exact ? some(names, context, 4).map((name) => sameBits(name, evaluator)) : [];
  return [{ family: "functions, special values and bits", unit: "wrong values", checks: [special, ...bits] }];
}

/** As JavaScript's in f64, which the CPU's are, and as the interpreter's in f32. */
function sameBits(name: string, evaluator: Evaluator): Check {
  return {
    name: `${name}, bit for bit`,
    async run() {
      const [x, y] = columns(evaluator.precision, casesOf(name, evaluator.precision));
      const reference = evaluator.precision === "f64" ? host : interpreter(evaluator.precision);
      const [got, expected] = [await evaluator.run(name, x, y), await reference.run(name, x, y)];
      const wrong = Array.from(x.keys()).filter((i) => !Object.is(got[i], expected[i]));
      const [i] = wrong;
      const failure = `${name}(${x[i]}, ${y[i]}): ${got[i]}, expected ${expected[i]}`;
      return { error: wrong.length, failure: wrong.length === 0 ? undefined : failure };
    },
  };
}
