/** Sequences by stepping, on the host: what bulk calls and jumps are compared with. */
import {
  drand48Next,
  drand48Word,
  type GeneratorName,
  mrg32k3aNext,
  mrg32k3aWord,
  philox4x32,
  xorwowNext,
  xorwowWord,
} from "../../../src/numerics/random/index.ts";
import { tableOf } from "../../../src/numerics/random/generators/skip.ts";
import { drand48Start, mrg32k3aStart, xorwowStart } from "../../../src/numerics/random/starts.ts";

export type Stepping = Exclude<GeneratorName, "sobol" | "philox">;
export const STEPPING: readonly Stepping[] = ["drand48", "mrg32k3a", "xorwow"];

/** The words after a state, by one step after another. */
export function* stepped(generator: Stepping, words: readonly number[]): Generator<number, never> {
  const table = tableOf(words, new Uint32Array(0), { count: 1 }, { count: 1 });
  const at = { table, stream: 0, part: 0 };
  if (generator === "drand48") {
    for (let state = drand48Next({ state: drand48Start(at) }); ; state = drand48Next({ state }))
      yield drand48Word({ state });
  }
  if (generator === "mrg32k3a") {
    for (let state = mrg32k3aNext({ state: mrg32k3aStart(at) }); ; state = mrg32k3aNext({ state }))
      yield mrg32k3aWord({ state });
  }
  for (let state = xorwowNext({ state: xorwowStart(at) }); ; state = xorwowNext({ state })) yield xorwowWord({ state });
}

/** The words of Philox from a counter on. */
export function* philoxWords(key: readonly [number, number], from = 0n): Generator<number, never> {
  for (let n = from; ; n++) {
    const [x, y, z, w] = [0n, 32n, 64n, 96n].map((shift) => Number((n >> shift) & 0xffffffffn));
    const block = philox4x32({ counter: { x, y, z, w }, key: { x: key[0], y: key[1] } });
    yield* [block.x, block.y, block.z, block.w];
  }
}

export function take<T>(sequence: Iterator<T>, count: number): T[] {
  return Array.from({ length: count }, () => sequence.next().value as T);
}
