/** Parses expressions of the common subset of JavaScript; see `parse.ts`. */
import type { Expression, Identifier } from "acorn";
import { type Tokens, Unread } from "./tokens.ts";

/** The operators by precedence. `**` is right-associative. */
const PRECEDENCE: Readonly<Record<string, number>> = {
  "||": 1,
  "&&": 2,
  "|": 3,
  "^": 4,
  "&": 5,
  "==": 6,
  "!=": 6,
  "===": 6,
  "!==": 6,
  "<": 7,
  ">": 7,
  "<=": 7,
  ">=": 7,
  "<<": 8,
  ">>": 8,
  ">>>": 8,
  "+": 9,
  "-": 9,
  "*": 10,
  "/": 10,
  "%": 10,
  "**": 11,
};

const ASSIGNMENTS = new Set("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= ||= &&=".split(" "));

/**
 * Parses an expression at the current token. With `single`, it ends before the next comma. `generator` is true inside a
 * generator function, where `yield` is an operator.
 */
export function parseExpression(t: Tokens, generator: boolean, single = false): Expression {
  const { start } = t;
  const first = new Reader(t, generator).assignment();
  if (single || t.kind !== ",") return first;
  const expressions = [first];
  while (t.take(",")) expressions.push(new Reader(t, generator).assignment());
  return { type: "SequenceExpression", start, expressions } as unknown as Expression;
}

class Reader {
  private readonly t: Tokens;
  private readonly generator: boolean;

  constructor(t: Tokens, generator: boolean) {
    this.t = t;
    this.generator = generator;
  }

  assignment(): Expression {
    const { t } = this;
    const { start } = t;
    if (t.kind === "yield") return this.yielded();
    const left = this.conditional();
    const operator = t.kind;
    if (!ASSIGNMENTS.has(operator)) return left;
    if (left.type !== "Identifier" && left.type !== "MemberExpression") throw new Unread();
    t.next();
    return node({ type: "AssignmentExpression", start, operator, left, right: this.assignment() });
  }

  private yielded(): Expression {
    const { t } = this;
    const { start } = t;
    t.next();
    // `yield` ends at a line's end: what follows cannot begin with a star.
    if (!this.generator || (t.kind === "*" && t.onNewLine)) throw new Unread();
    const delegate = t.take("*");
    const ends = [";", ")", "]", "}", ",", ":"].includes(t.kind) || t.onNewLine;
    if (delegate && ends) throw new Unread();
    return node({ type: "YieldExpression", start, delegate, argument: ends ? null : this.assignment() });
  }

  private conditional(): Expression {
    const { t } = this;
    const { start } = t;
    const test = this.binary(this.unary(), start, 0);
    if (!t.take("?")) return test;
    const consequent = this.assignment();
    t.expect(":");
    return node({ type: "ConditionalExpression", start, test, consequent, alternate: this.assignment() });
  }

  /** `left` and what follows it as long as that binds more tightly than `least`. */
  private binary(left: Expression, start: number, least: number): Expression {
    const { t } = this;
    const operator = t.kind;
    const precedence = PRECEDENCE[operator] ?? 0;
    if (precedence <= least) return left;
    const isPower = operator === "**";
    if (isPower && left.type === "UnaryExpression") throw new Unread(); // (−a) ** b, or an error: acorn knows
    t.next();
    const at = t.start;
    const right = this.binary(this.unary(), at, isPower ? precedence - 1 : precedence);
    const type = precedence <= 2 ? "LogicalExpression" : "BinaryExpression";
    return this.binary(node({ type, start, left, operator, right }), start, least);
  }

  private unary(): Expression {
    const { t } = this;
    const { start, kind: operator } = t;
    switch (operator) {
      case "-":
      case "+":
      case "!":
      case "~":
      case "void":
        t.next();
        return node({ type: "UnaryExpression", start, operator, prefix: true, argument: this.unary() });
      case "++":
      case "--":
        t.next();
        return node({ type: "UpdateExpression", start, operator, prefix: true, argument: target(this.unary()) });
      default: {
        const operand = this.postfix(this.primary(), start);
        const isUpdate = (t.kind === "++" || t.kind === "--") && !t.onNewLine;
        if (!isUpdate) return operand;
        const step = t.kind;
        t.next();
        return node({ type: "UpdateExpression", start, operator: step, prefix: false, argument: target(operand) });
      }
    }
  }

  /** Members, elements and calls. */
  private postfix(object: Expression, start: number): Expression {
    const { t } = this;
    if (t.take(".")) {
      const at = t.start;
      const member = identifier(at, t.name());
      return this.postfix(
        node({ type: "MemberExpression", start, object, property: member, computed: false, optional: false }),
        start,
      );
    }
    if (t.take("[")) {
      const index = parseExpression(t, this.generator);
      t.expect("]");
      return this.postfix(
        node({ type: "MemberExpression", start, object, property: index, computed: true, optional: false }),
        start,
      );
    }
    if (!t.take("(")) return object;
    const args: Expression[] = [];
    while (!t.take(")")) {
      args.push(this.assignment());
      if (t.kind !== ")") t.expect(",");
    }
    return this.postfix(
      node({ type: "CallExpression", start, callee: object, arguments: args, optional: false }),
      start,
    );
  }

  private primary(): Expression {
    const { t } = this;
    const { start, kind, token } = t;
    switch (kind) {
      case "name":
        t.next();
        if (t.kind === "=>") throw new Unread();
        return identifier(start, token);
      case "number":
        t.next();
        return node({ type: "Literal", start, value: Number(token) });
      case "string":
        t.next();
        return node({ type: "Literal", start, value: token.slice(1, -1) });
      case "true":
      case "false":
        t.next();
        return node({ type: "Literal", start, value: kind === "true" });
      case "(": {
        t.next();
        const inner = parseExpression(t, this.generator);
        t.expect(")");
        if (t.kind === "=>") throw new Unread();
        return inner;
      }
      case "{":
        return this.object();
      default:
        throw new Unread();
    }
  }

  private object(): Expression {
    const { t } = this;
    const { start } = t;
    t.next();
    const properties: unknown[] = [];
    while (!t.take("}")) {
      const at = t.start;
      const key = t.name();
      const shorthand = !t.take(":");
      properties.push(property(at, key, shorthand ? identifier(at, key) : this.assignment(), shorthand));
      if (t.kind !== "}") t.expect(",");
    }
    return node({ type: "ObjectExpression", start, properties });
  }
}

function target(argument: Expression): Expression {
  if (argument.type !== "Identifier" && argument.type !== "MemberExpression") throw new Unread();
  return argument;
}

function node(fields: object): Expression {
  return fields as Expression;
}

/** Returns a syntax node for an identifier. */
export function identifier(start: number, name: string): Identifier {
  return { type: "Identifier", start, name } as Identifier;
}

/** Returns a syntax node for a property of an object literal or of an object pattern. */
export function property(start: number, key: string, value: unknown, shorthand: boolean): unknown {
  const named = identifier(start, key);
  return { type: "Property", start, method: false, shorthand, computed: false, key: named, value, kind: "init" };
}
