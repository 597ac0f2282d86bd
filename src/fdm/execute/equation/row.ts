import { fn, i32 } from "../../../kernel/index.ts";
import type { EquationVariant } from "../../operator/equation-variant.ts";
import { valueAt } from "../../operator/column.ts";
import { CONDITION_SHIFT, MASK_SHIFT, PROGRAM_BITS, ROW_REALS } from "../../time/timeline.ts";
import { atStart, Cursor } from "./records.ts";

/**
 * Returns the function that reads a `Row` of the time program, with an instance's dates, which are stored after its
 * other `parameters`.
 */
export const rowAt = ({ parameters }: EquationVariant) =>
  fn({
    name: "rowAt",
    params: { ...atStart, cursor: Cursor, run: i32 },
    env: { ...PROGRAM_BITS, CONDITION_SHIFT, MASK_SHIFT, ROW_REALS, dates: parameters, valueAt },
    body({ launch: { words, reals }, place: { parameters }, run }, _gpu, env) {
      const flags = words[2 * run];
      const segment = words[2 * run + 1];
      const event = (flags & env.EVENT) !== 0;
      const date = env.valueAt(parameters, env.dates + segment);
      // An event has no stage, and its date may be the last.
      let length = 0.0;
      if (!event) length = env.valueAt(parameters, env.dates + segment + 1) - date;
      const at = env.ROW_REALS * run;
      return {
        run,
        refactor: (flags & env.FACTOR) !== 0 && !event,
        event,
        stepEnd: (flags & env.STEP_END) !== 0,
        keep: (flags & env.KEEP) !== 0,
        obstacleChanges: (flags & env.OBSTACLE) !== 0,
        condition: (flags >> env.CONDITION_SHIFT) & 255,
        date,
        mask: (flags >> env.MASK_SHIFT) & 255,
        stage: {
          t: date + reals[at] * length,
          tEnd: date + reals[at + 1] * length,
          h: reals[at + 2] * length,
          fromU: reals[at + 3],
          fromV: reals[at + 4],
          extrapolation: reals[at + 5],
        },
      };
    },
  });
