import fc from "fast-check";
import { expect, it } from "vitest";
import {
  BARRIERS,
  CRANK_NICOLSON,
  DIVIDEND,
  EXERCISE,
  REFACTOR,
  encodedSteps,
  stepCountOf,
} from "../../../src/pde/fdm/time/time-grid.ts";

const AFTER = DIVIDEND | EXERCISE | BARRIERS;
const flagOf = fc
  .tuple(
    fc.constantFrom(0, 0, 0, REFACTOR),
    fc.constantFrom(0, CRANK_NICOLSON),
    fc.constantFrom(0, 0, 0, DIVIDEND, EXERCISE, BARRIERS),
  )
  .map((bits) => bits.reduce<number>((flag, bit) => flag | bit, 0));

/** The steps that runs stand for: factored before the first, events after the last. */
const expanded = (runs: Int32Array): number[] =>
  [...runs].flatMap((run) =>
    Array.from({ length: stepCountOf(run) }, (_, step) => {
      const first = step === 0 ? REFACTOR : 0;
      const last = step === stepCountOf(run) - 1 ? AFTER : 0;
      return run & (first | CRANK_NICOLSON | last);
    }),
  );

it("runs of steps stand for every step, in order, and none could be joined to the one before", () => {
  fc.assert(
    fc.property(fc.array(flagOf, { maxLength: 60 }), (flags) => {
      const runs = encodedSteps(flags, true);
      expect(expanded(runs)).toEqual(flags);
      for (let i = 1; i < runs.length; i++) {
        const parted =
          (runs[i - 1] & AFTER) !== 0 || (runs[i] & REFACTOR) !== 0 || ((runs[i] ^ runs[i - 1]) & CRANK_NICOLSON) !== 0;
        expect(parted).toBe(true);
      }
    }),
  );
});

it("steps that are each factored are runs of their own", () => {
  fc.assert(
    fc.property(fc.array(flagOf, { maxLength: 60 }), (flags) => {
      const runs = encodedSteps(flags, false);
      expect(runs).toHaveLength(flags.length);
      expect(expanded(runs)).toEqual(flags);
    }),
  );
});
