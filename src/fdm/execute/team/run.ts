import { fn, i32 } from "../../../kernel/index.ts";
import { barrierWords, CROSSING_WORDS } from "../../conditions/barrier.ts";
import { coefficientWords, readCoefficients } from "../../operator/read-coefficients.ts";
import { FLAGS } from "../../time/flags.ts";
import { coefficientsAhead } from "./ahead.ts";
import type { TeamPlan } from "../option/plan.ts";
import { atStart, Cursor } from "./records.ts";

/**
 * Returns the function that decodes a word of the time program into a run and reads the coefficients of its
 * factorisation. Words are read two runs ahead, because the next run's preparation depends on its word; coefficients
 * are read one step ahead where every step is factored.
 */
export function runAt({ lasting, eventful, hasBarriers, variant }: TeamPlan) {
  const { shape, dividends, barriers = 0 } = variant;
  return fn({
    name: "runAt",
    params: { ...atStart, cursor: Cursor, run: i32 },
    env: {
      ...FLAGS,
      lasting,
      hasEvents: eventful || dividends,
      hasBarriers,
      barrierWords: barrierWords(barriers),
      crossWords: CROSSING_WORDS * barriers,
      coefficientWords: coefficientWords(shape === "formula"),
      readCoefficients: readCoefficients(shape === "formula"),
      coefficientsAhead: coefficientsAhead(shape === "formula"),
    },
    body({ launch: { runs, flags }, place, memory, cursor, run }, _gpu, env) {
      const { flag, flagAfter: nextFlag } = cursor.next;
      const flagAfter = run + 2 < runs ? flags[run + 2] : 0;
      const refactor = (flag & env.REFACTOR) !== 0;
      let { coefficients } = cursor.next;
      if (env.lasting && refactor) coefficients = env.coefficientsAhead(memory.ahead, place.parameters, cursor.row);
      let row = cursor.row;
      if (refactor) row += env.coefficientWords;
      let ahead = cursor.next.coefficients;
      if (!env.lasting && (nextFlag & env.REFACTOR) !== 0) {
        const paid = (flag & env.DIVIDEND) === 0 ? 0 : 2 + env.crossWords;
        const settled = env.hasBarriers && (flag & env.BARRIERS) !== 0 ? env.barrierWords : 0;
        ahead = env.readCoefficients(place.parameters, row + paid + settled);
      }
      // Each event asks for itself: a branch around them all costs registers (sm_90: up to 60 bytes are spilled more).
      const next = { flag: nextFlag, flagAfter, coefficients: ahead };
      return { run, flag, refactor, event: env.hasEvents, row, next, coefficients };
    },
  });
}
