/** Literals as run-time parameters: which become some, which stay constants, and what functions then share. */
import { describe, expect, it } from "vitest";
import {
  canonicalText,
  formula,
  liftFormula,
  type FunctionSpec,
  kernelFromSource,
  liftLiterals,
  lower,
  type Precision,
  real,
  codeKeyOf,
  userFunction,
  write,
} from "../../src/kernel/index.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";

type State = Readonly<Record<"S" | "t", number>>;

const lifted = (body: (state: State, gpu: any) => number): ReturnType<typeof liftLiterals> =>
  liftLiterals(userFunction(["S", "t"], body as never));
const ofFormula = (text: string): ReturnType<typeof liftLiterals> => liftLiterals(formula(text, ["S", "t"]));
const shape = ({ call }: ReturnType<typeof liftLiterals>): string => codeKeyOf(call);

/** A kernel that calls a function with `values` behind S and t, or with none. */
function calling(f: FunctionSpec, values: readonly number[], precision: Precision): (S: number, t: number) => number {
  const names = values.map((_, k) => `l${k}`);
  const args = ["S", "t", ...names];
  const k = kernelFromSource({
    params: { ...Object.fromEntries(args.map((name) => [name, real])), out: write(real) },
    env: { f },
    source: `({ ${args.join(", ")}, out }, gpu, { f }) => { out[0] = f(${args.join(", ")}); }`,
  });
  const ir = lower(k, precision);
  return (S, t) => {
    const out = precision === "f32" ? new Float32Array(1) : new Float64Array(1);
    interpret(ir, { S, t, ...Object.fromEntries(names.map((name, l) => [name, values[l]])), out }, { items: 1 });
    return out[0];
  };
}

describe("which literals become parameters", () => {
  it("those that are reals, in a formula and in a function", () => {
    expect(ofFormula("0.2 + 0.1*exp(-S/100)").values).toEqual([100, 0.2, 0.1]); // in the order of the code
    expect(lifted(({ S }) => Math.max(S - 100, 0) + 0.3 * S).values).toEqual([100, 0.3]);
  });

  it("not 0, ±½, ±1 and ±2, nor what f32 has no normal number for", () => {
    expect(ofFormula("0.5*S*S + 2*S - 1 + max(S, 0) + 1e-300*t + 1e300 - S").values).toEqual([]);
  });

  it("what is folded of them, once", () => {
    expect(ofFormula("0.5*0.3^2*S + sqrt(0.09)*S - -0.4*S").values).toEqual([0.5 * 0.3 ** 2, Math.sqrt(0.09), -0.4]);
    expect(
      lifted(({ S }) => {
        const sigma = 0.3;
        const variance = sigma * sigma;
        return sigma * S + variance * S + sigma;
      }).values,
    ).toEqual([0.3, 0.09]);
  });

  it("not an exponent: whole ones are multiplications, and pow is quicker for one that is known", () => {
    expect(ofFormula("S**3 + 0.3*S^0.7").values).toEqual([0.3]);
    expect(lifted(({ S }) => Math.pow(S, 5) + Math.pow(S, 1.5)).values).toEqual([]);
    expect(ofFormula("0.9**t").values).toEqual([0.9]);
  });

  it("not a loop's bounds, an array's length, an index, an integer", () => {
    const { values } = lifted(({ S }, gpu) => {
      const powers = gpu.privateReal(7);
      for (let i = 0; i < 7; i++) powers[i] = 3.5 * S;
      let n = 40;
      for (let i = 3; i < 90; i++) n += 4;
      return powers[6] + gpu.real(n);
    });
    expect(values).toEqual([3.5]);
  });

  it("not where a truth follows from them at once", () => {
    const one = ofFormula("0.3 < 0.4 ? 5*S : 6*S");
    const other = ofFormula("0.3 < 0.25 ? 5*S : 6*S");
    expect([one.values, other.values]).toEqual([[5], [6]]);
  });

  it("those that are arguments of a function of the library", () => {
    expect(ofFormula("S*exp(-0.25) + normalCdf(0.3)").values).toEqual([-0.25, 0.3]);
  });
});

describe("shapes", () => {
  it.each([
    ["0.2 + 0.1*exp(-S/100)", "0.25 + 0.13*exp(-S/90)"],
    ["0.2*(1 + t) - 3*S", "0.3 * (1+t) - 4e1 * S"],
    ["0.5*0.3^2*S", "0.5*0.4^2*S"],
    ["S > 100 ? 0.2 : 0.3", "S > 120 ? 0.4 : 0.25"],
    ["S*exp(-0.25)", "S*exp(-0.26)"],
  ])("%s and %s share one", (a, b) => {
    expect(shape(ofFormula(b))).toBe(shape(ofFormula(a)));
  });

  it.each([
    ["0.2 + S", "0.2 - S"],
    ["0.2*S^3", "0.2*S^4"],
    ["0.2*S^0.7", "0.2*S^0.8"],
    ["3*S", "1*S"],
    ["0.2 + t", "0.2 + S"],
    ["S > 100 ? 0.2 : 0.3", "S >= 100 ? 0.2 : 0.3"],
  ])("%s and %s do not", (a, b) => {
    expect(shape(ofFormula(b))).not.toBe(shape(ofFormula(a)));
  });

  it("functions that differ in a loop's bound, in f32 alone, or in one of two equal literals, do not", () => {
    const rounds = [
      lifted(({ S }) => {
        let x = S;
        for (let i = 0; i < 50; i++) x = 0.3 * x;
        return x;
      }),
      lifted(({ S }) => {
        let x = S;
        for (let i = 0; i < 60; i++) x = 0.3 * x;
        return x;
      }),
      lifted(({ S }) => {
        let x = S;
        for (let i = 0; i < 60; i++) x = 0.4 * x;
        return x;
      }),
    ].map(shape);
    expect(rounds[0]).not.toBe(rounds[1]);
    expect(rounds[1]).toBe(rounds[2]);
    const [one, other] = [
      lifted(({ S }, gpu) => (gpu.precision === "f32" ? 0.3 * S : 0.3 + S)),
      lifted(({ S }, gpu) => (gpu.precision === "f32" ? 0.4 * S : 0.3 + S)),
    ];
    expect(shape(one)).not.toBe(shape(other));
    expect(shape(ofFormula("0.3*S + 0.3*t"))).toBe(shape(ofFormula("0.3*S + 0.4*t")));
  });

  it("of functions of one shape kernels are the same, each with its own values", () => {
    const [a, b] = [ofFormula("0.2 + 0.1*exp(-S/100) + t"), ofFormula("0.25 + 0.3*exp(-S/90) + t")];
    const kernelOf = ({ call, values }: typeof a): string => {
      const args = ["S", ...values.map((_, k) => `l[${k}]`)];
      return canonicalText(
        lower(
          kernelFromSource({
            params: { S: real, l: write(real) },
            env: { call },
            source: `({ S, l }, gpu, { call }) => { l[0] = call(S, ${args.join(", ")}) + call(l[1], ${args.join(", ")}); }`,
          }),
          "f32",
        ),
      );
    };
    expect(kernelOf(b)).toBe(kernelOf(a));
  });

  it("does not depend on where the function is called: constant arguments and unrolled loops fold nothing in it", () => {
    const { call, values } = ofFormula("(0.3*S + 0.7*t) * S");
    const kernel = (source: string): string =>
      canonicalText(lower(kernelFromSource({ params: { out: write(real) }, env: { f: call }, source }), "f64"));
    const text = kernel(
      `({ out }, gpu, { f }) => { for (let i = 0; i < 4; i++) out[i] = f(3.0, gpu.real(i), out[8], out[9]); }`,
    );
    expect(values).toEqual([0.3, 0.7]);
    expect(text).not.toMatch(/0\.3|0\.7|0\.9/);
  });
});

describe("values", () => {
  const bodies: Readonly<Record<string, (state: State, gpu: any) => number>> = {
    arithmetic: ({ S, t }) => 0.2 + 0.1 * Math.exp(-S / 100) + 3 * t,
    folded: ({ S, t }) => (0.3 / 7) * 0.9 ** 2 * S + Math.sqrt(0.7) - t * -(0.3 - 0.1),
    "a real loop": ({ S }) => {
      let sum = 0;
      for (let x = 0.1; x < 2.5; x += 0.3) sum += x * S;
      return sum;
    },
    "a loop unrolled": ({ S }) => {
      let sum = 0.0;
      for (let i = 1; i <= 6; i++) sum += (0.3 * S) / (i + 0.7);
      return sum;
    },
    branches: ({ S, t }) => {
      if (S > 105) return 7 * t;
      let x = 0.3;
      if (t > 0.25) x = 0.9;
      return x * S;
    },
    "several results": ({ S, t }) => Math.max(S - 100, 0.25, t) ** 1.5 + Math.log(12 + S),
  };

  it.each(Object.entries(bodies))("%s: the bits of the function with constants, in f64 and in f32", (_, body) => {
    const fn = userFunction(["S", "t"], body as never);
    const { call, values } = liftLiterals(fn);
    expect(values.length).toBeGreaterThan(0);
    for (const precision of ["f64", "f32"] as const) {
      const [plain, withLiterals] = [calling(fn, [], precision), calling(call, values, precision)];
      for (const S of [1, 90, 100.5, 173])
        for (const t of [0, 0.3, 2]) {
          const [expected, got] = [plain(S, t), withLiterals(S, t)];
          // What is folded is folded in f64, and then rounded; here the order is the same.
          expect({ precision, S, t, value: got }).toEqual({ precision, S, t, value: expected });
        }
    }
  });

  it("another function's values through the first one's code", () => {
    const [a, b] = [ofFormula("0.2 + 0.1*exp(-S/100) + t"), ofFormula("0.25 + 0.3*exp(-S/90) + t")];
    const expected = calling(formula("0.25 + 0.3*exp(-S/90) + t", ["S", "t"]), [], "f64");
    expect(calling(a.call, b.values, "f64")(97, 0.4)).toBe(expected(97, 0.4));
  });
});

describe("the shape of a formula, without lowering it", () => {
  const shapeOfText = (text: string): NonNullable<ReturnType<typeof liftFormula>> =>
    liftFormula(formula(text, ["S", "t"]))!;
  const texts = [
    "0.2 + 0.1*exp(-S/100)",
    "0.5*S*S + 2*S - 1 + max(S, 0) + 1e-300*t + 1e300 - S",
    "0.5*0.3^2*S + sqrt(0.09)*S - -0.4*S",
    "S**3 + 0.3*S^0.7 + pow(S, 1.7) + 0.9**t",
    "S*exp(-0.25) + normalCdf(0.3)",
    "S > 100 ? 0.2 : 0.3",
    "0.3 < 0.4 ? 5*S : 6*S",
    "(S > 70 && t < 0.3) + max(S, 3, t, 4) - min(5, 6, 7)",
    "0.3 ? 5*S : t",
    "(0.3/7) * 0.9 ** 2 * S + +(0.7) - t * -(0.3 - 0.1) % 3",
  ];

  it.each(texts)("%s: the literals of the front end, in the formula's order, and the same values", (text) => {
    const { call, values } = shapeOfText(text);
    // Those of a branch that is never taken, too.
    expect(values).toEqual(expect.arrayContaining([...ofFormula(text).values]));
    expect(values.length - ofFormula(text).values.length).toBe(text.startsWith("0.3 < 0.4") ? 1 : 0);
    for (const precision of ["f64", "f32"] as const) {
      const [plain, apart] = [calling(formula(text, ["S", "t"]), [], precision), calling(call, values, precision)];
      for (const S of [1, 90, 100.5, 173])
        for (const t of [0, 0.29, 2]) {
          expect({ precision, S, t, value: apart(S, t) }).toEqual({ precision, S, t, value: plain(S, t) });
          expect(call(S, t, ...values)).toBe(formula(text, ["S", "t"])(S, t));
        }
    }
  });

  it("is one text for formulas that differ in numbers alone", () => {
    const sourceOf = (text: string): string => shapeOfText(text).call.source;
    expect(sourceOf("0.25+.13 * exp(-S/9e1)")).toBe(sourceOf("0.2 + 0.1*exp(-S/100)"));
    expect(sourceOf("0.2*S^0.7")).not.toBe(sourceOf("0.2*S^0.8"));
    expect(sourceOf("3*S")).not.toBe(sourceOf("1*S"));
    expect(liftFormula(userFunction(["S"], (({ S }: State) => S) as never))).toBeUndefined();
  });
});
