/** Competitive learning by itself: its gain falls from batch to batch (Pagès 2015, section 3.3). */
import { expect, test } from "vitest";
import { WorkProgress } from "../../../src/base/event-loop.ts";
import { type Assignment, learnQuantizer } from "../../../src/quadrature/quantization/normal/lloyd.ts";

test("γₜ = 1/(1 + 8·t/T)", async () => {
  // One point, which the samples of the batches draw to 1, then to 0 three times.
  const targets = [1, 0, 0, 0];
  const batch = 8;
  const assignment = {
    dimension: 1,
    sums: (points: Float64Array, from: number) =>
      Promise.resolve({
        counts: Uint32Array.of(batch),
        displacements: Float64Array.of(batch * (targets[from / batch] - points[0])),
      }),
  } as unknown as Assignment;
  const settings = {
    assignment,
    guess: Float64Array.of(0.5),
    batches: 4,
    batch,
    iterations: 0,
    samples: 0,
    work: new WorkProgress({}),
  };
  const [point] = await learnQuantizer(settings);
  expect(point).toBeCloseTo((1 - 1 / 3) * (1 - 1 / 5) * (1 - 1 / 7), 12);
});
