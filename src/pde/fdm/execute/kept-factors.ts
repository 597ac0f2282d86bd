import type { Solved } from "./coefficients.ts";
import { REFACTOR, SECOND } from "../time/flags.ts";
import type { TimeGrid } from "../time/time-grid.ts";

/**
 * Returns the step flags of a time-homogeneous solver that keeps two factorisations (`SolverVariant`): REFACTOR where
 * it makes one, replacing the less recently used, and SECOND where a step uses the second. This pays where dates are a
 * month apart, because the intervals between them have few different lengths, so that their matrices recur.
 *
 * A factorisation is reused only if h is equal to the bit in all instances (`TimeGrid.factored`). It is never reused
 * where a barrier is monitored between dates, because the live nodes and held values change from interval to interval.
 */
export function flagsOfKept(instances: readonly Solved[]): Int32Array {
  const times = new Set<TimeGrid>();
  for (const { grid } of instances) times.add(grid.time);
  const [{ flags }] = times;
  const hasBarrier = instances[0].problem.barriers !== undefined; // as all instances of a launch are
  if (hasBarrier && instances.some(isMonitoredBetweenDates)) return flags;
  const all = [...times];
  const isSame = (a: number, b: number): boolean => all.every(({ factored }) => factored[3 * a] === factored[3 * b]);
  const kept: number[] = []; // by place, which factorisation
  let place = 1;
  let factorisation = -1;
  let isAnyKept = false;
  const needs = flags.map((flag) => {
    let needed = flag;
    if ((flag & REFACTOR) !== 0) {
      factorisation++;
      const found = kept.findIndex((one) => isSame(one, factorisation));
      place = found < 0 ? 1 - place : found;
      if (found < 0) kept[place] = factorisation;
      else {
        needed &= ~REFACTOR;
        isAnyKept = true;
      }
    }
    return place === 1 ? needed | SECOND : needed;
  });
  // In one place factors stay nearer.
  return isAnyKept ? needs : flags;
}

const isMonitoredBetweenDates = ({ problem }: Solved): boolean =>
  problem.barriers?.some(({ times }) => times === undefined) ?? false;
