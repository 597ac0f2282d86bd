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
/** The flag of a step of Alexander's scheme, in grids with exercise on dates only. */
export const ALEXANDER = 32;
/** The flag, in a time-homogeneous solver, of the second of the two kept factorisations. */
export const SECOND = 64;

/** All flags of time steps, for the environment of a kernel. */
export const FLAGS = { REFACTOR, CRANK_NICOLSON, DIVIDEND, EXERCISE, BARRIERS, ALEXANDER, SECOND } as const;

/** The step h of Alexander's stages as a fraction of their time step. */
export const ALEXANDER_GAMMA = 1 - Math.SQRT1_2;

/** The flags of what happens before the first step of a run, and after its last one. */
const BEFORE = REFACTOR;
/** The flags of all events. */
export const EVENTS = DIVIDEND | EXERCISE | BARRIERS;
/** The first bit of the number of a run's steps in its word. */
export const STEPS_SHIFT = 8;

/**
 * Returns one word for each run of equal steps where factors are kept, otherwise one for each step: its flags, and the
 * number of steps from bit `STEPS_SHIFT` on. Factors last for a run, and events end it.
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

/** The number of steps in a run's word. */
export const stepsOfRun = (run: number): number => run >> STEPS_SHIFT;
