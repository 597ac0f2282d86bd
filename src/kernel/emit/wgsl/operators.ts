import type { BinaryOp, CompareOp, IntrinsicOp, ScalarType, UnaryOp } from "../../ir.ts";
import type { Operand, OperatorSyntax } from "../c-like/dialect.ts";
import type { Helpers } from "./helpers.ts";
import { literal } from "./literals.ts";

const infix = {
  add: "+",
  sub: "-",
  mul: "*",
  div: "/",
  rem: "%",
  and: "&",
  or: "|",
  xor: "^",
  shl: "<<",
  shr: ">>",
} as const;
const comparison = { lt: "<", le: "<=", gt: ">", ge: ">=", eq: "==", ne: "!=" } as const satisfies Record<
  CompareOp,
  string
>;
const prefix = { neg: "-", not: "!", bitnot: "~" } as const satisfies Record<UnaryOp, string>;

/**
 * The built-in functions of WGSL that have the IR's meaning. WGSL's `round` rounds to the nearest integer, ties to
 * even.
 */
const builtins: Partial<Record<IntrinsicOp, string>> = {
  sqrt: "sqrt",
  abs: "abs",
  floor: "floor",
  ceil: "ceil",
  trunc: "trunc",
  nearest: "round",
};

const helperOf = {
  copysign: "fk_copysign",
  isNaN: "fk_is_nan",
  isFinite: "fk_is_finite",
  ldexp: "fk_ldexp",
  exponent: "fk_exponent",
  significand: "fk_significand",
  headBits: "fk_head_bits",
  mulHigh: "fk_mul_high",
} as const;

/** The syntax of operators in WGSL. */
export class WgslOperators implements OperatorSyntax {
  readonly lazySelect = false;
  protected readonly helpers: Helpers;

  constructor(helpers: Helpers) {
    this.helpers = helpers;
  }

  constant(type: ScalarType, value: number | boolean): string {
    return literal(type, value);
  }

  opaque(type: ScalarType, text: string): string {
    switch (type) {
      case "real":
        // `args.zero` inside means that the literal was made opaque already; bitcasting a constant NaN is an error.
        return text.includes("args.zero") ? text : this.helpers.call("fk_hide", text);
      case "i32":
        return `(${text} ^ i32(args.zero))`;
      case "u32":
        return `(${text} ^ args.zero)`;
      case "bool":
        return text; // nothing about constant booleans is ever an error
      default:
        return type satisfies never;
    }
  }

  unary(op: UnaryOp, a: Operand): string {
    return `(${prefix[op]}${a.text})`;
  }

  binary(op: BinaryOp, a: Operand, b: Operand): string {
    switch (op) {
      case "min":
      case "max":
        return `${op}(${a.text}, ${b.text})`;
      case "shl":
      case "shr":
        return `(${a.text} ${infix[op]} ${shiftCount(b)})`;
      case "div":
      case "rem":
        return this.#quotient(op, a, b);
      default:
        return `(${a.text} ${infix[op]} ${b.text})`;
    }
  }

  #quotient(op: "div" | "rem", a: Operand, b: Operand): string {
    if (a.type === "real")
      return op === "div" ? `(${a.text} / ${b.text})` : this.helpers.call("fk_rem", a.text, b.text);
    // A constant divisor needs no guard; that of INT_MIN by −1 is WGSL's own rule (the dividend, or 0).
    if (b.constant !== undefined && b.constant !== 0) return `(${a.text} ${infix[op]} ${b.text})`;
    return this.helpers.call(`fk_${op}_${a.type as "i32" | "u32"}`, a.text, b.text);
  }

  compare(op: CompareOp, a: Operand, b: Operand): string {
    // Tint makes `!=` an ordered comparison, false for NaN.
    if (op === "ne" && a.type === "real") return `(!(${a.text} == ${b.text}))`;
    return `(${a.text} ${comparison[op]} ${b.text})`;
  }

  convert(to: ScalarType, a: Operand): string {
    if (a.type === to) return a.text;
    if (to === "bool") return `(${a.text} != ${literal(a.type, 0)})`;
    if (a.type === "real") return this.helpers.call(to === "i32" ? "fk_to_i32" : "fk_to_u32", a.text);
    if (to === "real") return `f32(${a.text})`;
    return a.type === "bool" ? `${to}(${a.text})` : `bitcast<${to}>(${a.text})`;
  }

  intrinsic(op: IntrinsicOp, args: readonly Operand[]): string {
    const texts = args.map(({ text }) => text);
    switch (op) {
      case "clz":
        return `i32(countLeadingZeros(${texts[0]}))`;
      case "popcount":
        return `i32(countOneBits(${texts[0]}))`;
      case "reciprocal":
        return `(1f / ${texts[0]})`;
      case "positivePart":
        return `max(${texts[0]}, 0f)`;
      case "sqrt":
      case "abs":
      case "floor":
      case "ceil":
      case "trunc":
      case "nearest":
        return `${builtins[op]}(${texts[0]})`;
      default:
        return this.helpers.call(helperOf[op], ...texts);
    }
  }

  select(condition: string, a: string, b: string): string {
    return `select(${b}, ${a}, ${condition})`;
  }
}

/**
 * Returns a shift count, of which only the low five bits count. WGSL requires a u32 and rejects constants beyond 31.
 */
function shiftCount(b: Operand): string {
  if (b.constant !== undefined) return `${Number(b.constant) & 31}u`;
  return b.type === "u32" ? `(${b.text} & 31u)` : `(u32(${b.text}) & 31u)`;
}
