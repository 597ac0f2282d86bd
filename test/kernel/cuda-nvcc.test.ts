/**
 * Generated CUDA C++ is what nvcc accepts, for every architecture that matters, and what it makes of the pricing
 * kernels. No GPU is needed. FEYNKAC_PROGRAMS sets how many generated kernels there are (40), FEYNKAC_SEED which ones.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HALF_SUBGROUP_TEAM, SUBGROUP_TEAM, WORKGROUP_TEAM } from "../../src/pde/fdm/execute/team/team.ts";
import { type SolverVariant } from "../../src/pde/fdm/execute/option/plan.ts";
import { solverKernel } from "../../src/pde/fdm/execute/option/kernel.ts";
import { kernelVolatility } from "../../src/pde/fdm/operator/coefficients.ts";
import { equationKernel } from "../../src/pde/fdm/execute/equation/kernel.ts";
import { compileOneAxisEquation } from "../../src/pde/fdm/model/full-grid.ts";
import {
  bool,
  formula,
  i32,
  type Kernel,
  kernelFromSource,
  lower,
  read,
  real,
  u32,
  write,
} from "../../src/kernel/index.ts";
import type { KernelIR } from "../../src/kernel/ir.ts";
import { blackScholesKernel } from "../../src/market/models/black-scholes.ts";
import { cases } from "../conformance/cases/index.ts";
import { functions } from "../conformance/programs/functions.ts";
import { programs } from "../conformance/programs/generate.ts";
import { problems } from "../pde/fdm/equation/device-cases.ts";
import { counted, everything } from "../support/extent.ts";
import { ARCHITECTURES, compile, nvccMissing, type Resources, translationUnit } from "./cuda-support.ts";

const PRECISIONS = ["f64", "f32"] as const;
type Real = (typeof PRECISIONS)[number];

/** What the oldest and the newest accept, those between them do. Registers are counted on all. */
const ENDS = [...new Set([ARCHITECTURES[0], ARCHITECTURES.at(-1)!])];

/** Two compilers at a time, one a precision. */
async function compiled(kernelsOf: (precision: Real) => readonly KernelIR[]): Promise<void> {
  const irs = PRECISIONS.map((precision) => kernelsOf(precision));
  const reports = await Promise.all(irs.map((kernels) => compile(translationUnit(kernels), ENDS)));
  expect(reports.flat()).toHaveLength(irs.flat().length * ENDS.length);
}

describe.skipIf(nvccMissing !== undefined)(nvccMissing ?? "nvcc", () => {
  test.skipIf(!everything)(
    "every conformance kernel",
    async () => {
      await compiled((precision) =>
        cases
          .filter(({ precisions }) => precisions?.includes(precision) ?? true)
          .map(({ kernel }) => lower(kernel, precision)),
      );
    },
    300_000,
  );

  test("generated kernels", async () => {
    const runs = counted("FEYNKAC_PROGRAMS", 1, 40);
    const seed = Number(process.env["FEYNKAC_SEED"] ?? 20261121);
    const kernels = fc.sample(programs("anything"), { numRuns: runs, seed }).map(({ source }) => generated(source));
    await compiled((precision) => kernels.map((kernel) => lower(kernel, precision)));
  }, 120_000);

  test.skipIf(!everything)(
    "pricing kernels; those of the workgroup split have their private arrays in registers",
    async () => {
      const reports = await Promise.all(PRECISIONS.map((precision) => pricing(precision)));
      const found = reports.flat();
      if (process.env["FEYNKAC_REGISTERS"] === "1") console.table(found);
      expect(found).toHaveLength(PRECISIONS.length * pricingKernels.length * ARCHITECTURES.length);
      const workgroup = found.filter(({ kernel }) => kernel.includes("workgroup"));
      // ptxas may spill a few registers for the sake of one more block on a multiprocessor; an array would be 40 bytes
      // in f64.
      expect(workgroup.filter(({ stack }) => stack >= 40)).toEqual([]);
      expect(found.filter(({ kernel, spilled }) => kernel.includes("black") && spilled > 0)).toEqual([]);
    },
    180_000,
  );

  test.skipIf(!everything)(
    "equations by subgroups, in registers",
    async () => {
      const kernels = (precision: Real): KernelIR[] => equationKernels.map((kernel) => lower(kernel, precision));
      const reports = await Promise.all(PRECISIONS.map((precision) => compile(translationUnit(kernels(precision)))));
      const found = reports.flat();
      if (process.env["FEYNKAC_REGISTERS"] === "1") console.table(found);
      expect(found).toHaveLength(PRECISIONS.length * equationKernels.length * ARCHITECTURES.length);
      expect(found.filter(({ stack }) => stack > 0)).toEqual([]);
    },
    180_000,
  );
});

const variant = {
  exercise: "none",
  shape: "lognormal",
  dividends: false,
  capacity: 257,
  closed: true,
} as const satisfies SolverVariant;

const pricingKernels: readonly Kernel[] = [
  blackScholesKernel,
  solverKernel(variant, SUBGROUP_TEAM, true),
  solverKernel({ ...variant, exercise: "brennan-schwartz" }, SUBGROUP_TEAM, true),
  solverKernel({ ...variant, capacity: 272, exercise: "brennan-schwartz" }, HALF_SUBGROUP_TEAM, true),
  solverKernel({ ...variant, capacity: 272, dividends: true }, HALF_SUBGROUP_TEAM, false),
  solverKernel({ ...variant, closed: false }, WORKGROUP_TEAM, false),
  solverKernel({ ...variant, exercise: "brennan-schwartz", dividends: true }, WORKGROUP_TEAM, true),
  solverKernel({ ...variant, exercise: "policy", shape: "table", closed: false }, WORKGROUP_TEAM, false),
  solverKernel({ ...variant, exercise: "dates" }, SUBGROUP_TEAM, true),
  solverKernel({ ...variant, closed: false, barriers: 2 }, WORKGROUP_TEAM, true),
  solverKernel({ ...variant, exercise: "brennan-schwartz", dividends: true }),
  solverKernel({ ...variant, exercise: "policy", shape: "table", closed: false }),
  // A volatility of constant elasticity of variance, as a formula.
  solverKernel({
    ...variant,
    shape: "formula",
    closed: false,
    volatility: kernelVolatility(formula("0.3 * (S / 100) ** -0.5", ["S", "t"])).shape,
  }),
];

/** Nine nodes an item; the penalty method and two stages take more registers than there are. */
const equationKernels: readonly Kernel[] = [
  "Crank–Nicolson, linear ends",
  "Brennan and Schwartz",
  "operator splitting, TR-BDF2",
  "exercise on dates, a jump, knock-outs on a date and in a window",
].map((name) => equationKernel({ ...compileOneAxisEquation(problems[name]).variant, capacity: 288 }, SUBGROUP_TEAM));

const pricing = (precision: Real): Promise<Resources[]> =>
  compile(translationUnit(pricingKernels.map((kernel) => lower(kernel, precision))));

const GENERATED = {
  n: i32,
  x: real,
  yes: bool,
  u: read(real),
  v: read(i32),
  w: write(real),
  out: write(real),
  iout: write(i32),
  uout: write(u32),
};

function generated(source: string): Kernel {
  const env = { SCALE: 0.75, COUNT: 4, FLAG: true, ...functions };
  return kernelFromSource({ name: "generated", params: GENERATED, env, source });
}
