import { fn, i32 } from "../../../../kernel/index.ts";
import { barrierWords, CROSSING_WORDS } from "../../conditions/barrier.ts";
import { coefficientWords, readCoefficients } from "../../operator/read-coefficients.ts";
import { FLAGS } from "../../time/flags.ts";
import { coefficientsAhead } from "./ahead.ts";
import type { TeamPlan } from "../option/plan.ts";
import { atStart, Cursor } from "./records.ts";

/**
 * Returns the function that decodes an integer of the time program into a series of equal steps, and reads the
 * coefficients of its factorisation. The integers are read two series ahead, because the preparation of the next series
 * depends on its integer. Where every step has its own factorisation, coefficients are read one step ahead.
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
