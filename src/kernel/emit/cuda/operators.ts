import type { BinaryOp, CompareOp, Expr, IntrinsicOp, KernelIR, Precision, ScalarType, UnaryOp } from "../../ir.ts";
import type { Operand, OperatorSyntax } from "../c-like/dialect.ts";
import type { HelperName, Helpers } from "./helpers/index.ts";
import { literal, typeName } from "./literals.ts";
import { forEachExpr, forEachStmt, expressionsOf } from "../../visit.ts";

/** Returns a text for a local variable or a constant as 32 bits, signed or not; undefined for any other expression. */
function factorOf(e: Expr | undefined): string | undefined {
  if (e?.kind === "convert" && e.type !== "real" && e.a.type !== "real" && e.a.type !== "bool") return factorOf(e.a);
  if (e?.kind === "local") return `local ${e.id}`;
  return e?.kind === "const" ? `${Number(e.value) >>> 0}` : undefined;
}

const keyOf = (a: Expr | undefined, b: Expr | undefined): string | undefined => {
  const [first, second] = [factorOf(a), factorOf(b)];
  return first === undefined || second === undefined ? undefined : `${first} × ${second}`;
};

/**
 * Returns a function that tells whether the kernel also computes the upper 32 bits (`mulHigh`) of the product of two
 * given factors. One 64-bit product then serves both halves.
 */
function wideProducts({ body }: KernelIR): (a: Expr | undefined, b: Expr | undefined) => boolean {
  const keys = new Set<string | undefined>();
  forEachStmt(body, (s) => {
    for (const root of expressionsOf(s))
      forEachExpr(root, (e) => {
        if (e.kind === "intrinsic" && e.op === "mulHigh") keys.add(keyOf(e.args[0], e.args[1]));
      });
  });
  keys.delete(undefined);
  return (a, b) => keys.has(keyOf(a, b));
}

const infix = {
  add: "+",
  sub: "-",
  mul: "*",
  div: "/",
  and: "&",
  or: "|",
  xor: "^",
  shl: "<<",
  shr: ">>",
} as const satisfies Partial<Record<BinaryOp, string>>;
const comparison = { lt: "<", le: "<=", gt: ">", ge: ">=", eq: "==", ne: "!=" } as const satisfies Record<
  CompareOp,
  string
>;
const prefix = { neg: "-", not: "!", bitnot: "~" } as const satisfies Record<UnaryOp, string>;

/** The functions of CUDA that have the IR's meaning, by their names in f64. In f32 an `f` follows. */
const builtins = {
  sqrt: "sqrt",
  floor: "floor",
  ceil: "ceil",
  trunc: "trunc",
  nearest: "rint",
  copysign: "copysign",
} as const satisfies Partial<Record<IntrinsicOp, string>>;

const helperOf = {
  isNaN: "is_nan",
  isFinite: "is_finite",
  ldexp: "ldexp",
  exponent: "exponent",
  significand: "significand",
  headBits: "head_bits",
  reciprocal: "reciprocal",
  positivePart: "positive_part",
} as const satisfies Partial<Record<IntrinsicOp, HelperName>>;

/** The syntax of operators in CUDA C++. */
export class CudaOperators implements OperatorSyntax {
  readonly lazySelect = true;
  readonly #helpers: Helpers;
  readonly #precision: Precision;
  readonly #isWide: (a: Expr | undefined, b: Expr | undefined) => boolean;

  constructor(ir: KernelIR, helpers: Helpers) {
    this.#precision = ir.precision;
    this.#helpers = helpers;
    this.#isWide = wideProducts(ir);
  }

  constant(type: ScalarType, value: number | boolean): string {
    return literal(type, value, this.#precision);
  }

  /** Returns the text itself, because C++ accepts all constants printed here and evaluates them as the GPU does. */
  opaque(_: ScalarType, text: string): string {
    return text;
  }

  unary(op: UnaryOp, a: Operand): string {
    if (op === "neg" && a.type === "i32") return this.#helpers.call("neg", a.text);
    return `(${prefix[op]}${a.text})`;
  }

  binary(op: BinaryOp, a: Operand, b: Operand): string {
    switch (op) {
      case "add":
      case "sub":
      case "mul":
        if (op === "mul" && a.type === "i32" && this.#isWide(a.source, b.source))
          return `int(unsigned(${this.#wide(a, b)}))`;
        return a.type === "i32" ? this.#helpers.call(op, a.text, b.text) : `(${a.text} ${infix[op]} ${b.text})`;
      case "shl":
      case "shr":
        return this.#shift(op, a, b);
      case "min":
      case "max":
        return this.#helpers.call(a.type === "real" ? op : `${op}_${integral(a)}`, a.text, b.text);
      case "div":
        return this.#quotient(a, b);
      case "rem":
        return this.#remainder(a, b);
      default:
        return `(${a.text} ${infix[op]} ${b.text})`;
    }
  }

  #wide(a: Operand, b: Operand): string {
    return this.#helpers.call("wide", `unsigned(${a.text})`, `unsigned(${b.text})`);
  }

  #shift(op: "shl" | "shr", a: Operand, b: Operand): string {
    const count =
      b.constant === undefined ? `(${b.text} & ${b.type === "u32" ? "31u" : "31"})` : `${Number(b.constant) & 31}`;
    if (op === "shl" && a.type === "i32") return this.#helpers.call("shl", a.text, count);
    return `(${a.text} ${infix[op]} ${count})`;
  }

  #quotient(a: Operand, b: Operand): string {
    if (a.type === "real" || isPlainDivisor(b)) return `(${a.text} / ${b.text})`;
    return this.#helpers.call(`div_${integral(a)}`, a.text, b.text);
  }

  #remainder(a: Operand, b: Operand): string {
    if (a.type === "real") return `${this.#function("fmod")}(${a.text}, ${b.text})`;
    if (isPlainDivisor(b)) return `(${a.text} % ${b.text})`;
    return this.#helpers.call(`rem_${integral(a)}`, a.text, b.text);
  }

  compare(op: CompareOp, a: Operand, b: Operand): string {
    return `(${a.text} ${comparison[op]} ${b.text})`;
  }

  convert(to: ScalarType, a: Operand): string {
    if (a.type === to) return a.text;
    if (to === "bool") return `(${a.text} != ${this.constant(a.type, 0)})`;
    if (a.type === "real") return this.#helpers.call(to === "i32" ? "to_i32" : "to_u32", a.text);
    return `${typeName(to, this.#precision)}(${a.text})`;
  }

  intrinsic(op: IntrinsicOp, args: readonly Operand[]): string {
    const texts = args.map(({ text }) => text);
    switch (op) {
      case "abs":
        return args[0].type === "i32" ? this.#helpers.call("abs", ...texts) : `${this.#function("fabs")}(${texts[0]})`;
      case "mulHigh":
        return this.#isWide(args[0].source, args[1].source)
          ? `unsigned(${this.#wide(args[0], args[1])} >> 32)`
          : `__umulhi(${texts.join(", ")})`;
      case "clz":
        return `__clz(int(${texts[0]}))`;
      case "popcount":
        return `__popc(unsigned(${texts[0]}))`;
      case "sqrt":
      case "floor":
      case "ceil":
      case "trunc":
      case "nearest":
      case "copysign":
        return `${this.#function(builtins[op])}(${texts.join(", ")})`;
      default:
        return this.#helpers.call(helperOf[op], ...texts);
    }
  }

  select(condition: string, a: string, b: string): string {
    return `(${condition} ? ${a} : ${b})`;
  }

  #function(name: string): string {
    return this.#precision === "f64" ? name : `${name}f`;
  }
}

const integral = ({ type }: Operand): "i32" | "u32" => (type === "u32" ? "u32" : "i32");

/** Tells whether a divisor is a constant other than 0 and −1, for which C++'s own division has the IR's meaning. */
const isPlainDivisor = ({ constant, type }: Operand): boolean =>
  constant !== undefined && constant !== 0 && !(type === "i32" && constant === -1);
