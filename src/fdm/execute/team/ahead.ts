import { fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { coefficientWords, readCoefficients } from "../../operator/read-coefficients.ts";
import { placeIn, type Team } from "./team.ts";

/**
 * Words of coefficients an option that are read before the time loop, where factors last: those of twelve
 * factorisations, each of which would wait for memory.
 */
export const AHEAD_WORDS = 48;

/** An instance's first coefficients into workgroup memory, each item some. A barrier has to follow. */
export function readAhead(team: Team): KernelFunction<any, void> {
  return fn({
    name: "readAhead",
    params: [write(real), read(real), i32, i32],
    env: { items: team.items, placeIn: placeIn(team), words: AHEAD_WORDS },
    body([ahead, coefficients, pitch, instance], _gpu, { items, placeIn, words }: any) {
      const { item } = placeIn();
      for (let k = item; k < words; k += items)
        ahead[k] = coefficients[Math.min(k * pitch + instance, coefficients.length - 1)];
    },
  });
}

/** `readCoefficients` of a factorisation, from there or, later ones, from memory. */
export function coefficientsAhead(formula: boolean): KernelFunction<any, any> {
  return fn({
    name: "coefficientsAhead",
    params: [read(real), read(real), i32, i32, i32],
    env: { words: AHEAD_WORDS, own: coefficientWords(formula), readCoefficients: readCoefficients(formula) },
    body([ahead, coefficients, row, pitch, instance], _gpu, { words, own, readCoefficients }: any) {
      let h = 0.0;
      let hVariance = 0.0;
      let hDrift = 0.0;
      let hRate = 0.0;
      let time = 0.0;
      let shift = 0.0;
      if (row + own <= words) {
        const now = readCoefficients({ values: ahead, pitch: 1, instance: 0 }, row);
        h = now.h;
        hVariance = now.hVariance;
        hDrift = now.hDrift;
        hRate = now.hRate;
        time = now.time;
        shift = now.shift;
      } else {
        const now = readCoefficients({ values: coefficients, pitch, instance }, row);
        h = now.h;
        hVariance = now.hVariance;
        hDrift = now.hDrift;
        hRate = now.hRate;
        time = now.time;
        shift = now.shift;
      }
      return { h, hVariance, hDrift, hRate, time, shift };
    },
  });
}
