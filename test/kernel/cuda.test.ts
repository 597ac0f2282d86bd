/**
 * The text of generated CUDA C++, without a compiler. What nvcc makes of it: cuda-nvcc.test.ts; what it computes:
 * conformance.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PrecisionError } from "../../src/base/errors.ts";
import { cudaIntrinsics, emitCuda } from "../../src/kernel/emit/cuda/index.ts";
import { literal } from "../../src/kernel/emit/cuda/literals.ts";
import { bool, i32, kernel, lower, read, real, u32, write } from "../../src/kernel/index.ts";
import type { Expr, KernelIR, Stmt } from "../../src/kernel/ir.ts";
import { cases } from "../conformance/cases/index.ts";
import {
  assign,
  at,
  binary,
  buffer,
  compare,
  constant,
  globalId,
  int,
  kernelIR,
  load,
  local,
  privateArray,
  store,
  workgroup,
} from "../support/ir.ts";

const textOf = (body: readonly Stmt[], parts: Partial<KernelIR> = {}): string => emitCuda(kernelIR(body, parts)).code;

describe("literals", () => {
  const view = new DataView(new ArrayBuffer(8));

  test("reals read back as the same f64", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (bits) => {
        view.setBigUint64(0, bits);
        const value = view.getFloat64(0);
        const text = literal("real", value, "f64");
        const hex = /^__longlong_as_double\((0x[0-9a-f]{16})ll\)$/.exec(text);
        if (hex !== null) return Number.isNaN(value) || BigInt(hex[1]) === bits;
        return Object.is(Number(/^\(?(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\)?$/.exec(text)![1]), value);
      }),
      { numRuns: 2000 },
    );
  });

  test("reals read back as the same f32", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (bits) => {
        view.setUint32(0, bits);
        const value = view.getFloat32(0);
        const text = literal("real", value, "f32");
        const hex = /^__uint_as_float\((0x[0-9a-f]{8})u\)$/.exec(text);
        if (hex !== null) return Number.isNaN(value) || Number(hex[1]) === bits;
        return Object.is(Math.fround(Number(/^\(?(-?[\d.]+(?:e[+-]?\d+)?)f\)?$/.exec(text)![1])), value);
      }),
      { numRuns: 2000 },
    );
  });

  test.for([
    ["real", 1, "1.0"],
    ["real", -0, "(-0.0)"],
    ["real", 1e21, "1e+21"],
    ["real", -Infinity, "__longlong_as_double(0xfff0000000000000ll)"],
    ["i32", -(2 ** 31), "(-2147483647 - 1)"],
    ["i32", -5, "(-5)"],
    ["u32", 2 ** 32 - 1, "4294967295u"],
    ["bool", true, "true"],
  ] as const)("%s %d is %s", ([type, value, text]) => {
    expect(literal(type, value, "f64")).toBe(text);
  });
});

describe("quotients of integers", () => {
  const quotient = (op: "div" | "rem", type: "i32" | "u32", divisor: Expr): string =>
    textOf([store(1, buffer(), int(0), binary(op, load(buffer(), int(1), type), divisor))], {
      buffers: [{ name: "u", element: type, access: "write", atomic: false }],
    });

  // C++ leaves the quotient of INT_MIN and −1 undefined, and quotients by 0.
  test.for([-1, 0])("by %i have the IR's meaning by a function", (divisor) => {
    expect(quotient("div", "i32", int(divisor))).toContain(
      `u_b0[0] = fk::div_i32(u_b0[1], ${divisor === 0 ? 0 : "(-1)"});`,
    );
    expect(quotient("rem", "i32", int(divisor))).toContain(
      `u_b0[0] = fk::rem_i32(u_b0[1], ${divisor === 0 ? 0 : "(-1)"});`,
    );
  });

  test("by other constants are C++'s own, those without sign by the largest number, too", () => {
    expect(quotient("div", "i32", int(-2))).toContain("u_b0[0] = (u_b0[1] / (-2));");
    expect(quotient("rem", "i32", int(1))).toContain("u_b0[0] = (u_b0[1] % 1);");
    expect(quotient("div", "u32", constant("u32", 2 ** 32 - 1))).toContain("u_b0[0] = (u_b0[1] / 4294967295u);");
    expect(quotient("div", "u32", constant("u32", 0))).toContain("fk::div_u32(u_b0[1], 0u)");
  });

  test("by anything else have the IR's meaning by a function", () => {
    expect(quotient("div", "i32", load(buffer(), int(2), "i32"))).toContain("fk::div_i32(u_b0[1], u_b0[2])");
    expect(quotient("rem", "u32", load(buffer(), int(2), "u32"))).toContain("fk::rem_u32(u_b0[1], u_b0[2])");
  });
});

describe("loops", () => {
  const i = local("i32", 0);
  const locals = [{ name: "i", type: "i32" }] as const;
  const step = assign(1, 0, binary("add", i, int(1)));
  const loop = (trips: number, body: readonly Stmt[], update: readonly Stmt[] = [step]): Stmt =>
    at(1, { kind: "loop", init: [assign(1, 0, int(0))], test: compare("lt", i, int(trips)), body, update });

  test("an update of assignments stands in the head, where continue finds it", () => {
    const code = textOf([loop(100, [store(2, buffer(), i, constant("real", 1))])], { locals });
    expect(code).toContain("for (; (i_0 < 100); i_0 = fk::add(i_0, 1)) {");
  });

  test("any other update runs at the top, but not the first time", () => {
    const code = textOf([loop(9, [at(2, { kind: "continue" })], [store(3, buffer(), i, constant("real", 1)), step])], {
      locals,
    });
    expect(code).toMatch(
      /for \(bool (fk_t0) = false;; \1 = true\) \{\s+if \(\1\) \{[^}]*u_b0\[i_0\] = 1\.0;[^}]*\}\s+if \(!\(i_0 < 9\)\) break;/,
    );
  });

  const own = { locals, privates: [{ name: "t", element: "real", length: 64, atomic: false }] } as const;

  test("a loop whose counter indexes a private array is unrolled, so that registers can hold it", () => {
    expect(textOf([loop(64, [store(2, privateArray(), i, constant("real", 1))])], own)).toContain("#pragma unroll");
  });

  test.for([
    ["of run-time length", loop(64, [store(2, privateArray(), i, constant("real", 1)), assign(2, 0, globalId)])],
    ["that indexes it otherwise", loop(64, [store(2, privateArray(), int(3), constant("real", 1))])],
    ["of very many trips", loop(100_000, [store(2, privateArray(), i, constant("real", 1))])],
  ] as const)("one %s is not", ([, s]) => {
    expect(textOf([s], own)).not.toContain("#pragma unroll");
  });
});

describe("modules", () => {
  const mixed = kernel({
    name: "größe 2",
    params: { n: i32, factor: real, on: bool, k: u32, u: read(real), out: write(real) },
    groupSize: 96,
    body({ n, factor, on, k, u, out }, gpu) {
      const i = gpu.globalId();
      if (i < n && on) out[i] = u[i] * factor + gpu.real(k) + gpu.real(out.length);
    },
  });

  test("parameters are listed in the order of the text", () => {
    const { code, parameters, entryPoint, groupSize } = emitCuda(lower(mixed, "f64"));
    const list = /void __launch_bounds__\(96\) (\w+)\(([^)]*)\)/.exec(code)!;
    expect(list[1]).toBe(entryPoint);
    expect(list[2].split(",").map((text) => text.trim())).toEqual([
      "const unsigned fk_count",
      "const double* __restrict__ u_b0",
      "double* __restrict__ out_b1",
      "const long long out_b1_length",
      "const int n_s0",
      "const double factor_s1",
      "const int on_s2",
      "const unsigned k_s3",
    ]);
    expect(parameters).toEqual([
      { kind: "count" },
      { kind: "buffer", buffer: 0 },
      { kind: "buffer", buffer: 1 },
      { kind: "length", buffer: 1 },
      { kind: "scalar", scalar: 0, type: "i32", bytes: 4 },
      { kind: "scalar", scalar: 1, type: "real", bytes: 8 },
      { kind: "scalar", scalar: 2, type: "bool", bytes: 4 },
      { kind: "scalar", scalar: 3, type: "u32", bytes: 4 },
    ]);
    expect([entryPoint, groupSize]).toEqual(["fk_gr_e_2", 96]);
    expect(emitCuda(lower(mixed, "f32")).parameters[5]).toMatchObject({ type: "real", bytes: 4 });
  });

  test("the same kernel gives the same text, whatever the rounding", () => {
    const [first, again, exact] = [
      emitCuda(lower(mixed, "f64")),
      emitCuda(lower({ ...mixed }, "f64")),
      emitCuda(lower(mixed, "f64"), { fma: "exact" }),
    ];
    expect([again.code, exact.code]).toEqual([first.code, first.code]);
    expect(first.compilerOptions).toContain("--fmad=true");
    expect(exact.compilerOptions).toContain("--fmad=false");
  });

  test("generated code points back to the source", () => {
    const code = textOf([store(2, buffer(), globalId, constant("real", 1))]);
    expect(code).toContain("  // byHand:2  line two\n  u_b0[fk_item] = 1.0;");
  });

  test("f32x2 is refused", () => {
    expect(() => emitCuda(kernelIR([], { precision: "f32x2" as "f32" }))).toThrow(PrecisionError);
  });

  test("nothing is used that intrinsics.ts does not list", () => {
    const listed = new Set(Object.values(cudaIntrinsics).flat());
    const texts = cases.flatMap(({ kernel: each, precisions = ["f64", "f32"] }) =>
      precisions.filter((p) => p !== ("f32x2" as string)).map((precision) => emitCuda(lower(each, precision)).code),
    );
    const code = texts.join("\n").replaceAll(/\/\/.*/g, "");
    // Reserved names, and functions called that are neither the kernel's own nor C++'s.
    const used = [...code.matchAll(/\b(?:__\w+|atomic[A-Z]\w+)/g), ...code.matchAll(/[^:\w](\w+)\(/g)]
      .map((match) => match[1] ?? match[0])
      .filter((name) => !/^(?:if|for|while|return|int|unsigned|double|float|sizeof|fk_\w+)$/.test(name));
    const defined = new Set([...code.matchAll(/__forceinline__ [\w ]*\b(\w+)\(/g)].map(([, name]) => name));
    expect([...new Set(used)].filter((name) => !listed.has(name as never) && !defined.has(name))).toEqual([]);
  });
});

describe("memory", () => {
  const array = (length: number, element: "real" | "i32" = "real") =>
    ({ name: "t", element, length, atomic: false }) as const;
  const shared = (...workgroups: KernelIR["workgroups"]) =>
    emitCuda(kernelIR([store(1, workgroup(), int(0), constant("real", 1))], { cooperative: true, workgroups }));

  test("workgroup arrays are declared up to 48 KiB", () => {
    const { code, dynamicSharedBytes } = shared(array(6000), array(36, "i32"));
    expect(dynamicSharedBytes).toBe(0);
    expect(code).toContain("__shared__ __align__(16) double t_w0[6000];");
  });

  test("beyond that they are parts of dynamic shared memory, each aligned", () => {
    const { code, dynamicSharedBytes } = shared(array(6143), array(3, "i32"), array(8));
    expect(dynamicSharedBytes).toBe(49152 + 16 + 64);
    expect(code).toContain("int* const t_w1 = reinterpret_cast<int*>(fk_shared + 49152);");
    expect(code).toContain("double* const t_w2 = reinterpret_cast<double*>(fk_shared + 49168);");
  });

  const copy = (cooperative: boolean, from: Expr): string =>
    textOf([store(1, buffer(), int(0), from)], { cooperative });

  test("a buffer through which items of a workgroup exchange values is not __restrict__", () => {
    expect(copy(true, load(buffer(), int(1)))).toContain("double* u_b0");
    expect(copy(true, constant("real", 1))).toContain("double* __restrict__ u_b0");
    expect(copy(false, load(buffer(), int(1)))).toContain("double* __restrict__ u_b0");
  });
});
