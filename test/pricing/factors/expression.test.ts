/** Expressions of equations: their values on the host, and which problems have one shape. */
import { expect, test } from "vitest";
import { integrate, valueAt } from "../../../src/market/index.ts";
import {
  apply,
  applyFormula,
  evaluate,
  type Expression,
  integralOf,
  piecewise,
  shapeOfProblem,
} from "../../../src/pricing/equations/expression.ts";

const curve = { times: [0.5, 1, 2], values: [0.01, 0.03, 0.03, 0.05] };

test("a curve and its integral have the curve's values up to the end", () => {
  for (const t of [0, 0.25, 0.75, 1.5, 2.2, 2.5]) {
    if (!curve.times.includes(t)) expect(evaluate(piecewise(curve, 2.5), { t })).toBe(valueAt(curve, t));
    expect(evaluate(integralOf(curve, 2.5), { t })).toBeCloseTo(integrate(curve, 2.5) - integrate(curve, t), 14);
  }
});

const terminal = (formula: string, strike: number): Expression =>
  apply((value, K) => Math.max(value - K, 0), applyFormula(formula, { S: "S", v: 0.25 }), strike);
const problem = (formula: string, strike: number, nodes = 9) => ({
  axes: { S: { from: 0, to: 2 * strike, nodes } },
  terminal: terminal(formula, strike),
});

test("a formula of the user is a function of expressions", () => {
  expect(evaluate(terminal("S/2 + sqrt(v)", 3), { S: 10 })).toBe(2.5);
});

test("problems that differ in numbers have one shape, others have not", () => {
  const one = shapeOfProblem(problem("3*S + v", 100));
  const other = shapeOfProblem(problem("7*S + v", 90));
  expect(other.key).toBe(one.key);
  expect([one.columns, other.columns]).toEqual([
    [0, 200, 0.25, 3, 100],
    [0, 180, 0.25, 7, 90],
  ]);
  expect(one.problem.axes).toEqual({ S: { from: "p0", to: "p1", nodes: 9 } });
  for (const changed of [problem("3*S - v", 100), problem("3*S + v", 100, 11)])
    expect(shapeOfProblem(changed).key).not.toBe(one.key);
});
