import { fn, i32, real, write } from "../../../../kernel/index.ts";
import { Column } from "../../operator/column.ts";
import { coefficientWords, readCoefficients } from "../../operator/read-coefficients.ts";
import { placeIn, type Team } from "./team.ts";

/**
 * The number of coefficients of each instance that are read before the time loop where one factorisation serves several
 * steps: those of twelve factorisations, each of which would otherwise wait for memory.
 */
export const AHEAD_WORDS = 48;

/**
 * Returns the function that copies an instance's first coefficients into workgroup memory, with the work divided among
 * the items. A barrier must follow.
 */
export function prefetchCoefficients(team: Team) {
  return fn({
    name: "prefetchCoefficients",
    params: [write(real), Column],
    env: { items: team.items, placeIn: placeIn(team), words: AHEAD_WORDS },
    body([ahead, { values, pitch, instance }], _gpu, { items, placeIn, words }) {
      const { item } = placeIn();
      for (let k = item; k < words; k += items) ahead[k] = values[Math.min(k * pitch + instance, values.length - 1)];
    },
  });
}

/**
 * Returns the function that reads the coefficients of a factorisation from workgroup memory; those of later
 * factorisations are read from device memory.
 */
export function coefficientsAhead(formula: boolean) {
  return fn({
    name: "coefficientsAhead",
    params: [write(real), Column, i32],
    env: { words: AHEAD_WORDS, own: coefficientWords(formula), readCoefficients: readCoefficients(formula) },
    body([ahead, coefficients, row], _gpu, { words, own, readCoefficients }) {
      if (row + own <= words) return readCoefficients({ values: ahead, pitch: 1, instance: 0 }, row);
      return readCoefficients(coefficients, row);
    },
  });
}
