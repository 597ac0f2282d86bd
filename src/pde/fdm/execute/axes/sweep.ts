import { fn, type ValueOf } from "../../../../kernel/index.ts";
import type { AxesVariant } from "../../operator/axes-variant.ts";
import { solveLines } from "./lines.ts";
import { linesAlong, partOf } from "./piece.ts";
import { roundsOf } from "./place.ts";
import { type Fault, inPhase, LANES } from "./records.ts";
import { explicitSide, storedSide } from "./right-hand-side.ts";
import { solveRuns } from "./runs.ts";

/**
 * Returns the phase that sweeps along an axis, (I − θΔtLⱼ)·Dⱼ = Dⱼ₋₁. The first sweep of a step is along the last axis,
 * whose right-hand side is the explicit part. With `corrects` it belongs to the second series of sweeps (`Correction`).
 * Work items solve whole lines, or intervals of lines (`Runs`).
 */
export function sweep(variant: AxesVariant, axis: number, corrects: boolean) {
  const byRuns = variant.runs !== undefined;
  const side = axis === variant.axes.length - 1 ? explicitSide(variant, corrects) : storedSide;
  return fn({
    name: `sweep${axis}`,
    params: inPhase,
    env: {
      corrects,
      finds: side.finds,
      linesAlong: linesAlong(variant, axis),
      partOf: partOf(variant),
      rounds: roundsOf(byRuns ? { groupSize: LANES } : variant),
      solve: byRuns ? solveRuns(variant, axis, corrects, side) : solveLines(variant, axis, corrects, side),
    },
    *body({ launch, place, step, found }, _gpu, env) {
      let now: ValueOf<typeof Fault> = found;
      const { count, n } = env.linesAlong(launch);
      const part = env.partOf({ item: place.item, n });
      const rounds = env.corrects && !step.corrected ? 0 : env.rounds(count);
      for (let r = place.firstRound; r < rounds; r += place.everyRound)
        now = yield* env.solve({ launch, place, step, r, part, found: now });
      // What is known to have found nothing is not looked at.
      return env.finds ? now : found;
    },
  });
}
