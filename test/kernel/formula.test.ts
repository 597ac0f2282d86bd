import { describe, expect, it } from "vitest";

import { KernelError } from "../../src/base/errors.ts";
import {
  canonicalText,
  fn,
  formula,
  formulaVariables,
  kernel,
  lower,
  evaluateColumns,
  evaluateRow,
  real,
  write,
} from "../../src/kernel/index.ts";

describe("formula", () => {
  it("evaluates on the host as JavaScript does", () => {
    const f = formula("0.2 + 0.1*exp(-S/100) + (t > 0.5 ? max(S, 3) : 2**t)", ["t", "S"]);
    for (const [t, S] of [
      [0, 100],
      [0.5, 80],
      [0.75, 1],
      [2, 250],
    ] as const) {
      const expected = 0.2 + 0.1 * Math.exp(-S / 100) + (t > 0.5 ? Math.max(S, 3) : 2 ** t);
      expect(f(t, S)).toBeCloseTo(expected, 14);
    }
  });

  it("reads ^ as a power and pi, e as constants", () => {
    expect(formula("2^3 + pi - e", [])()).toBeCloseTo(8 + Math.PI - Math.E, 14);
  });

  it("may be one pair of parentheses, or have any others", () => {
    expect(formula("(x + 1)", ["x"])(2)).toBe(3);
    expect(formula("  ((x)) ", ["x"])(2)).toBe(2);
    expect(formula("1-(x - 3)^2*(2)", ["x"])(2)).toBe(-1);
    expect(() => formula("(x + 1", ["x"])).toThrow(KernelError);
    expect(() => formula("(x) 1", ["x"])).toThrow(/ends before this/);
  });

  it("takes numbers with a leading or a trailing point, and any number of arguments for max and min", () => {
    expect(formula("0.5 + .5 + 1. + 0e5 + 1e+2", [])()).toBe(102);
    expect(formula("max(1, 2, 3) - min(4, 5) + Math.max(1, 2) + atan2(0, 1)", [])()).toBe(1);
    expect(formula("(1 < 2) == (3 < 4)", [])()).toBe(1);
  });

  it("says which variables are used", () => {
    expect([...formulaVariables("S*S + 1", ["S", "t"])]).toEqual(["S"]);
    expect([...formulaVariables("sqrt(t) * S", ["S", "t"])].toSorted()).toEqual(["S", "t"]);
  });

  it.each([
    "0.2 + 0.1*exp(-S/100)*(1 + 0.1*t)",
    "S > 100 && t < 0.5 ? max(S, 3, t) : -S % 7",
    "(S > 100 || t > 0.5) * 0.3 + !t",
    "t > 0.5 ? 2**t : S^0.5 - 3",
    "(S > 100) == (t > 0.5)",
    "(S > 100) == 1",
    "sqrt(S) + atan2(S, t) - pi",
    "t",
    "0.25",
    "S",
    "S < 100",
    "log(S - 100) * t",
  ])("gives a column of values to the bit, and in its order: %s", (text) => {
    const f = formula(text, ["S", "t"]);
    const prices = Float64Array.of(0, 1, 99.9, 100, 100.1, 250);
    const seen: number[] = [];
    // Another column in between, of another length, changes nothing.
    evaluateColumns(f, prices, [0, 0.5, 0.75, 2], (values, t) => {
      evaluateColumns(f, Float64Array.of(3, 4), [9], (inner) => expect(inner[1]).toBe(f(4, 9)));
      seen.push(t);
      expect([...values]).toEqual(Array.from(prices, (S) => f(S, t)));
    });
    expect(seen).toEqual([0, 0.5, 0.75, 2]);
    const times = Float64Array.of(0, 0.5, 0.75, 2);
    for (const S of prices) expect([...evaluateRow(f, S, times)]).toEqual(Array.from(times, (t) => f(S, t)));
  });

  it("keeps what does not depend on the second variable for a column that lasts, and for no other", () => {
    const f = formula("exp(S)*t + S", ["S", "t"]);
    const valuesOf = (column: Float64Array, t: number, lasting: boolean): number[] => {
      const seen: number[] = [];
      evaluateColumns(f, column, [t], (values) => seen.push(...values), lasting);
      expect(seen).toEqual(Array.from(column, (S) => f(S, t)));
      return seen;
    };
    const [first, second] = [Float64Array.of(1, 2), Float64Array.of(3, 4, 5)];
    for (const [column, lasting] of [
      [first, true],
      [first, true],
      [second, false],
      [first, true],
      [second, true],
    ] as const)
      for (const t of [2, 3]) valuesOf(column, t, lasting);
    const changing = Float64Array.of(1, 2);
    expect(valuesOf(changing, 2, false)).not.toEqual(valuesOf(changing.fill(7), 2, false));
  });

  it("a column of any other function is that of its calls", () => {
    const product = fn({ name: "product", params: [real, real], body: ([x, y]) => x * y });
    evaluateColumns(product, Float64Array.of(2, 3), [5], (values) => expect([...values]).toEqual([10, 15]));
    expect([...evaluateRow(product, 2, Float64Array.of(5, 7))]).toEqual([10, 14]);
  });

  it("is inlined into kernels like any function", () => {
    const f = formula("x*x - 1", ["x"]);
    const k = kernel({
      params: { out: write(real) },
      env: { f },
      body({ out }, gpu, { f }) {
        out[gpu.globalId()] = f(gpu.real(gpu.globalId()));
      },
    });
    expect(canonicalText(lower(k, "f64"))).toContain("sub.real(mul.real(");
  });

  it.each([
    ["S +", /the formula ends too early/, 1, 4],
    ["S + * 2", /unexpected \*/, 1, 5],
    ["S^^2", /unexpected \^/, 1, 3],
    ["-S^2", /a power of what has a minus before it: write -\(2\^2\), or \(-2\)\^2/, 1, 3],
    ["S–100", /unexpected –/, 1, 2],
    ["foo(S)", /foo is an unknown function/, 1, 1],
    ["S + vol", /vol is unknown/, 1, 5],
    ["S^2 + vol", /vol is unknown/, 1, 7],
    ["S; alert(1)", /the formula ends before this/, 1, 2],
    ["S.constructor", /: \.constructor is not part of a formula/, 1, 1],
    ["(() => 1)()", /unknown function/, 1, 2],
    ["S = 3", /an assignment, =, is not part of a formula/, 1, 1],
    ["`x`", /a template string is not part of a formula/, 1, 1],
    ["/S/", /a regular expression is not part of a formula/, 1, 1],
    ["'a'", /a string is not part of a formula/, 1, 1],
    ["1n", /a big integer is not part of a formula/, 1, 1],
    ["true", /: true is not part of a formula/, 1, 1],
    ["S ?? 1", /a logical operator, \?\?, is not part of a formula/, 1, 1],
    ["S[0]", /an index in brackets is not part of a formula/, 1, 1],
    ["new Date()", /: new is not part of a formula/, 1, 1],
    ["S & 1", /: & is not part of a formula/, 1, 1],
    ["S, 5", /a comma between expressions is not part of a formula/, 1, 1],
    ["", /the formula ends too early/, 1, 1],
    ["1 + max(S - 100)", /max takes 2 arguments or more, got 1/, 1, 5],
    ["min()", /min takes 2 arguments or more, got 0/, 1, 1],
    ["abs(S, 1)", /abs takes 1 argument, got 2/, 1, 1],
    ["Math.sqrt()", /sqrt takes 1 argument, got 0/, 1, 1],
    ["S * pow(S)", /pow takes 2 arguments, got 1/, 1, 5],
    ["erf(S, S)", /erf takes 1 argument, got 2/, 1, 1],
    ["S - 0100", /0100 is not a decimal number[^]*write 100/, 1, 5],
    ["S - 099.5", /099.5 is not a decimal number[^]*write 99.5/, 1, 5],
    ["0x10", /0x10 is not a decimal number/, 1, 1],
    ["1_000", /1_000 is not a decimal number[^]*write 1000/, 1, 1],
    ["S + 1e400", /1e400 is too large/, 1, 5],
    ["90 < S < 110", /a < b < c does not compare b with both[^]*a < b && b < c/, 1, 1],
  ])("rejects %j at its place", (text, message, line, column) => {
    const error = catchError(() => formula(text, ["S"]));
    expect(error).toBeInstanceOf(KernelError);
    expect(error.message).toMatch(message);
    expect({ line: error.line, column: error.column }).toEqual({ line, column });
    expect(error.message).toContain("remedy:");
  });
});

function catchError(run: () => unknown): KernelError {
  try {
    run();
  } catch (error) {
    return error as KernelError;
  }
  throw new Error("nothing was thrown");
}
