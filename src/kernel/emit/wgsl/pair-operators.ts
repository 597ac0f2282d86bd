import type { BinaryOp, CompareOp, IntrinsicOp, ScalarType } from "../../ir.ts";
import type { Operand } from "../c-like/dialect.ts";
import { literal, pairLiteral } from "./literals.ts";
import { WgslOperators } from "./operators.ts";
import type { HelperName } from "./helpers.ts";

const helperOf: Partial<Record<IntrinsicOp, HelperName>> = {
  sqrt: "fk2_sqrt",
  abs: "fk2_abs",
  floor: "fk2_floor",
  ceil: "fk2_ceil",
  trunc: "fk2_trunc",
  nearest: "fk2_nearest",
  copysign: "fk2_copysign",
  ldexp: "fk2_ldexp",
  exponent: "fk2_exponent",
  significand: "fk2_significand",
};

/**
 * The syntax of operators in WGSL for f32x2. Operators on reals become calls of the functions in pair-helpers.ts; all
 * others are printed as in f32.
 */
export class WgslPairOperators extends WgslOperators {
  override constant(type: ScalarType, value: number | boolean): string {
    return type === "real" ? pairLiteral(Number(value)) : literal(type, value);
  }

  override opaque(type: ScalarType, text: string): string {
    return type === "real" ? this.helpers.call("fk2_hide", text) : super.opaque(type, text);
  }

  override binary(op: BinaryOp, a: Operand, b: Operand): string {
    if (a.type !== "real") return super.binary(op, a, b);
    switch (op) {
      case "add":
        return this.#sum(a, b);
      case "sub":
        return this.#sum(a, negated(b));
      case "mul":
        return this.#product(a, b);
      case "div":
        return this.#quotient(a, b);
      case "rem":
      case "min":
      case "max":
        return this.helpers.call(`fk2_${op}`, a.text, b.text);
      default:
        throw new TypeError(`IR: no operator ${op} on reals`);
    }
  }

  /** Constants that are f32, most of those in formulas, save half the operations. */
  #sum(a: Operand, b: Operand): string {
    for (const [x, y] of [
      [a, b],
      [b, a],
    ])
      if (isShort(y)) return this.helpers.call("fk2_add_f32", x.text, short(y));
    return this.helpers.call("fk2_add", a.text, b.text);
  }

  #product(a: Operand, b: Operand): string {
    for (const [x, y] of [
      [a, b],
      [b, a],
    ]) {
      if (isPowerOfTwo(y.constant)) return this.#scaled(x, y.constant);
      if (isShort(y)) return this.helpers.call("fk2_mul_f32", x.text, short(y));
    }
    return this.helpers.call("fk2_mul", a.text, b.text);
  }

  #quotient(a: Operand, b: Operand): string {
    if (isPowerOfTwo(b.constant)) return this.#scaled(a, 1 / b.constant);
    const lifted = a.constant === undefined || Math.abs(Number(a.constant)) < 2 ** -64;
    return this.helpers.call(lifted ? "fk2_div" : "fk2_quotient", a.text, b.text);
  }

  #scaled(a: Operand, factor: number): string {
    if (Math.abs(factor) <= 1) return `(${a.text} * ${literal("real", factor)})`;
    return this.helpers.call("fk2_scale", a.text, literal("real", factor));
  }

  override compare(op: CompareOp, a: Operand, b: Operand): string {
    if (a.type !== "real") return super.compare(op, a, b);
    // The sign is the high word's.
    if (b.constant === 0) return super.compare(op, high(a), high(b));
    if (a.constant === 0) return super.compare(op, high(a), high(b));
    switch (op) {
      case "lt":
      case "le":
      case "eq":
        return this.helpers.call(`fk2_${op}`, a.text, b.text);
      case "gt":
        return this.helpers.call("fk2_lt", b.text, a.text);
      case "ge":
        return this.helpers.call("fk2_le", b.text, a.text);
      case "ne":
        return `(!${this.helpers.call("fk2_eq", a.text, b.text)})`;
      default:
        return op satisfies never;
    }
  }

  override convert(to: ScalarType, a: Operand): string {
    if (a.type === to || (a.type !== "real" && to !== "real")) return super.convert(to, a);
    if (to === "bool") return super.compare("ne", high(a), { text: "0f", type: "real", constant: 0 });
    if (to === "i32" || to === "u32") return this.helpers.call(`fk2_to_${to}`, a.text);
    if (a.type === "bool") return `vec2f(f32(${a.text}), 0f)`;
    return this.helpers.call(a.type === "i32" ? "fk2_from_i32" : "fk2_from_u32", a.text);
  }

  override intrinsic(op: IntrinsicOp, args: readonly Operand[]): string {
    const [a] = args;
    if (a.type !== "real") return super.intrinsic(op, args);
    if (op === "reciprocal") return this.#quotient({ text: this.constant("real", 1), type: "real", constant: 1 }, a);
    if (op === "positivePart")
      return this.binary("max", a, { text: this.constant("real", 0), type: "real", constant: 0 });
    if (op === "headBits") return `vec2f(${high(a).text}, 0f)`;
    const helper = helperOf[op];
    // What is left asks for NaN or infinity, which the high word tells.
    return helper === undefined
      ? super.intrinsic(op, [high(a)])
      : this.helpers.call(helper, ...args.map(({ text }) => text));
  }
}

function high({ text, constant }: Operand): Operand {
  return { text: constant === undefined ? `${text}.x` : literal("real", constant), type: "real", constant };
}

function negated({ text, type, constant }: Operand): Operand {
  return { text: `(-${text})`, type, constant: constant === undefined ? undefined : -Number(constant) };
}

/** Tells whether an operand is a constant that one f32 can represent. */
const isShort = ({ constant }: Operand): boolean =>
  constant !== undefined && Number.isFinite(Number(constant)) && Math.fround(Number(constant)) === Number(constant);

const short = ({ constant }: Operand): string => literal("real", Number(constant));

/** Tells whether scaling by `constant`, or its inverse, is exact. */
function isPowerOfTwo(constant: number | boolean | undefined): constant is number {
  if (typeof constant !== "number" || constant === 0 || !Number.isFinite(constant)) return false;
  const exponent = Math.log2(Math.abs(constant));
  return Number.isInteger(exponent) && 2 ** exponent === Math.abs(constant) && Math.abs(exponent) <= 126;
}
