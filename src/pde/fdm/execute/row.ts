import { bool, fn, i32, read, real, record } from "../../../kernel/index.ts";
import { Column, valueAt } from "../operator/column.ts";
import { Stage } from "../operator/right-hand-side.ts";
import { CONDITION_SHIFT, MASK_SHIFT, PROGRAM_BITS, ROW_REALS } from "../time/timeline.ts";

/**
 * A row of the time program: a stage of a step, or an event, which applies condition `condition` on the date `date`.
 */
export const Row = record({
  run: i32,
  refactor: bool,
  event: bool,
  /** The stage ends a time step; of an event: the exercise boundary is recorded. */
  stepEnd: bool,
  /** u before this stage is what the next one calls v. */
  keep: bool,
  /** The step is corrected, as schemes of alternating directions may be. */
  corrected: bool,
  /** The obstacle is another one than at the last stage. */
  obstacleChanges: bool,
  condition: i32,
  date: real,
  /** A bit for each knock-out in force. */
  mask: i32,
  stage: Stage,
});

/**
 * Returns the function that reads a row of the time program. An instance's dates follow its `count` other parameters.
 */
export const rowAt = (count: number) =>
  fn({
    name: "rowAt",
    params: { words: read(i32), reals: read(real), parameters: Column, run: i32 },
    env: { ...PROGRAM_BITS, CONDITION_SHIFT, MASK_SHIFT, ROW_REALS, dates: count, valueAt },
    body({ words, reals, parameters, run }, _gpu, env) {
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
        corrected: (flags & env.CORRECTED) !== 0,
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
