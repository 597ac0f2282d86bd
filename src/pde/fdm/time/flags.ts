/** The flag of a time step before which the matrix is factored again. */
export const REFACTOR = 1;
/** The flag of a Crank–Nicolson step. */
export const CRANK_NICOLSON = 2;
/** The flag of a step that ends at a dividend. */
export const DIVIDEND = 4;
/** The flag of a step that ends at an exercise date. */
export const EXERCISE = 8;
/** The flag of a step that ends at a date with barriers. */
export const BARRIERS = 16;
/** The flag of a stage of Alexander's scheme, which only grids with exercise on dates have. */
export const ALEXANDER = 32;
/** The flag of a step that uses the second of the two factorisations that a time-homogeneous solver keeps. */
export const SECOND = 64;

/** All flags of time steps, for use as the environment of a kernel. */
export const FLAGS = { REFACTOR, CRANK_NICOLSON, DIVIDEND, EXERCISE, BARRIERS, ALEXANDER, SECOND } as const;

/** The coefficient γ = 1 − 1/√2 of Alexander's scheme: h of both stages as a fraction of their time step. */
export const ALEXANDER_GAMMA = 1 - Math.SQRT1_2;

/** The flags of what happens before the first step of a run, and after its last one. */
const BEFORE = REFACTOR;
/** The flags of all events. */
export const EVENTS = DIVIDEND | EXERCISE | BARRIERS;
/** The bit position of the number of steps in the integers of `runsOfSteps`. */
export const STEPS_SHIFT = 8;

/**
 * Returns the time steps of a solver in run-length encoding: one 32-bit integer for several equal steps, with their
 * flags and, from bit `STEPS_SHIFT` on, their number. Equal steps are joined only with `homogeneous` coefficients,
 * because one factorisation then serves them all, and only up to the next event.
 */
export function runsOfSteps(flags: ArrayLike<number>, homogeneous: boolean): Int32Array {
  const runs: number[] = [];
  for (let step = 0; step < flags.length; step++) {
    const flag = flags[step];
    const before = step > 0 ? flags[step - 1] : EVENTS;
    const joins =
      homogeneous && (before & EVENTS) === 0 && (flag & BEFORE) === 0 && ((flag ^ before) & ~(BEFORE | EVENTS)) === 0;
    if (joins) runs[runs.length - 1] = (runs[runs.length - 1] | flag) + (1 << STEPS_SHIFT);
    else runs.push(flag | (1 << STEPS_SHIFT));
  }
  return new Int32Array(runs);
}

/** The number of steps that an integer of `runsOfSteps` stands for. */
export const stepsOfRun = (run: number): number => run >> STEPS_SHIFT;
