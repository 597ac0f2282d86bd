/** The statements of an event. */
import type { Node } from "acorn";
import { checkName } from "./names.ts";
import { ExpressionReader } from "./expressions.ts";
import type { EventScope, Value } from "./scope.ts";
import type { Expression, Statement } from "./tree.ts";

const ASSIGNMENTS: Readonly<Record<string, string>> = { "+=": "+", "-=": "-", "*=": "*", "/=": "/" };
const LOOP = "a loop is over underlyings and ends with them: for (x in S) { … S[x] … }";
const STATEMENTS = "write assignments, if (…) { … } else { … }, for (x in S) { … }, pay(…), stop()";
const MAX_DEPTH = 50;

/** Returns the statements of an event. @throws KernelError with the place of a mistake */
export function readStatements(scope: EventScope): readonly Statement[] {
  return scope.tolerant(undefined, () => new StatementReader(scope).list(scope.source.parse(), 0));
}

class StatementReader {
  readonly #scope: EventScope;
  readonly #expressions: ExpressionReader;

  constructor(scope: EventScope) {
    this.#scope = scope;
    this.#expressions = new ExpressionReader(scope);
  }

  list(nodes: readonly any[], depth: number): readonly Statement[] {
    return nodes.flatMap((node) => this.#scope.tolerant(node, () => this.#statement(node, depth)));
  }

  #block(node: any, depth: number): readonly Statement[] {
    return this.#scope.inBlock(() => this.list(node.type === "BlockStatement" ? node.body : [node], depth));
  }

  #statement(node: any, depth: number): readonly Statement[] {
    this.#scope.count(node);
    if (depth > MAX_DEPTH) throw this.#error(node, "the statements are nested too deeply", "split the event");
    switch (node.type) {
      case "EmptyStatement":
        return [];
      case "BlockStatement":
        return this.#block(node, depth + 1);
      case "ExpressionStatement":
        return this.#effect(node.expression, depth);
      case "VariableDeclaration":
        return node.declarations.flatMap((one: any) => this.#declaration(one, node.kind === "const"));
      case "IfStatement":
        return this.#choice(
          node.test,
          () => this.#block(node.consequent, depth + 1),
          () => (node.alternate === null ? [] : this.#block(node.alternate, depth + 1)),
        );
      case "ForInStatement":
        return this.#loop(node, depth);
      case "ForStatement":
      case "WhileStatement":
      case "DoWhileStatement":
      case "ForOfStatement":
        throw this.#scope.source.unexpected(node as Node, LOOP);
      default:
        throw this.#scope.source.unexpected(node as Node, STATEMENTS);
    }
  }

  #choice(test: any, yes: () => readonly Statement[], no: () => readonly Statement[]): readonly Statement[] {
    return [{ kind: "if", test: this.#expressions.truth(test), yes: yes(), no: no(), position: test.start }];
  }

  /** An expression that does something; conditions among them are what minifiers make of `if`. */
  #effect(node: any, depth: number): readonly Statement[] {
    switch (node.type) {
      case "ParenthesizedExpression":
        return this.#effect(node.expression, depth);
      case "SequenceExpression":
        return node.expressions.flatMap((one: any) => this.#effect(one, depth));
      case "LogicalExpression":
        if (node.operator === "??") break;
        return node.operator === "&&"
          ? this.#choice(
              node.left,
              () => this.#effect(node.right, depth),
              () => [],
            )
          : this.#choice(
              node.left,
              () => [],
              () => this.#effect(node.right, depth),
            );
      case "ConditionalExpression":
        return this.#choice(
          node.test,
          () => this.#effect(node.consequent, depth),
          () => this.#effect(node.alternate, depth),
        );
      case "AssignmentExpression":
        return this.#assignment(node);
      case "UpdateExpression": {
        const right = { type: "Literal", value: 1, raw: "1", start: node.start };
        return this.#assignment({ start: node.start, left: node.argument, right, operator: `${node.operator[0]}=` });
      }
      case "CallExpression":
        return this.#call(node);
      default:
        break;
    }
    throw this.#scope.source.unexpected(node as Node, STATEMENTS);
  }

  #declaration({ id, init, start }: any, isConstant: boolean): readonly Statement[] {
    if (id.type !== "Identifier") throw this.#error(id, "a value has one name", "write const x = …");
    if (init === null) throw this.#error(id, `${id.name} has no value`, `write const ${id.name} = …`);
    this.#checkName(id);
    const value = this.#expressions.value(init);
    const names = this.#scope.declare(id.name as string, value, isConstant, start as number);
    return names.map((name, k) => ({ kind: "local", name, value: value.parts[k], isNew: true }));
  }

  #checkName({ name, start }: any): void {
    try {
      checkName(name as string, "name");
    } catch (error) {
      throw this.#error({ start }, (error as Error).message, "choose another name");
    }
  }

  #assignment(node: any): readonly Statement[] {
    const { left, right, operator } = node;
    const target = this.#target(left);
    const { type } = target;
    const given = this.#expressions.value(operator === "=" ? right : this.#combined(node));
    this.#expressions.check(right, given, type);
    if (given.isEach && !target.isEach && given.parts.length > 1)
      throw this.#error(
        right,
        "this has one value for each underlying",
        "write sum(…), mean(…), min(…) or max(…) of it",
      );
    const values = target.parts.map((_, k) => given.parts[given.isEach ? k : 0]);
    // Several parts are assigned together: no part's new value is seen by another.
    const isPlain = values.length === 1 || values.every(({ kind }) => kind === "spot" || kind === "number");
    if (isPlain) return values.map((value, k) => this.#store(target.parts[k], value));
    const number = this.#scope.usage.locals++;
    const names = values.map((_, k) => `v${number}_${k}`);
    return [
      ...values.map((value, k): Statement => ({ kind: "local", name: names[k], value, isNew: true })),
      ...names.map((name, k) => this.#store(target.parts[k], { kind: "local", name, isTruth: type === "truth" })),
    ];
  }

  #combined({ left, right, operator, start }: any): any {
    if (Object.hasOwn(ASSIGNMENTS, operator))
      return { type: "BinaryExpression", operator: ASSIGNMENTS[operator], left, right, start };
    throw this.#error({ start }, `${operator} is not part of a script`, "write =, +=, -=, *= or /=");
  }

  #store(target: Expression, value: Expression): Statement {
    if (target.kind === "state") return { kind: "set", at: target.at, value };
    if (target.kind === "local") return { kind: "local", name: target.name, value, isNew: false };
    throw new Error(`a ${target.kind} is not assigned`);
  }

  /** What is on the left of an assignment. */
  #target(node: any): Value {
    let root = node;
    while (root.type === "MemberExpression" || root.type === "ParenthesizedExpression")
      root = root.type === "MemberExpression" ? root.object : root.expression;
    const name: string = root.name ?? "";
    const local = this.#scope.localOf(name);
    if (local?.isConstant === true) throw this.#error(node, `${name} is constant`, `declare it by let ${name} = …`);
    const isState = name === "last" || name === "state" || this.#scope.state(name) !== undefined;
    if (name !== "" && (local !== undefined || isState)) return this.#expressions.value(node);
    if (name === "S" || name === "S0" || this.#scope.names.data.has(name))
      throw this.#error(node, `${name} is given and cannot be assigned`, "assign a state, or last");
    throw this.#error(
      node,
      `${name === "" ? "this" : `${name} is unknown and`} cannot be assigned`,
      `add ${name || "a name"} to "state", or declare it by const ${name || "x"} = …`,
    );
  }

  #loop({ left, right, body, start }: any, depth: number): readonly Statement[] {
    const id = left.type === "VariableDeclaration" ? left.declarations[0].id : left;
    if (id.type !== "Identifier" || right.type !== "Identifier" || right.name !== "S")
      throw this.#error({ start }, "a loop is over underlyings", LOOP);
    this.#checkName(id);
    const { name } = id;
    if (this.#scope.isLoop(name as string) || this.#scope.localOf(name as string) !== undefined)
      throw this.#error(id, `${name} has a meaning already`, "choose another name");
    return this.#scope.letters.flatMap((_, asset) =>
      this.#scope.inLoop(name as string, asset, () => this.#block(body, depth + 1)),
    );
  }

  #call(node: any): readonly Statement[] {
    const { callee, arguments: args } = node;
    const { usage, event } = this.#scope;
    const number = (what: string): Expression => {
      if (args.length === 1) return this.#expressions.number(args[0]);
      throw this.#error(node, `${what} takes one argument, got ${args.length}`, `write ${what}(100)`);
    };
    switch (callee.name) {
      case "pay": {
        if (args.length < 1 || args.length > 2)
          throw this.#error(node, `pay takes an amount, got ${args.length} arguments`, "write pay(100)");
        const amount = this.#expressions.number(args[0]);
        const payment = this.#payment(args[1]);
        const rate = this.#scope.names.paid.find(({ currency }) => currency === payment.currency);
        const site = usage.sites.push({ event, ...payment, rate }) - 1;
        return [{ kind: "pay", site, amount }];
      }
      case "stop":
        if (args.length > 0) throw this.#error(node, "stop takes no arguments", "write stop()");
        usage.stops = true;
        return [{ kind: "stop" }];
      case "exercise":
      case "call": {
        const value = number(callee.name as string);
        usage.rights.push({ event, of: callee.name });
        return [{ kind: "right", of: callee.name, value }];
      }
      default:
        throw this.#error(node, `a call of ${callee.name ?? "a function"} is no statement`, STATEMENTS);
    }
  }

  /** The second argument of `pay`. */
  #payment(node: any): { readonly on: string | undefined; readonly currency: string | undefined } {
    let [on, currency]: (string | undefined)[] = [];
    const form = 'write pay(amount, { on: payDate }) or pay(amount, { currency: "EUR" })';
    if (node === undefined) return { on, currency };
    if (node.type !== "ObjectExpression") throw this.#scope.source.unexpected(node as Node, form);
    for (const field of node.properties) {
      const { key, value } = field;
      const name = key?.name ?? key?.value;
      const text: unknown = value === undefined ? undefined : textOf(value);
      if (field.type !== "Property" || field.computed || typeof text !== "string")
        throw this.#scope.source.unexpected(field as Node, form);
      if (name === "currency") currency = text;
      else if (name === "on") {
        if (!this.#scope.names.data.has(text) && !this.#scope.assumes(text, "date"))
          throw this.#scope.unknown(text, value.start as number);
        on = text;
      } else throw this.#error(field, `pay has no ${String(name)}`, form);
    }
    return { on, currency };
  }

  #error(node: { readonly start: number }, what: string, remedy: string): Error {
    return this.#scope.source.error(node.start, what, remedy);
  }
}

/** The name that a name, a text or a template without values stands for. */
function textOf({ type, value, name, quasis, expressions }: any): unknown {
  if (type === "TemplateLiteral") return expressions.length === 0 ? quasis[0].value.cooked : undefined;
  return type === "Literal" ? value : name;
}
