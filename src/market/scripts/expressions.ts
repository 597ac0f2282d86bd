/** The expressions of a script: names, types and functions are checked, and every value becomes single numbers. */
import type { Node } from "acorn";
import {
  BINARY,
  calleeOf,
  decimalOf,
  type Fail,
  FORMULA_CONSTANTS,
  LOGICAL,
  refuseChain,
  UNARY,
} from "../../kernel/index.ts";
import type { EventScope, Value } from "./scope.ts";
import type { Expression } from "./tree.ts";

const MAX_DEPTH = 100;
const COMPARISON = /^(?:[<>]=?|[=!]==?)$/;

/** The functions that reduce one number for each underlying to one number. */
const REDUCTIONS: Readonly<Record<string, (parts: readonly Expression[]) => Expression>> = {
  sum: sumOf,
  mean: (parts) => ({
    kind: "binary",
    operator: "/",
    left: sumOf(parts),
    right: { kind: "number", value: parts.length },
  }),
  min: (parts) => parts.reduce((a, b) => ({ kind: "call", callee: "Math.min", args: [a, b] })),
  max: (parts) => parts.reduce((a, b) => ({ kind: "call", callee: "Math.max", args: [a, b] })),
};

function sumOf(parts: readonly Expression[]): Expression {
  return parts.reduce((left, right) => ({ kind: "binary", operator: "+", left, right }));
}

/** Reads the expressions of an event. */
export class ExpressionReader {
  readonly #scope: EventScope;
  readonly #fail: Fail;

  constructor(scope: EventScope) {
    this.#scope = scope;
    this.#fail = (...mistake) => scope.source.error(...mistake);
  }

  /** Returns the value of an expression that must be one number. @throws KernelError */
  number(node: any): Expression {
    return this.#single(node, "number");
  }

  /** Returns the value of an expression that must be one truth value. @throws KernelError */
  truth(node: any): Expression {
    return this.#single(node, "truth");
  }

  #single(node: any, type: Value["type"]): Expression {
    const value = this.value(node);
    this.check(node, value, type);
    if (value.parts.length === 1) return value.parts[0];
    const names = this.#scope.letters.map((letter) => `S.${letter}`).join(", ");
    throw this.#fail(
      node.start,
      "this has one value for each underlying, and one is needed",
      `write sum(…), mean(…), min(…) or max(…) of it, or one underlying, as in ${names}`,
    );
  }

  /** Checks the type of a value. @throws KernelError */
  check(node: any, { type }: Value, wanted: Value["type"]): void {
    if (type === wanted) return;
    throw wanted === "truth"
      ? this.#fail(node.start, "a number is no condition", "compare it, as in x > 0")
      : this.#fail(node.start, "a truth value is no number", "write (…) ? 1 : 0");
  }

  /** Returns the value of an expression. @throws KernelError */
  value(node: any, depth = 0): Value {
    if (depth > MAX_DEPTH) throw this.#fail(node.start, "the expression is nested too deeply", "split it");
    this.#scope.count(node);
    const inner = (child: any): Value => this.value(child, depth + 1);
    const number = (child: any): Value => this.#typed(child, inner(child), "number");
    const truth = (child: any): Value => this.#typed(child, inner(child), "truth");
    switch (node.type) {
      case "ParenthesizedExpression":
        return inner(node.expression);
      case "Literal":
        if (typeof node.value === "boolean") return one("truth", { kind: "truth", value: node.value });
        if (typeof node.value !== "number") break;
        return one("number", { kind: "number", value: decimalOf(node, this.#fail) });
      case "Identifier":
        return this.#name(node);
      case "MemberExpression":
        return this.#member(node);
      case "UnaryExpression": {
        const { operator, argument } = node;
        if (!UNARY.has(operator)) break;
        // Minifiers write true and false so.
        if (operator === "!" && argument.type === "Literal" && (argument.value === 0 || argument.value === 1))
          return one("truth", { kind: "truth", value: argument.value === 0 });
        if (operator === "!") return broadcast("truth", [truth(argument)], ([of]) => ({ kind: "unary", operator, of }));
        const value = number(argument);
        return operator === "+" ? value : broadcast("number", [value], ([of]) => ({ kind: "unary", operator, of }));
      }
      case "BinaryExpression": {
        refuseChain(node, this.#fail);
        const { operator } = node;
        if (!BINARY.has(operator)) break;
        const type = COMPARISON.test(operator as string) ? "truth" : "number";
        const operands = [number(node.left), number(node.right)];
        return broadcast(type, operands, ([left, right]) => ({ kind: "binary", operator, left, right }));
      }
      case "LogicalExpression": {
        const { operator } = node;
        if (!LOGICAL.has(operator)) break;
        const operands = [truth(node.left), truth(node.right)];
        return broadcast("truth", operands, ([left, right]) => ({ kind: "binary", operator, left, right }));
      }
      case "ConditionalExpression": {
        const [test, yes] = [truth(node.test), inner(node.consequent)];
        const no = this.#typed(node.alternate, inner(node.alternate), yes.type);
        const position: number = node.test.start;
        return broadcast(yes.type, [test, yes, no], ([a, b, c]) => ({
          kind: "choice",
          test: a,
          yes: b,
          no: c,
          position,
        }));
      }
      case "CallExpression":
        return this.#call(node, number);
      default:
        break;
    }
    throw this.#scope.source.unexpected(node as Node, "use arithmetic, comparisons, a ? b : c and functions");
  }

  #typed(node: any, value: Value, type: Value["type"]): Value {
    this.check(node, value, type);
    return value;
  }

  #name(node: any): Value {
    const { name } = node;
    const known = this.#scope.named(name, node.start);
    if (known !== undefined) return known;
    if (Object.hasOwn(FORMULA_CONSTANTS, name))
      return one("number", { kind: "number", value: FORMULA_CONSTANTS[name] });
    if (name === "worst" || name === "best") return this.#rank(name === "best" ? 0 : this.#scope.letters.length - 1);
    if (this.#scope.assumes(name, "number")) return this.#scope.named(name, node.start)!;
    throw this.#scope.unknown(name, node.start);
  }

  #rank(place: number): Value {
    this.#scope.useInitial();
    return one("number", { kind: "rank", place });
  }

  /** A value of one underlying, or a state as a field of `state`. */
  #member(node: any): Value {
    const { object, property, computed } = node;
    if (object.name === "state" && !computed) {
      const state = this.#scope.state(property.name);
      if (state !== undefined) return state;
      throw this.#scope.unknown(property.name, property.start);
    }
    const whole = this.value(object);
    const asset = this.#scope.assetOf(node);
    if (whole.isEach) return { type: whole.type, isEach: false, parts: [whole.parts[asset]] };
    throw this.#fail(node.start, "this has no underlyings", "write an underlying after S, S0 or last, as in S.A");
  }

  #call(node: any, number: (child: any) => Value): Value {
    const { callee, arguments: args } = node;
    const name: string = callee.name ?? callee.property?.name ?? "";
    if (name === "rank") {
      const [place] = args;
      const count = this.#scope.letters.length;
      const k = args.length === 1 && place.type === "Literal" ? (place.value as unknown) : undefined;
      if (typeof k === "number" && Number.isInteger(k) && k >= 1 && k <= count) return this.#rank(k - 1);
      throw this.#fail(
        node.start,
        `rank takes a whole number from 1 to ${count}, the number of underlyings`,
        "write rank(1) for the best performance, rank(2) for the next",
      );
    }
    if (Object.hasOwn(REDUCTIONS, name) && args.length === 1) {
      const value = number(args[0]);
      if (value.isEach) return one("number", REDUCTIONS[name](value.parts));
      if (name === "sum" || name === "mean")
        throw this.#fail(node.start, `${name} is over underlyings, and this has one value`, `write ${name}(S / S0)`);
    }
    if (name === "sum" || name === "mean")
      throw this.#fail(node.start, `${name} takes one argument`, `write ${name}(S / S0)`);
    const called = calleeOf(node, {}, this.#fail);
    return broadcast("number", args.map(number), (parts) =>
      parts.length <= 2
        ? { kind: "call", callee: called, args: parts }
        : parts.reduce((a, b) => ({ kind: "call", callee: called, args: [a, b] })),
    );
  }
}

const one = (type: Value["type"], part: Expression): Value => ({ type, isEach: false, parts: [part] });

/** The value of an operation on values, underlying by underlying if one of them has one for each. */
function broadcast(
  type: Value["type"],
  values: readonly Value[],
  of: (parts: readonly Expression[]) => Expression,
): Value {
  const isEach = values.some((value) => value.isEach);
  const count = Math.max(...values.map(({ parts }) => parts.length));
  const parts = Array.from({ length: count }, (_, i) => of(values.map((value) => value.parts[value.isEach ? i : 0])));
  return { type, isEach, parts };
}
