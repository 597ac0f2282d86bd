/** The solver of one grid's systems, by itself. */
import { expect, test } from "vitest";
import { i32, kernel, read, real, write } from "../../../src/kernel/index.ts";
import { scratchReals, solveStage } from "../../../src/pde/sparsegrid/kernel/krylov.ts";
import { type GridVariant, slot, slotsOf } from "../../../src/pde/sparsegrid/kernel/variant.ts";
import { compileSparseGridEquation } from "../../../src/pde/sparsegrid/problem/model.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { bestOf, problemOf } from "./support.ts";

/** One stage for a grid of `rounds` unknowns, whose rows read x[i − 1] and x[i + 2]. */
const stageKernel = (variant: GridVariant) =>
  kernel({
    name: "one stage",
    groupSize: 1,
    params: { own: write(real), distances: read(i32), pitch: i32, rounds: i32, solved: write(i32) },
    env: { solveStage: solveStage(variant), SCRATCH: scratchReals(variant) },
    *body({ own, distances, pitch, rounds, solved }, gpu, { solveStage, SCRATCH }) {
      const scratch = gpu.sharedReal(SCRATCH);
      const system = {
        own,
        base: 2,
        pitch,
        seen: own,
        seenBase: 2,
        seenPitch: pitch,
        distances,
        offsets: 0,
        rounds,
        item: 0,
        scratch,
      };
      const stage = { fromU: 1.0, fromV: 0.0, advance: 1.0, extrapolation: 1.0, keeps: false };
      const { iterations, isSolved } = yield* solveStage({ system, stage, relative: 1e-12, maxIterations: 50 });
      solved[0] = isSolved ? iterations : -1;
    },
  });

test("BiCGStab starts again where the residual is orthogonal to its shadow", async () => {
  // A = I + a·e₂e₁ᵀ + b·e₃e₂ᵀ + c·e₁e₃ᵀ and the right-hand side e₁: the first residual has no component along e₁.
  const [a, b, c] = [0.5, 0.75, -0.25];
  const model = compileSparseGridEquation(problemOf(bestOf(1)));
  const variant = { ...model.variant, method: "bicgstab", groupSize: 1, shuffles: false, residentRows: 0 } as const;
  const pitch = 8;
  const own = new Float64Array(slotsOf(variant) * pitch + 4);
  const set = (array: number, values: readonly number[]): void => own.set(values, array * pitch + 2);
  set(slot.U, [1, 0, 0]);
  // The first guess is u + rate = 0.
  set(slot.RATE, [-1, 0, 0]);
  set(slot.INVERSE, [1, 1, 1]);
  set(slot.MATRIX, [0, a, b]);
  set(slot.MATRIX + 1, [c, 0, 0]);
  using device = new InterpreterDevice();
  using buffer = device.createBuffer("f64", own.length);
  using distances = device.createBuffer("i32", 2);
  using solved = device.createBuffer("i32", 1);
  device.write(buffer, own);
  device.write(distances, Int32Array.of(-1, 2));
  const compiled = await device.compile(stageKernel(variant), { precision: "f64" });
  device.launch(compiled, { own: buffer, distances, pitch, rounds: 3, solved }, { groups: 1 });
  const [iterations] = await device.read(solved);
  expect(iterations).toBeGreaterThan(0);
  const y = (await device.read(buffer)).slice(slot.U * pitch + 2, slot.U * pitch + 5);
  const first = 1 / (1 + a * b * c);
  [first, -a * first, a * b * first].forEach((value, i) => expect(y[i]).toBeCloseTo(value, 11));
});
