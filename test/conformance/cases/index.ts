/** Every case of the conformance suite. */
import type { ConformanceCase } from "../case.ts";
import { arrayCases } from "./arrays.ts";
import { atomicCases } from "./atomics.ts";
import { controlCases } from "./control.ts";
import { conversionCases } from "./conversions.ts";
import { functionCases } from "./functions.ts";
import { integerCases } from "./integers.ts";
import { libraryCases } from "./library.ts";
import { montecarloCases } from "./montecarlo.ts";
import { quantizationCases } from "./quantization.ts";
import { randomCases } from "./random.ts";
import { realCases } from "./reals.ts";
import { recordCases } from "./records.ts";
import { subgroupCases } from "./subgroups.ts";
import { workgroupCases } from "./workgroups.ts";

export const cases: readonly ConformanceCase[] = [
  ...realCases,
  ...integerCases,
  ...conversionCases,
  ...controlCases,
  ...arrayCases,
  ...workgroupCases,
  ...atomicCases,
  ...subgroupCases,
  ...functionCases,
  ...recordCases,
  ...libraryCases,
  ...randomCases,
  ...montecarloCases,
  ...quantizationCases,
];
