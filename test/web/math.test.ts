import { expect, test } from "vitest";
import { asinh, cosh, exp, expm1, log, log1p, sinh, tanh } from "../../web/engine/math.ts";

/** Numbers of every size, the same ones in each run. */
function* numbers(count: number, from: number, to: number): Generator<number> {
  let state = 20_261_124;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield from + ((to - from) * state) / 2 ** 32;
  }
}

const special = [
  0,
  -0,
  1,
  -1,
  1e-300,
  5e-324,
  2 ** -1022,
  0.5,
  2,
  Math.E,
  745.2,
  -745.2,
  709.78,
  1e300,
  -1e300,
  1 / 0,
  -1 / 0,
  Number.NaN,
];

// A later V8 computes them in another way.
const isFdlibm = Number(process.versions.v8.split(".")[0]) < 14;

test.skipIf(!isFdlibm).each([
  ["exp", exp, Math.exp, -60, 60],
  ["exp", exp, Math.exp, -1, 1],
  ["exp", exp, Math.exp, -750, 710],
  ["log", log, Math.log, 0, 3],
  ["log", log, Math.log, 0, 1e6],
  ["asinh", asinh, Math.asinh, -40, 40],
  ["asinh", asinh, Math.asinh, -3, 3],
  ["expm1", expm1, Math.expm1, -2, 2],
  ["expm1", expm1, Math.expm1, -60, 710],
  ["log1p", log1p, Math.log1p, -1, 1],
  ["log1p", log1p, Math.log1p, 0, 1e6],
  ["sinh", sinh, Math.sinh, -2, 2],
  ["sinh", sinh, Math.sinh, -30, 30],
  ["cosh", cosh, Math.cosh, -2, 2],
  ["cosh", cosh, Math.cosh, -30, 30],
  ["tanh", tanh, Math.tanh, -2, 2],
  ["tanh", tanh, Math.tanh, -30, 30],
] as const)("%s is Node's, to the bit", (_, ours, theirs, from, to) => {
  const all = [...special, ...numbers(100_000, from, to)];
  expect(all.filter((x) => !Object.is(ours(x), theirs(x)))).toEqual([]);
});
