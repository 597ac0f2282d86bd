/** Every case of the conformance suite, against the interpreter. */
import { type ConformanceCase } from "../../../test/conformance/case.ts";
import { cases } from "../../../test/conformance/cases/index.ts";
import { judgeCase } from "../../../test/conformance/run.ts";
import { PAIR_UNIT, unitOf } from "../../../test/kernel/math-accuracy.ts";
import type { Check, Family, Target } from "../check.ts";

export const conformanceOf =
  (all: readonly ConformanceCase[]): Family =>
  (target) => [
    {
      family: "conformance",
      unit: unitOf(target.precision),
      checks: all
        .filter(({ precisions }) => precisions?.includes(target.precision) !== false)
        .map((spec) => checkOf(target, spec)),
    },
  ];

export const conformance: Family = conformanceOf(cases);

function checkOf({ device, precision, fma }: Target, spec: ConformanceCase): Check {
  return {
    name: spec.name,
    async run() {
      const { differences, worst } = await judgeCase(device, spec, precision, fma);
      const error = precision === "f32x2" ? worst / PAIR_UNIT : worst;
      return { error, failure: differences[0] };
    },
  };
}
