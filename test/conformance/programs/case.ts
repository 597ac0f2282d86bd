/** What generated programs take, and are launched with. */
import { bool, i32, kernelFromSource, read, real, u32, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, i32s, uniforms, words } from "../case.ts";
import { functions } from "./functions.ts";

const ITEMS = 37;

const PARAMS = {
  n: i32,
  x: real,
  yes: bool,
  u: read(real),
  v: read(i32),
  w: write(real),
  out: write(real),
  iout: write(i32),
  uout: write(u32),
};

/** A generated program as a case: what it is launched with. */
export function caseOf(source: string): ConformanceCase {
  const env = { SCALE: 0.75, COUNT: 4, FLAG: true, ...functions };
  return {
    name: "generated",
    kernel: kernelFromSource({ name: "generated", params: PARAMS, env, source }),
    size: { items: ITEMS },
    args: ({ real, zeros }) => ({
      n: ITEMS - 2,
      x: 0.375,
      yes: true,
      u: real(uniforms(64, -0.5, 0.5)),
      v: i32s(...words(64)),
      w: real(uniforms(64, -0.25, 0.25)),
      out: zeros(ITEMS),
      iout: new Int32Array(ITEMS),
      uout: new Uint32Array(ITEMS),
    }),
  };
}
