/** Every scalar operation of the IR on WebGPU, against the interpreter, at the edges of its domain. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WebGpuDevice } from "../../src/device/webgpu/index.ts";
import type { BinaryOp, CompareOp, Expr, IntrinsicOp, KernelIR, ScalarType } from "../../src/kernel/ir.ts";
import { type HostArguments, inInterpreter, onDevice } from "../support/against-interpreter.ts";
import {
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
  store,
} from "../support/ir.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";

let device: WebGpuDevice | undefined;
beforeAll(async () => {
  device = await openWebGpuForTests();
});
afterAll(() => device?.[Symbol.dispose]());

const reals = [
  0,
  1,
  -1,
  0.5,
  2.5,
  -2.5,
  3.5,
  1e-3,
  1 / 3,
  7,
  -7.25,
  1e10,
  -3e9,
  5e9,
  16777217,
  3e38,
  2 ** -126,
  Infinity,
  -Infinity,
  NaN,
];
const ints = [0, 1, -1, 2, 5, -7, 31, 32, 33, 12345, -98765, 2 ** 31 - 1, -(2 ** 31)];

/** All pairs, as two columns. */
const pairs = <T>(values: readonly T[]): [T[], T[]] => [
  values.flatMap((a) => values.map(() => a)),
  values.flatMap(() => values),
];
const [ra, rb] = pairs(reals);
const [ia, ib] = pairs(ints);
const n = Math.max(ra.length, ia.length);
const padded = <T>(values: readonly T[]): T[] => Array.from({ length: n }, (_, i) => values[i % values.length]);

const inputs: HostArguments = {
  ra: Float32Array.from(padded(ra)),
  rb: Float32Array.from(padded(rb)),
  ia: Int32Array.from(padded(ia)),
  ib: Int32Array.from(padded(ib)),
  ua: Uint32Array.from(padded(ia)),
  ub: Uint32Array.from(padded(ib)),
};
const columns = ["ra", "rb", "ia", "ib", "ua", "ub"] as const;
const typeOf = { r: "real", i: "i32", u: "u32" } as const;
const at = (column: (typeof columns)[number]): Expr =>
  load(buffer(columns.indexOf(column)), globalId, typeOf[column[0] as "r"]);

/** One kernel that stores each expression, as bits of its own type, in a row of its own. */
function tabulate(expressions: readonly Expr[]): {
  ir: KernelIR;
  rowOf: (e: Expr) => { type: "r" | "i" | "u"; row: number };
} {
  const rows = { r: [] as Expr[], i: [] as Expr[], u: [] as Expr[] };
  const kind = (type: ScalarType) => (type === "real" ? "r" : type === "u32" ? "u" : "i");
  for (const e of expressions) rows[kind(e.type)].push(e);
  const body = (["r", "i", "u"] as const).flatMap((type, t) =>
    rows[type].map((e, row) =>
      store(
        row + 1,
        buffer(columns.length + t),
        binary("add", binary("mul", globalId, int(rows[type].length)), int(row)),
        e.type === "bool" ? convert("i32", e) : e,
      ),
    ),
  );
  const outputs = (["r", "i", "u"] as const).map((type) => ({
    name: `out_${type}`,
    element: typeOf[type],
    access: "write" as const,
    atomic: false,
  }));
  const buffers = [
    ...columns.map((name) => ({ name, element: typeOf[name[0] as "r"], access: "read" as const, atomic: false })),
    ...outputs,
  ];
  return {
    ir: kernelIR(body, { precision: "f32", buffers }),
    rowOf: (e) => ({ type: kind(e.type), row: rows[kind(e.type)].indexOf(e) }),
  };
}

interface Case {
  readonly name: string;
  readonly e: Expr;
  /** Relative error allowed, in units of 2⁻²⁴; 0 means the same bits. */
  readonly ulps?: number;
  /** Pairs on which the IR leaves the result open. */
  readonly open?: (a: number, b: number) => boolean;
}

const binaryCase = (column: "r" | "i" | "u", op: BinaryOp, more: Partial<Case> = {}): Case => ({
  name: `${op} on ${typeOf[column]}`,
  e: binary(op, at(`${column}a`), at(`${column}b`)),
  ...more,
});
const compareCase = (column: "r" | "i" | "u", op: CompareOp): Case => ({
  name: `${op} on ${typeOf[column]}`,
  e: compare(op, at(`${column}a`), at(`${column}b`)),
});
const intrinsicCase = (type: ScalarType, op: IntrinsicOp, args: Expr[], more: Partial<Case> = {}): Case => ({
  name: `${op} of ${args.map((arg) => arg.type).join(", ")}`,
  e: intrinsic(type, op, ...args),
  ...more,
});
const convertCase = (to: ScalarType, from: Expr): Case => ({ name: `${from.type} to ${to}`, e: convert(to, from) });

const nanOrZero = (a: number, b: number): boolean => Number.isNaN(a) || Number.isNaN(b) || (a === 0 && b === 0);
const notNormal = (a: number): boolean => !Number.isFinite(a) || a === 0;

const cases: readonly Case[] = [
  ...(["add", "sub", "mul"] as const).map((op) => binaryCase("r", op)),
  binaryCase("r", "div", { ulps: 5 }), // WGSL allows 2.5 ulp, SwiftShader rounds correctly
  binaryCase("r", "rem"),
  ...(["min", "max"] as const).map((op) => binaryCase("r", op, { open: nanOrZero })),
  ...(["i", "u"] as const).flatMap((column) =>
    (["add", "sub", "mul", "div", "rem", "min", "max", "and", "or", "xor", "shl", "shr"] as const).map((op) =>
      binaryCase(column, op),
    ),
  ),
  ...(["r", "i", "u"] as const).flatMap((column) =>
    (["lt", "le", "gt", "ge", "eq", "ne"] as const).map((op) => compareCase(column, op)),
  ),
  intrinsicCase("real", "sqrt", [at("ra")], { ulps: 5, open: (a) => a < 0 }),
  ...(["abs", "floor", "ceil", "trunc", "nearest"] as const).map((op) => intrinsicCase("real", op, [at("ra")])),
  intrinsicCase("real", "copysign", [at("ra"), at("rb")]),
  intrinsicCase("bool", "isNaN", [at("ra")]),
  intrinsicCase("bool", "isFinite", [at("ra")]),
  intrinsicCase("real", "ldexp", [at("ra"), binary("rem", at("ib"), int(400))]),
  intrinsicCase("i32", "exponent", [at("ra")], { open: notNormal }),
  intrinsicCase("real", "significand", [at("ra")], { open: notNormal }),
  intrinsicCase("real", "headBits", [at("ra")], { open: (a) => !Number.isFinite(a) }),
  intrinsicCase("i32", "abs", [at("ia")]),
  intrinsicCase("u32", "mulHigh", [at("ua"), at("ub")]),
  intrinsicCase("i32", "clz", [at("ua")]),
  intrinsicCase("i32", "clz", [at("ia")]),
  intrinsicCase("i32", "popcount", [at("ua")]),
  convertCase("i32", at("ra")),
  convertCase("u32", at("ra")),
  convertCase("real", at("ia")),
  convertCase("real", at("ua")),
  convertCase("u32", at("ia")),
  convertCase("i32", at("ub")),
  convertCase("real", compare("lt", at("ra"), at("rb"))),
];

/** Divisions, remainders and shifts by constants take a path of their own; so do expressions of constants alone. */
const constantCases: readonly Case[] = [
  ...[0, 1, -1, 3, -(2 ** 31)].flatMap((c) =>
    (["div", "rem", "shl", "shr"] as const).map((op) => ({ name: `i32 ${op} ${c}`, e: binary(op, at("ia"), int(c)) })),
  ),
  ...[0, 1, 7, 2 ** 32 - 1].flatMap((c) =>
    (["div", "rem", "shl"] as const).map((op) => ({
      name: `u32 ${op} ${c}`,
      e: binary(op, at("ua"), constant("u32", c)),
    })),
  ),
  { name: "1/0", e: binary("div", constant("real", 1), constant("real", 0)) },
  { name: "3e38 * 10", e: binary("mul", constant("real", 3e38), constant("real", 10)) },
  { name: "i32 overflow", e: binary("add", int(2 ** 31 - 1), int(1)) },
  { name: "i32 0/0", e: binary("div", int(0), int(0)) },
  { name: "sqrt of infinity", e: intrinsic("real", "sqrt", constant("real", Infinity)) },
  { name: "NaN to i32", e: convert("i32", constant("real", NaN)) },
  ...[Infinity, -Infinity, NaN, -0, 0.1, -1e-7, 3.4028234663852886e38, 1e39, 2 ** -126, 123456.789].map((x) => ({
    name: `literal ${x}`,
    e: constant("real", x),
  })),
  ...[-(2 ** 31), 2 ** 31 - 1, -1].map((x) => ({ name: `literal ${x}`, e: int(x) })),
  { name: "literal 2³²−1", e: constant("u32", 2 ** 32 - 1) },
];

const flushed = (x: number): number => (Math.abs(x) < 2 ** -126 ? 0 : x);

function agrees(got: number, wanted: number, ulps: number): boolean {
  if (Number.isNaN(wanted)) return Number.isNaN(got);
  if (got === wanted || flushed(got) === flushed(wanted)) return true;
  return Math.abs(got - wanted) <= ulps * 2 ** -24 * Math.abs(wanted);
}

async function check(group: readonly Case[]): Promise<string[]> {
  const { ir, rowOf } = tabulate(group.map(({ e }) => e));
  const count = (type: "r" | "i" | "u") => Math.max(1, group.filter(({ e }) => rowOf(e).type === type).length * n);
  const args = {
    ...inputs,
    out_r: new Float32Array(count("r")),
    out_i: new Int32Array(count("i")),
    out_u: new Uint32Array(count("u")),
  };
  const wanted = inInterpreter(ir, args, { items: n });
  const got = await onDevice(device!, ir, args, { items: n });
  return group.flatMap(({ name, e, ulps = 0, open = () => false }) => {
    const { type, row } = rowOf(e);
    const [w, g] = [wanted[`out_${type}`], got[`out_${type}`]];
    const stride = w.length / n;
    const [a, b] = name.includes("i32")
      ? [inputs["ia"], inputs["ib"]]
      : name.includes("u32")
        ? [inputs["ua"], inputs["ub"]]
        : [inputs["ra"], inputs["rb"]];
    const failures: string[] = [];
    for (let i = 0; i < n; i++) {
      const [x, y] = [(a as Float32Array)[i], (b as Float32Array)[i]];
      const k = i * stride + row;
      if (!open(x, y) && !agrees(g[k], w[k], ulps))
        failures.push(`${name} (${x}, ${y}): got ${g[k]}, expected ${w[k]}`);
    }
    return failures.slice(0, 3);
  });
}

describe("WebGPU operators", () => {
  test("on run-time operands", async ({ skip }) => {
    if (device === undefined) return skip("no WebGPU adapter");
    expect(await check(cases)).toEqual([]);
  });

  test("on constants", async ({ skip }) => {
    if (device === undefined) return skip("no WebGPU adapter");
    expect(await check(constantCases)).toEqual([]);
  });
});
