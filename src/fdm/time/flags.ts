/** The bits of a time step's flag. */
export const REFACTOR = 1;
export const CRANK_NICOLSON = 2;
export const DIVIDEND = 4;
export const EXERCISE = 8;
export const BARRIERS = 16;
/** The flag of Alexander's scheme, in grids with exercise on dates only. */
export const ALEXANDER = 32;
/** The flag, in a time-homogeneous solver, of the second of two factorisations that are kept. */
export const SECOND = 64;

/** All of these bits, for the environment of a kernel. */
export const FLAGS = { REFACTOR, CRANK_NICOLSON, DIVIDEND, EXERCISE, BARRIERS, ALEXANDER, SECOND } as const;

/** The step h of Alexander's stages, as a part of their step. */
export const ALEXANDER_GAMMA = 1 - Math.SQRT1_2;

/** The flags of what happens before the first step of a run, and after its last one. */
const BEFORE = REFACTOR;
export const EVENTS = DIVIDEND | EXERCISE | BARRIERS;
/** The bit at which the number of a run's steps begins in its word. */
export const STEPS_SHIFT = 8;

/**
 * Returns one word for each run of equal steps where factors are kept, else for each step: its flag, and from bit
 * `STEPS_SHIFT` on how many they are. Factors last for a run, and events end it, so that a solver has nothing to look
 * at between its steps.
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

/** The number of steps that a run's word stands for. */
export const stepsOfRun = (run: number): number => run >> STEPS_SHIFT;
