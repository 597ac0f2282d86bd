import { describe, expect, test } from "vitest";
import { KernelRuntimeError, ShapeError } from "../../src/base/errors.ts";
import { foldBinary } from "../../src/kernel/fold.ts";
import { unaryOperator } from "../../src/kernel/interpret/arithmetic.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";
import type { Expr, KernelIR, Precision, ScalarType } from "../../src/kernel/ir.ts";
import {
  assign,
  at,
  barrier,
  binary,
  buffer,
  compare,
  constant,
  convert,
  globalId,
  int,
  intrinsic,
  kernelIR,
  load,
  local,
  localId,
  privateArray,
  store,
  workgroup,
} from "../support/ir.ts";

/** The value of an expression, through a kernel that stores it. */
function value(expr: Expr, precision: Precision = "f64"): number {
  const element = expr.type === "bool" ? "i32" : expr.type;
  const ir = kernelIR([store(1, buffer(), int(0), expr.type === "bool" ? convert("i32", expr) : expr)], {
    precision,
    buffers: [{ name: "u", element, access: "write", atomic: false }],
  });
  const u = {
    real: precision === "f64" ? new Float64Array(1) : new Float32Array(1),
    i32: new Int32Array(1),
    u32: new Uint32Array(1),
  }[element];
  interpret(ir, { u }, { items: 1 });
  return u[0];
}

const real = (x: number): Expr => constant("real", x);
const u32 = (x: number): Expr => constant("u32", x);

/** Runs `ir` on `u` and returns the message of the error it ends with. */
function complaint(
  ir: KernelIR,
  u: Float64Array | Int32Array,
  size: { items: number } | { groups: number },
  maxIterations = 1000,
): string {
  try {
    interpret(ir, { u }, size, { maxIterations });
  } catch (error) {
    if (error instanceof KernelRuntimeError) return error.message;
    throw error;
  }
  return "no complaint";
}

describe("arithmetic", () => {
  test("f32 rounds after every operation", () => {
    const sum = binary("add", binary("add", real(16777216), real(1)), real(1));
    expect(value(sum, "f32")).toBe(16777216);
    expect(value(sum, "f64")).toBe(16777218);
    expect(value(intrinsic("real", "sqrt", real(2)), "f32")).toBe(Math.fround(Math.SQRT2));
  });

  test("integers wrap, and dividing by zero gives zero", () => {
    expect(value(binary("add", int(0x7fffffff), int(1)))).toBe(-0x80000000);
    expect(value(binary("mul", int(0x10001), int(0x10001)))).toBe(0x20001);
    expect(value(binary("sub", u32(0), u32(1)))).toBe(0xffffffff);
    expect(value(binary("div", int(-7), int(2)))).toBe(-3);
    expect(value(binary("div", int(-0x80000000), int(-1)))).toBe(-0x80000000);
    expect(value(binary("rem", int(-7), int(2)))).toBe(-1);
    expect(value(binary("rem", u32(7), u32(0)))).toBe(0);
    expect(value(binary("div", u32(0xffffffff), u32(2)))).toBe(0x7fffffff);
    expect(value(binary("shl", int(1), int(33)))).toBe(2);
    expect(value(binary("shr", int(-8), int(1)))).toBe(-4);
    expect(value(binary("shr", u32(0xfffffff8), u32(1)))).toBe(0x7ffffffc);
  });

  test.each<[ScalarType, number, number]>([
    ["i32", 2.9, 2],
    ["i32", -2.9, -2],
    ["i32", 1e10, 0x7fffffff],
    ["i32", -Infinity, -0x80000000],
    ["i32", NaN, 0],
    ["u32", -1, 0],
    ["u32", 4294967295.9, 0xffffffff],
  ])("converts to %s: %d gives %d", (type, x, expected) => {
    expect(value(convert(type, real(x)))).toBe(expected);
  });

  test("i32 and u32 exchange bits; large integers round to f32", () => {
    expect(value(convert("u32", int(-1)))).toBe(0xffffffff);
    expect(value(convert("real", u32(0xffffffff)), "f32")).toBe(4294967296);
  });

  test.each<[number, number, number]>([
    [1, -1074, 5e-324],
    [1.5, -1074, 1e-323], // a tie, to even
    [5e-324, 2098, 2 ** 1024],
    [5e-324, 2097, 2 ** 1023],
    [-3, 10, -3072],
    [1 + 2 ** -52, -1023, 2 ** -1023],
  ])("ldexp(%d, %d) = %d", (x, n, expected) => {
    expect(value(intrinsic("real", "ldexp", real(x), int(n)))).toBe(expected);
  });

  test.each([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 4503599627370495.5, -0.2])("nearest(%d)", (x) => {
    const ties = { 0.5: 0, 1.5: 2, 2.5: 2, [-0.5]: -0, [-1.5]: -2, 4503599627370495.5: 4503599627370496, [-0.2]: -0 };
    expect(value(intrinsic("real", "nearest", real(x)))).toBe(ties[x as 0.5] ?? 0);
  });

  test("exponents, significands, heads, high products", () => {
    expect(value(intrinsic("i32", "exponent", real(-10)))).toBe(3);
    expect(value(intrinsic("real", "significand", real(-10)))).toBe(-1.25);
    expect(value(intrinsic("real", "headBits", real(Math.PI)))).toBe(3.1415926218032837);
    expect(value(intrinsic("real", "headBits", real(Math.PI)), "f32")).toBe(3.140625);
    for (const [a, b] of [
      [0xffffffff, 0xffffffff],
      [0xd2511f53, 0x9e3779b9],
      [0x10000, 0xffff],
      [1, 2],
    ] as const) {
      const expected = Number((BigInt(a) * BigInt(b)) >> 32n);
      expect(value(intrinsic("u32", "mulHigh", u32(a), u32(b)))).toBe(expected);
    }
    expect(value(intrinsic("i32", "popcount", int(-1)))).toBe(32);
    expect(value(intrinsic("real", "copysign", real(3), real(-0)))).toBe(-3);
    expect(value(intrinsic("bool", "isNaN", real(NaN)))).toBe(1);
    expect(value(intrinsic("bool", "isFinite", real(Infinity)))).toBe(0);
  });
});

describe("checks", () => {
  test("out of bounds: kernel, item, array, index, length, line and remedy", () => {
    const ir = kernelIR([store(2, buffer(), globalId, load(buffer(), binary("add", globalId, int(1))))]);
    const message = complaint(ir, new Float64Array(1), { items: 1 });
    expect(message).toContain('kernel "byHand": item 0 (group 0, local 0) reads u[1], out of bounds: the length is 1');
    expect(message).toContain("line 2 (declared at model.ts:10:3)");
    expect(message).toContain("line two");
    expect(complaint(kernelIR([store(1, buffer(), int(-1), real(0))]), new Float64Array(1), { items: 1 })).toContain(
      "writes u[-1]",
    );
  });

  test("a branch that is not chosen loads nothing", () => {
    const outside = load(buffer(), int(9));
    const ir = kernelIR([
      store(1, buffer(), int(0), {
        kind: "select",
        type: "real",
        condition: constant("bool", true),
        a: real(4),
        b: outside,
      }),
      at(2, {
        kind: "if",
        condition: {
          kind: "logical",
          type: "bool",
          op: "and",
          a: constant("bool", false),
          b: compare("eq", outside, real(0)),
        },
        then: [],
        else: [],
      }),
    ]);
    const u = new Float64Array(1);
    interpret(ir, { u }, { items: 1 });
    expect(u[0]).toBe(4);
  });

  test("uninitialised locals, private and workgroup elements", () => {
    const array = { name: "x", element: "real", length: 2, atomic: false } as const;
    const u = new Float64Array(4);
    expect(
      complaint(
        kernelIR([store(1, buffer(), globalId, local("real", 0))], { locals: [{ name: "s", type: "real" }] }),
        u,
        { items: 1 },
      ),
    ).toContain("reads s before it has a value");
    expect(
      complaint(kernelIR([store(1, buffer(), globalId, load(privateArray(), int(1)))], { privates: [array] }), u, {
        items: 1,
      }),
    ).toContain("reads x[1] (length 2) before anything was stored");
    expect(
      complaint(
        kernelIR([store(1, buffer(), globalId, load(workgroup(), int(1)))], { workgroups: [array], cooperative: true }),
        u,
        { groups: 1 },
      ),
    ).toContain("reads x[1] (length 2) before");
  });

  test("a loop that does not end", () => {
    const forever = at(3, { kind: "loop", init: [], test: null, body: [], update: [] });
    expect(complaint(kernelIR([forever]), new Float64Array(1), { items: 1 })).toContain("seems not to end");
  });

  test("arguments and sizes", () => {
    const ir = kernelIR([]);
    expect(() => interpret(ir, {}, { items: 1 })).toThrow(ShapeError);
    expect(() => interpret(ir, { u: new Float32Array(1) }, { items: 1 })).toThrow(
      "expected a Float64Array, got a Float32Array",
    );
    expect(() => interpret(ir, { u: new Float64Array(1) }, { groups: 1 })).toThrow("{ items: a whole number }");
    expect(() => interpret(ir, { u: new Float64Array(1) }, { items: 1.5 })).toThrow(ShapeError);
  });
});

describe("races", () => {
  const everyone = (index: Expr, v: Expr): KernelIR => kernelIR([store(1, buffer(), index, v)]);

  test("two items write one element", () => {
    expect(complaint(everyone(int(0), real(1)), new Float64Array(1), { items: 2 })).toContain(
      "item 0 writes in the same launch",
    );
    expect(complaint(everyone(int(0), real(1)), new Float64Array(1), { items: 1 })).toBe("no complaint");
  });

  test("one item reads what another writes, in either order", () => {
    const left = everyone(globalId, load(buffer(), binary("max", binary("sub", globalId, int(1)), int(0))));
    expect(complaint(left, new Float64Array(3), { items: 3 })).toContain("a data race");
    const right = everyone(globalId, load(buffer(), binary("min", binary("add", globalId, int(1)), int(2))));
    expect(complaint(right, new Float64Array(3), { items: 3 })).toContain("a data race");
  });

  test("all may read, each may change its own", () => {
    const own = kernelIR([store(1, buffer(), globalId, binary("add", load(buffer(), globalId), real(1)))]);
    const u = new Float64Array(9);
    interpret(own, { u }, { items: 9 });
    expect(Array.from(u)).toEqual(new Array(9).fill(1));
  });

  test("barriers order the items of a group, not groups", () => {
    const next = binary("rem", binary("add", globalId, int(1)), int(4));
    const body = [
      store(1, buffer(), binary("rem", globalId, int(4)), real(1)),
      barrier(2),
      store(3, buffer(), next, real(2)),
    ];
    const cooperative = kernelIR(body, { cooperative: true });
    expect(complaint(cooperative, new Float64Array(4), { groups: 1 })).toBe("no complaint");
    expect(complaint(cooperative, new Float64Array(4), { groups: 2 })).toContain("a data race");
    const unordered = kernelIR(
      body.filter((stmt) => stmt.kind !== "barrier"),
      { cooperative: true },
    );
    expect(complaint(unordered, new Float64Array(4), { groups: 1 })).toContain("a data race");
  });

  test("atomics do not race with each other, but with plain accesses", () => {
    const buffers = [{ name: "u", element: "i32", access: "write", atomic: true }] as const;
    const add = at(1, {
      kind: "atomic",
      op: "add",
      array: buffer(),
      index: int(0),
      value: int(2),
      expected: null,
      result: null,
    });
    const u = new Int32Array(8);
    interpret(kernelIR([add], { buffers }), { u }, { items: 7 });
    expect(u[0]).toBe(14);
    const mixed = kernelIR([add, store(2, buffer(), binary("add", globalId, int(1)), load(buffer(), int(0), "i32"))], {
      buffers,
    });
    expect(complaint(mixed, u, { items: 2 })).toContain("atomically updates");
  });
});

describe("workgroups", () => {
  const shared = [{ name: "tile", element: "real", length: 4, atomic: false }] as const;

  test("a neighbour's value after a barrier, in every group", () => {
    const body = [
      store(1, workgroup(), localId, convert("real", globalId)),
      barrier(2),
      store(3, buffer(), globalId, load(workgroup(), binary("sub", int(3), localId))),
    ];
    const u = new Float64Array(8);
    interpret(kernelIR(body, { workgroups: shared, cooperative: true }), { u }, { groups: 2 });
    expect(Array.from(u)).toEqual([3, 2, 1, 0, 7, 6, 5, 4]);
  });

  test("what is fetched is there when it has been awaited, and not before", () => {
    const u = Float64Array.of(1, 2, 3, 4, 0, 0, 0, 0);
    const run = (words: number, index: Expr, ...awaited: number[]): string =>
      complaint(
        kernelIR(
          [
            at(1, { kind: "fetch", array: workgroup(), index, from: buffer(), fromIndex: localId, words }),
            ...awaited.map((fetches) => at(2, { kind: "barrier", fetches } as const)),
            store(3, buffer(), binary("add", localId, int(4)), load(workgroup(), binary("sub", int(3), localId))),
          ],
          { workgroups: shared, cooperative: true },
        ),
        u,
        { groups: 1 },
      );
    expect(run(1, localId)).toContain("or what was fetched had arrived");
    expect(run(1, localId, 1)).toContain("or what was fetched had arrived");
    expect(run(2, localId, 0)).toContain("not multiples of 2");
    expect(run(1, binary("add", localId, int(1)), 0)).toContain("out of bounds");
    expect(run(1, int(0), 0)).toContain("a data race");
    expect(run(1, localId, 1, 1)).toBe("no complaint");
    expect(run(1, localId, 0)).toBe("no complaint");
    expect(Array.from(u)).toEqual([1, 2, 3, 4, 4, 3, 2, 1]);
  });

  test("a barrier inside a loop", () => {
    const step = [
      at(2, { kind: "barrier" } as const),
      assign(2, 1, load(workgroup(), binary("rem", binary("add", localId, int(1)), int(4)))),
      at(2, { kind: "barrier" } as const),
      store(2, workgroup(), localId, local("real", 1)),
    ];
    const body = [
      store(1, workgroup(), localId, convert("real", localId)),
      at(2, {
        kind: "loop",
        init: [assign(2, 0, int(0))],
        test: compare("lt", local("i32", 0), int(3)),
        body: step,
        update: [assign(2, 0, binary("add", local("i32", 0), int(1)))],
      }),
      store(3, buffer(), globalId, load(workgroup(), localId)),
    ];
    const u = new Float64Array(4);
    const locals = [
      { name: "k", type: "i32" },
      { name: "x", type: "real" },
    ] as const;
    interpret(kernelIR(body, { workgroups: shared, cooperative: true, locals }), { u }, { groups: 1 });
    expect(Array.from(u)).toEqual([3, 0, 1, 2]);
  });

  test("a barrier that part of the workgroup misses", () => {
    const body = [at(1, { kind: "if", condition: compare("lt", localId, int(2)), then: [barrier(2)], else: [] })];
    const message = complaint(kernelIR(body, { cooperative: true }), new Float64Array(4), { groups: 1 });
    expect(message).toContain("waits at a barrier while item 2 (group 0, local 2) has ended");
  });

  test("subgroups: shuffles, lanes outside, reductions", () => {
    const run = (
      op: "shuffleDown" | "shuffleXor" | "add" | "max" | "shuffle",
      operand: Expr | null,
      subgroupSize: number,
    ): number[] => {
      const body = [
        at(1, { kind: "subgroup", op, value: convert("real", globalId), operand, result: 0 }),
        store(2, buffer(), globalId, local("real", 0)),
      ];
      const u = new Float64Array(6);
      interpret(
        kernelIR(body, { cooperative: true, groupSize: 6, locals: [{ name: "x", type: "real" }] }),
        { u },
        { groups: 1 },
        { subgroupSize },
      );
      return Array.from(u);
    };
    expect(run("shuffleDown", int(1), 4)).toEqual([1, 2, 3, 3, 5, 5]); // lane 6 is not there: item 5 keeps its own
    expect(run("shuffleXor", int(2), 4)).toEqual([2, 3, 0, 1, 4, 5]);
    expect(run("shuffle", int(0), 2)).toEqual([0, 0, 2, 2, 4, 4]);
    expect(run("add", null, 4)).toEqual([6, 6, 6, 6, 9, 9]);
    expect(run("max", null, 2)).toEqual([1, 1, 3, 3, 5, 5]);
  });
});

test("bits that are turned over are those of a number of 32 bits", () => {
  for (const x of [0, 1, 5, 0x7fffffff, 0x80000000, 0xffffffff]) {
    expect(unaryOperator("bitnot", "u32")(x)).toBe(0xffffffff - x);
    expect(unaryOperator("bitnot", "i32")(x | 0)).toBe(-1 - (x | 0));
  }
});

test("constants are folded where their type does not matter, and shifted right at run time", () => {
  expect(foldBinary("shr", -8, 1)).toBeNull();
  expect(foldBinary("shl", 3, 2)).toBe(12);
  expect(foldBinary("rem", 7, 0)).toBeNull();
  expect(foldBinary("rem", -7, 4)).toBe(-3);
});
