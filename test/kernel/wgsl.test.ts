/** The text of generated WGSL, without a device. What the text computes is tested in test/device. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PrecisionError } from "../../src/base/errors.ts";
import { emitWgsl } from "../../src/kernel/emit/wgsl/index.ts";
import { literal } from "../../src/kernel/emit/wgsl/literals.ts";
import { i32, kernel, lower, read, real, write } from "../../src/kernel/index.ts";
import type { Expr, KernelIR, Stmt } from "../../src/kernel/ir.ts";
import {
  at,
  binary,
  buffer,
  compare,
  constant,
  globalId,
  int,
  kernelIR,
  load,
  localId,
  store,
  workgroup,
} from "../support/ir.ts";

const f32 = (body: readonly Stmt[], parts: Partial<KernelIR> = {}): KernelIR =>
  kernelIR(body, { precision: "f32", ...parts });
const textOf = (body: readonly Stmt[], parts: Partial<KernelIR> = {}): string => emitWgsl(f32(body, parts)).code;

describe("literals", () => {
  test("reals read back as the same f32", () => {
    const word = new DataView(new ArrayBuffer(4));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (bits) => {
        word.setUint32(0, bits);
        const value = word.getFloat32(0);
        const text = literal("real", value);
        const hex = /^bitcast<f32>\((0x[0-9a-f]{8})u \^ args\.zero\)$/.exec(text);
        if (hex !== null) return Number.isNaN(value) || Number(hex[1]) === bits;
        const decimal = /^\(?(-?[\d.]+(?:e[+-]?\d+)?)f\)?$/.exec(text)!;
        return Object.is(Math.fround(Number(decimal[1])), value) && Math.abs(Number(decimal[1])) <= 2 ** 128 - 2 ** 104;
      }),
      { numRuns: 2000 },
    );
  });

  test.for([
    ["real", 0.1, "0.1f"],
    ["real", -2, "(-2f)"],
    ["real", 0, "0f"],
    ["real", -0, "bitcast<f32>(0x80000000u ^ args.zero)"],
    ["real", Infinity, "bitcast<f32>(0x7f800000u ^ args.zero)"],
    ["real", 1e300, "bitcast<f32>(0x7f800000u ^ args.zero)"],
    ["real", 2 ** 128 - 2 ** 104, "3.4028234663852886e+38f"],
    ["i32", -(2 ** 31), "(-2147483647i - 1i)"],
    ["i32", -5, "(-5i)"],
    ["u32", 2 ** 32 - 1, "4294967295u"],
    ["bool", true, "true"],
  ] as const)("%s %d is %s", ([type, value, text]) => {
    expect(literal(type, value)).toBe(text);
  });
});

describe("expressions", () => {
  const pick = (b: Expr): Expr => ({
    kind: "select",
    type: "real",
    condition: compare("lt", globalId, int(3)),
    a: constant("real", 1),
    b,
  });

  test("a select whose branch loads becomes an if", () => {
    const code = textOf([store(1, buffer(), globalId, pick(load(buffer(), globalId)))]);
    expect(code).not.toContain("select(");
    expect(code).toMatch(/else \{\s+fk_t0 = u_b0\[i32\(fk_global\)\];/);
  });

  test("a select of plain values stays one", () => {
    expect(textOf([store(1, buffer(), globalId, pick(constant("real", 2)))])).toContain(
      "select(2f, 1f, (i32(fk_global) < 3i))",
    );
  });

  test("a prelude of the right operand of && runs only if the left one is true", () => {
    const b = compare("gt", pick(load(buffer(), globalId)), constant("real", 0));
    const condition: Expr = { kind: "logical", type: "bool", op: "and", a: compare("lt", globalId, int(9)), b };
    const code = textOf([
      at(1, { kind: "if", condition, then: [store(2, buffer(), globalId, constant("real", 1))], else: [] }),
    ]);
    expect(code).toMatch(
      /var (fk_t\d): bool = \(i32\(fk_global\) < 9i\);\s+if \(\1\) \{[^]*u_b0\[[^]*\1 = \(fk_t0 > 0f\);\s+\}\s+if \(\1\) \{/,
    );
  });

  test("an expression too deep for WGSL compilers is cut", () => {
    let e: Expr = load(buffer(), globalId);
    for (let i = 0; i < 500; i++) e = binary("add", e, load(buffer(), int(i)));
    const code = textOf([store(1, buffer(), globalId, e)]);
    const deepest = Math.max(
      ...code.split("\n").map((line) => /\(*$/.exec(line.slice(0, line.lastIndexOf("(") + 1))![0].length),
    );
    expect(code.match(/var fk_t\d+: f32 =/g)).toHaveLength(10);
    expect(deepest).toBeLessThan(64);
  });

  // Tint makes `!=` an ordered comparison, which is false for NaN.
  test.for([
    ["f32", "(!(u_b0[0i] == u_b0[1i]))"],
    ["f32x2", "(!fk2_eq(u_b0[0i], u_b0[1i]))"],
  ] as const)("reals of %s are unequal where they are not equal", ([precision, text]) => {
    const condition = compare("ne", load(buffer(), int(0)), load(buffer(), int(1)));
    const then = [store(2, buffer(), globalId, constant("real", 1))];
    const code = textOf([at(1, { kind: "if", condition, then, else: [] })], { precision });
    expect(code).toContain(`if (${text}) {`);
  });

  test("integers are compared by !=", () => {
    const condition = compare("ne", globalId, int(3));
    const then = [store(2, buffer(), globalId, constant("real", 1))];
    expect(textOf([at(1, { kind: "if", condition, then, else: [] })])).toContain("if ((i32(fk_global) != 3i))");
  });

  // As in JavaScript, of which WGSL's compilers know nothing: they reject a constant count beyond 31.
  test.for([
    [1, "1u"],
    [31, "31u"],
    [33, "1u"],
    [-1, "31u"],
  ] as const)("a shift by the constant %i is one by %s", ([count, text]) => {
    const array = { ...buffer(), id: 0 };
    const body = [store(1, array, globalId, binary("shl", load(array, globalId, "i32"), int(count)))];
    const code = textOf(body, { buffers: [{ name: "u", element: "i32", access: "write", atomic: false }] });
    expect(code).toContain(`<< ${text}`);
  });

  test("expressions of constants alone are left to run time", () => {
    const e = binary("div", constant("real", 1), constant("real", 0));
    expect(textOf([store(1, buffer(), globalId, e)])).toContain("(fk_hide(1f) / 0f)");
  });
});

describe("modules", () => {
  const scale = kernel({
    name: "scale",
    params: { n: i32, factor: real, u: read(real), out: write(real) },
    body({ n, factor, u, out }, gpu) {
      const i = gpu.globalId();
      if (i >= n) return;
      out[i] = u[i] * factor;
    },
  });

  test("the same kernel gives the same text", () => {
    expect(emitWgsl(lower(scale, "f32")).code).toBe(emitWgsl(lower({ ...scale }, "f32")).code);
  });

  test("bindings and argument words are listed in order", () => {
    const module = emitWgsl(lower(scale, "f32"));
    expect(module.bindings).toEqual(["read-only-storage", "storage"]);
    expect(module.words.map(({ kind }) => kind)).toEqual([
      "items",
      "groups",
      "firstGroup",
      "zero",
      "length",
      "length",
      "scalar",
      "scalar",
    ]);
    expect(module.subgroups).toBe(false);
  });

  test("generated code points back to the source", () => {
    const code = textOf([store(2, buffer(), globalId, constant("real", 1))]);
    expect(code).toContain("  // byHand:2  line two\n  u_b0[i32(fk_global)] = 1f;");
  });

  test("names that WGSL reserves, or that are none, are made harmless", () => {
    const buffers = ["fn", "größe", "__x", "1st"].map((name) => ({
      name,
      element: "real" as const,
      access: "write" as const,
      atomic: false,
    }));
    const code = textOf([], { buffers });
    for (const name of ["fn_b0", "gr_e_b1", "x_b2", "v1st_b3"]) expect(code).toContain(`> ${name}: array<f32>;`);
  });

  test("f64 is refused", () => {
    expect(() => emitWgsl(kernelIR([]))).toThrow(PrecisionError);
  });
});

describe("shuffles", () => {
  const shuffled = kernel({
    name: "shuffled",
    groupSize: 32,
    params: { turns: i32, distance: i32, x: write(real) },
    *body({ turns, distance, x }, gpu) {
      let sum = x[gpu.globalId()];
      for (let k = 0; k < turns; k++) {
        const a: number = yield gpu.shuffleDown(sum, 3);
        const b: number = yield gpu.shuffleDown(a, 3);
        const c: number = yield gpu.shuffleUp(b, distance);
        sum += c;
      }
      x[gpu.globalId()] = sum;
    },
  });

  test("the lanes that shuffles by constant distances read are found once, before the loop", () => {
    const { code } = emitWgsl(lower(shuffled, "f32"));
    const [before, loop] = code.split("loop {");
    expect(before.match(/select\(fk_lane, \(fk_lane \+ /g)).toHaveLength(1);
    expect(loop.match(/select\(fk_lane, /g)).toHaveLength(1);
    expect(loop.match(/subgroupShuffle\(/g)).toHaveLength(3);
  });
});

describe("f32x2", () => {
  const scale = kernel({
    name: "scale",
    params: { n: i32, factor: real, u: read(real), out: write(real) },
    body({ n, factor, u, out }, gpu) {
      const i = gpu.globalId();
      if (i >= n) return;
      const t = gpu.privateReal(4);
      t[i & 3] = 0.1 * u[i];
      out[i] = (u[i] + 1) * factor + t[i & 3] * 0.5;
    },
  });
  const { code, words } = emitWgsl(lower(scale, "f32x2"));

  test("reals are pairs, parameters two words, private arrays two arrays", () => {
    expect(words.slice(-3).map(({ kind }) => kind)).toEqual(["scalar", "scalar", "scalarLow"]);
    expect(code).toContain("factor_s1: f32,\n  factor_s1_low: f32,");
    expect(code).toContain("u_b0: array<vec2f>;");
    expect(code).toContain("var<private> t_p0_low: array<f32, 4>;");
    expect(code).toContain("vec2f(0.1f, (-1.4901161e-9f))");
  });

  test("constants that are f32, and powers of two, have operations of their own", () => {
    expect(code).toMatch(/fk2_mul\(fk2_add_f32\(.*, 1f\), vec2f\(args\.factor_s1, args\.factor_s1_low\)\)/);
    expect(code).toMatch(/vec2f\(t_p0\[.*\], t_p0_low\[.*\]\) \* 0\.5f/);
  });

  test("every rounded result is hidden", () => {
    const [helpers] = code.split("@compute");
    const arithmetic = [...helpers.matchAll(/^ {2}let \w+ = (.* [-+*] .*);$/gm)].map(([, text]) => text);
    expect(arithmetic.length).toBeGreaterThan(8);
    for (const text of arithmetic.filter((one) => !/fk2_fast_sum|two_sums/.test(one)))
      expect(text).toMatch(/^fk2?_hide4?\(/);
  });
});

describe("barriers", () => {
  const barrier = at(1, { kind: "barrier" });
  const around = (condition: Expr): string =>
    textOf([at(1, { kind: "if", condition, then: [barrier], else: [] })], {
      cooperative: true,
      workgroups: [{ name: "t", element: "real", length: 4, atomic: false }],
      scalars: [{ name: "n", type: "i32" }],
      buffers: [
        { name: "u", element: "real", access: "read", atomic: false },
        { name: "out", element: "real", access: "write", atomic: false },
      ],
    });
  const positive = (a: Expr): Expr => compare("gt", a, constant(a.type, 0));

  test.for([
    ["a parameter", { kind: "param", type: "i32", id: 0 }],
    ["the group's number", { kind: "index", type: "i32", op: "groupId" }],
    ["a read-only buffer at a uniform index", load(buffer(0), int(1))],
  ] as const)("a condition on %s is uniform for WGSL", ([, e]) => {
    expect(around(positive(e))).not.toContain("fk_flag");
  });

  test.for([
    ["workgroup memory", load(workgroup(), int(0))],
    ["a buffer that is written", load(buffer(1), int(0))],
    ["a buffer at an item's own index", load(buffer(0), localId)],
  ] as const)("a condition on %s is broadcast", ([, e]) => {
    expect(around(positive(e))).toContain("if ((workgroupUniformLoad(&fk_flag) != 0u)) {");
  });
});
