/**
 * The differentials of expressions, as rules that are linear in the differentials of the operands. Forward mode applies
 * each rule to tangents, reverse mode to adjoints; a linear map of one scalar to another is its own transpose.
 */
import type { ArrayRef } from "../ir.ts";
import { type Draft, draftSubexpressions, type DraftStatement } from "../frontend/draft.ts";
import { type ExpressionBuilder, isLeaf } from "./algebra.ts";

/**
 * An expression with the rule for its differential. Without a `rule`, the expression does not depend on the inputs.
 */
export interface LinearisedExpr {
  readonly value: Draft;
  readonly rule?: DifferentialRule;
}

/** The rule for the differential of an expression, in terms of the differentials of its operands. */
export type DifferentialRule =
  | { readonly kind: "local"; readonly id: number }
  | { readonly kind: "load"; readonly array: ArrayRef; readonly index: Draft }
  /** The sum of a linear map of each term's change. */
  | { readonly kind: "sum"; readonly terms: readonly DifferentialTerm[] }
  /** The change of either operand. `isBranch`: what the one needs has values only where it is chosen. */
  | {
      readonly kind: "choice";
      readonly condition: Draft;
      readonly a: LinearisedExpr;
      readonly b: LinearisedExpr;
      readonly isBranch?: boolean;
    };

/**
 * A term of the differential of an expression: a partial derivative times the differential of the operand `of`. `times`
 * returns the product of the partial derivative and its argument `change`. Statements that this needs are appended to
 * `out`.
 */
export interface DifferentialTerm {
  readonly of: LinearisedExpr;
  times(change: Draft, out: DraftStatement[]): Draft;
}

/** The local variables, by number, and the arrays, by `keyOfArray`, that depend on the inputs of a differentiation. */
export interface ActiveVariables {
  readonly locals: Set<number>;
  readonly arrays: Set<string>;
}

/**
 * The array that holds the tangents or adjoints of another array. Those of element i of that array are at index
 * i + `offset`.
 */
export interface TangentArray {
  readonly ref: ArrayRef;
  readonly offset?: Draft | undefined;
}

/** Returns the key by which sets and maps of this folder identify an array. */
export const keyOfArray = ({ space, id }: ArrayRef): string => `${space} ${id}`;

/** Tells whether an expression depends on active variables by operations that have a derivative. */
export function isActive(d: Draft, active: ActiveVariables): boolean {
  const is = (operand: Draft): boolean => isActive(operand, active);
  switch (d.kind) {
    case "local":
      return active.locals.has(d.id);
    case "load":
      return active.arrays.has(keyOfArray(d.array));
    case "unary":
      return d.op === "neg" && is(d.a);
    case "binary":
    case "select":
      return is(d.a) || is(d.b);
    case "late":
      return d.op === "toReal" && is(d.args[0]);
    case "intrinsic":
      return SMOOTH.has(d.op) && is(d.args[0]);
    default:
      return false;
  }
}

/** Adds to `active` the variables and arrays to which the statements assign values that depend on active ones. */
export function propagateActivity(statements: readonly DraftStatement[], active: ActiveVariables): void {
  const size = (): number => active.locals.size + active.arrays.size;
  const once = (list: readonly DraftStatement[]): void => {
    for (const s of list) {
      if (s.kind === "assign" && isActive(s.value, active)) active.locals.add(s.local);
      else if (s.kind === "store" && isActive(s.value, active)) active.arrays.add(keyOfArray(s.array));
      else if (s.kind === "subgroup" && isActive(s.value, active)) active.locals.add(s.result);
      else if (s.kind === "call" && s.args.some((arg) => isActive(arg, active))) active.locals.add(s.result);
      else if (s.kind === "if") for (const branch of [s.then, s.else]) once(branch);
      else if (s.kind === "loop") for (const part of [s.init, s.body, s.update]) once(part);
    }
  };
  // The end of a loop acts on its beginning.
  for (let before = -1; before < size();) {
    before = size();
    once(statements);
  }
}

/** The settings of `Linearisation` for a mode of differentiation. */
export interface DifferentiationMode {
  readonly active: ActiveVariables;
  /**
   * Whether rules are applied to adjoints, after all statements: variables may have been reassigned, so that values
   * have to be kept, and what is not chosen has the adjoint zero.
   */
  readonly isReverse: boolean;
}

/** Splits expressions into their values, which are evaluated once, and the rules for their differentials. */
export class Linearisation {
  private readonly make: ExpressionBuilder;
  private readonly mode: DifferentiationMode;

  constructor(make: ExpressionBuilder, mode: DifferentiationMode) {
    this.make = make;
    this.mode = mode;
  }

  /**
   * Returns an expression's value and its rule. Operands that a derivative needs again are evaluated once, into `out`;
   * not so in a choice that may not be evaluated (`hoists` is false), because it may load beyond the end of an array.
   * Reverse mode makes a branch of such a choice.
   */
  of(d: Draft, out: DraftStatement[], hoists = true): LinearisedExpr {
    if (!isActive(d, this.mode.active)) return { value: d };
    const { make } = this;
    const leaf = (l: LinearisedExpr): Draft => this.leaf(l.value, out, hoists);
    const kept = (draft: Draft): Draft => (hoists ? make.keep(draft, out) : draft);
    const held: Held = (change, list) => (hoists ? make.keep(change, list) : change);
    const part = (operand: Draft): LinearisedExpr => this.of(operand, out, hoists);
    const like = (shape: Parameters<typeof make.ctx.draft>[2]): Draft => make.ctx.draft(make.node, d.type, shape);
    switch (d.kind) {
      case "local":
        return { value: this.leaf(d, out, hoists), rule: { kind: "local", id: d.id } };
      case "load": {
        const index = this.leaf(d.index, out, hoists);
        return { value: like({ ...d, index }), rule: { kind: "load", array: d.array, index } };
      }
      case "unary": {
        const a = part(d.a);
        return sum(like({ ...d, a: a.value }), [{ of: a, times: (x) => make.neg(x) }]);
      }
      case "late": {
        const a = part(d.args[0]);
        return sum(like({ ...d, args: [a.value] }), [{ of: a, times: (x) => x }]);
      }
      case "select": {
        if (d.product !== undefined) {
          const [a, b] = d.product.map(part) as [LinearisedExpr, LinearisedExpr];
          const [x, y] = [leaf(a), leaf(b)];
          return sum(make.guarded(x, y), [
            { of: a, times: (change, list) => make.guarded(held(change, list), y) },
            { of: b, times: (change, list) => make.guarded(held(change, list), x) },
          ]);
        }
        const condition = this.leaf(d.condition, out, hoists);
        if (this.mode.isReverse && (loads(d.a) || loads(d.b))) return this.branch(d, condition, out);
        const [a, b] = [d.a, d.b].map((side) => this.of(side, out, hoists && !loads(side))) as [
          LinearisedExpr,
          LinearisedExpr,
        ];
        return { value: like({ ...d, condition, a: a.value, b: b.value }), rule: { kind: "choice", condition, a, b } };
      }
      case "intrinsic":
        return this.intrinsic(d, d.args.map(part), { kept, leaf, like, held });
      case "binary":
        return this.binary(d, part(d.a), part(d.b), { kept, leaf, like, held });
      default:
        return { value: d };
    }
  }

  /** Turns a choice into a branch that assigns a variable. */
  private branch(d: Extract<Draft, { kind: "select" }>, condition: Draft, out: DraftStatement[]): LinearisedExpr {
    const { ctx, node } = this.make;
    const local = ctx.newLocal("v", d.type);
    ctx.settled.add(local);
    const place = ctx.place(node);
    const [[a, yes], [b, no]] = [d.a, d.b].map((side) => {
      const list: DraftStatement[] = [];
      const linear = this.of(side, list);
      list.push({ kind: "assign", local, value: linear.value, place });
      return [linear, list] as const;
    });
    out.push({ kind: "if", condition, then: yes, else: no, place });
    return { value: ctx.local(node, local), rule: { kind: "choice", condition, a, b, isBranch: true } };
  }

  /** Returns the value of an expression that reverse mode can read again after all statements. */
  lasting(d: Draft, out: DraftStatement[]): Draft {
    return this.leaf(d, out, true);
  }

  /** Returns a value that can be used again: a constant, a parameter, or a variable that keeps its value. */
  private leaf(d: Draft, out: DraftStatement[], hoists: boolean): Draft {
    const { ctx, node } = this.make;
    const mayChange = d.kind === "local" && this.mode.isReverse && !ctx.settled.has(d.id);
    if (isLeaf(d) && !mayChange) return d;
    return hoists || mayChange ? ctx.settle(node, d, out, "v") : d;
  }

  private binary(
    d: Extract<Draft, { kind: "binary" }>,
    a: LinearisedExpr,
    b: LinearisedExpr,
    { kept, leaf, like, held }: Ways,
  ): LinearisedExpr {
    const { make } = this;
    switch (d.op) {
      case "add":
      case "sub": {
        const times = d.op === "add" ? same : (x: Draft) => make.neg(x);
        return sum(like({ ...d, a: a.value, b: b.value }), [
          { of: a, times: same },
          { of: b, times },
        ]);
      }
      case "mul": {
        const [x, y] = [leaf(a), leaf(b)];
        return sum(like({ ...d, a: x, b: y }), [
          { of: a, times: (change) => make.mul(change, y) },
          { of: b, times: (change) => make.mul(change, x) },
        ]);
      }
      case "div": {
        const divisor = leaf(b);
        const quotient = b.rule ? kept(like({ ...d, a: a.value, b: divisor })) : like({ ...d, a: a.value, b: divisor });
        const inverse = kept(make.div(make.constant(1), divisor));
        const slope = b.rule && kept(make.neg(make.mul(quotient, inverse)));
        const { isReverse } = this.mode;
        return sum(quotient, [
          {
            of: a,
            times: (change, out) =>
              isReverse && divisor.kind !== "const"
                ? make.guarded(held(change, out), inverse)
                : make.mul(change, inverse),
          },
          { of: b, times: (change, out) => make.guarded(held(change, out), slope!) },
        ]);
      }
      case "rem": {
        const [x, y] = [leaf(a), leaf(b)];
        const whole = kept(make.neg(make.intrinsic("trunc", make.div(x, y))));
        return sum(like({ ...d, a: x, b: y }), [
          { of: a, times: same },
          { of: b, times: (change) => make.mul(change, whole) },
        ]);
      }
      case "min":
      case "max": {
        const [x, y] = [leaf(a), leaf(b)];
        const condition = kept(make.compare(d.op === "min" ? "lt" : "gt", x, y));
        return { value: like({ ...d, a: x, b: y }), rule: { kind: "choice", condition, a, b } };
      }
      default:
        return { value: d }; // operations on bits
    }
  }

  private intrinsic(
    d: Extract<Draft, { kind: "intrinsic" }>,
    args: readonly LinearisedExpr[],
    { kept, leaf, like, held }: Ways,
  ): LinearisedExpr {
    const { make } = this;
    const [a, b] = args;
    const one = (value: Draft, times: DifferentialTerm["times"]): LinearisedExpr => sum(value, [{ of: a, times }]);
    switch (d.op) {
      case "sqrt": {
        const root = kept(like({ ...d, args: [a.value] }));
        const slope = kept(make.div(make.constant(0.5), root));
        return one(root, (change, out) => make.guarded(held(change, out), slope));
      }
      case "reciprocal": {
        const inverse = kept(like({ ...d, args: [a.value] }));
        const slope = kept(make.neg(make.mul(inverse, inverse)));
        return one(inverse, (change, out) => make.guarded(held(change, out), slope));
      }
      case "positivePart":
      case "abs": {
        const x = leaf(a);
        const condition = kept(make.compare("gt", x, make.constant(0)));
        return one(like({ ...d, args: [x] }), (given, out) => {
          const change = d.op === "abs" ? held(given, out) : given;
          return make.select(condition, change, d.op === "abs" ? make.neg(change) : undefined)!;
        });
      }
      case "copysign": {
        const [x, sign] = [leaf(a), leaf(b)];
        const zero = make.constant(0);
        const isNegative = (y: Draft): Draft =>
          make.compare("lt", make.intrinsic("copysign", make.constant(1), y), zero);
        const keeps = kept(make.compare("eq", isNegative(x), isNegative(sign)));
        return one(like({ ...d, args: [x, sign] }), (given, out) => {
          const change = held(given, out);
          return make.select(keeps, change, make.neg(change))!;
        });
      }
      case "ldexp": {
        const power = leaf(b);
        return one(like({ ...d, args: [a.value, power] }), (change) => make.intrinsic("ldexp", change, power));
      }
      case "significand": {
        const x = leaf(a);
        const value = kept(like({ ...d, args: [x] }));
        const scale = kept(make.div(value, x)); // 2 to the power of −exponent(x)
        return one(value, (change) => make.mul(change, scale));
      }
      default: // headBits: the value itself, less than its last digits
        return one(like({ ...d, args: [a.value] }), same);
    }
  }
}

type Held = (change: Draft, out: DraftStatement[]) => Draft;

/** What rules are made with. */
interface Ways {
  /** Evaluates an expression once. */
  kept(draft: Draft): Draft;
  /** Returns a value that can be used again. */
  leaf(l: LinearisedExpr): Draft;
  /** Makes an expression of the type of the one that is split. */
  like(shape: Parameters<ExpressionBuilder["ctx"]["draft"]>[2]): Draft;
  /** Evaluates a change that is used twice, so that expressions do not double with each operation around them. */
  readonly held: Held;
}

const same = (change: Draft): Draft => change;

/** The intrinsic functions that change with their first argument; the others are constant almost everywhere. */
const SMOOTH: ReadonlySet<string> = new Set([
  "sqrt",
  "reciprocal",
  "positivePart",
  "abs",
  "copysign",
  "ldexp",
  "significand",
  "headBits",
]);

function sum(value: Draft, terms: readonly DifferentialTerm[]): LinearisedExpr {
  const active = terms.filter(({ of }) => of.rule !== undefined);
  return active.length === 0 ? { value } : { value, rule: { kind: "sum", terms: active } };
}

const loads = (d: Draft): boolean => d.kind === "load" || draftSubexpressions(d).some(loads);
