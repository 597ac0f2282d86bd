/** The factorisations that a launch needs, and the rows of coefficients that it reads for them. */
import { dividendWords, eventWords } from "./coefficients.ts";
import { coefficientWords } from "../operator/read-coefficients.ts";
import { BARRIERS, DIVIDEND, REFACTOR } from "../time/flags.ts";
import type { Instance } from "./instance.ts";

/** The number of rows of coefficients a step has, by what its flag says. */
function rowsOf(flag: number, perFactorisation: number, perBarrierDate: number, perDividend: number): number {
  return (
    ((flag & REFACTOR) !== 0 ? perFactorisation : 0) +
    ((flag & BARRIERS) !== 0 ? perBarrierDate : 0) +
    ((flag & DIVIDEND) !== 0 ? perDividend : 0)
  );
}

function perBarrierDate({ grid }: Instance): number {
  return eventWords(grid.problem);
}

function perFactorisation({ grid }: Instance): number {
  return coefficientWords(grid.problem.diffusion.kind === "formula");
}

/**
 * Returns the flags of the time steps without the factorisations that would repeat the previous one in every instance.
 */
export function neededFlags(instances: readonly Instance[]): Int32Array {
  const { time } = instances[0].grid;
  const rows = perFactorisation(instances[0]);
  if (time.homogeneous || instances[0].formula !== undefined || instances[0].surface !== undefined) return time.flags;
  const barrierRows = perBarrierDate(instances[0]);
  let [row, before] = [barrierRows, -1];
  return time.flags.map((flag, step) => {
    // After a date of barriers other nodes are cut off.
    const cut = step > 0 && (time.flags[step - 1] & BARRIERS) !== 0;
    const repeats =
      before >= 0 && !cut && instances.every(({ coefficients }) => sameRows(coefficients as Float64Array, before, row));
    before = row;
    row += rowsOf(flag, rows, barrierRows, dividendWords(instances[0].grid.problem));
    return repeats ? flag & ~REFACTOR : flag;
  });
}

function sameRows(coefficients: Float64Array, before: number, row: number): boolean {
  for (let k = 0; k < 4; k++) if (coefficients[before + k] !== coefficients[row + k]) return false;
  return true;
}

/**
 * Returns the indices of those coefficients of an instance that a launch with these step flags reads; undefined for an
 * instance without time-dependent coefficients.
 */
export function keptRows(instance: Instance, flags: Int32Array): readonly number[] | undefined {
  if (instance.coefficients === undefined) return undefined;
  const barrierRows = perBarrierDate(instance);
  const kept = Array.from({ length: barrierRows }, (_, k) => k);
  let row = barrierRows;
  instance.grid.time.flags.forEach((flag, step) => {
    const own = (flag & REFACTOR) !== 0 ? perFactorisation(instance) : 0;
    const count = rowsOf(flag, own, barrierRows, dividendWords(instance.grid.problem));
    const read = (flags[step] & REFACTOR) === 0 ? 0 : own;
    for (let k = 0; k < count; k++) if (k < read || k >= own) kept.push(row + k);
    row += count;
  });
  return kept;
}
