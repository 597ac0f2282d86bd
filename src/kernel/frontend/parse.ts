/**
 * Parses the text of a function that uses only the statements and expressions of the kernel language. The syntax trees
 * have acorn's form. For any other text there is no tree; acorn then parses it, or says what is wrong with it. Kernels
 * are compiled while the user waits, by code that runs for the first time, and acorn has much more of it.
 */
import type { BlockStatement, Expression, Node, Pattern, Property, VariableDeclaration } from "acorn";
import { identifier, parseExpression, property } from "./parse-expressions.ts";
import { Tokens, Unread } from "./tokens.ts";

/**
 * Parses the text of a function that uses only the most common JavaScript syntax. Returns null for any other text,
 * which acorn then parses.
 */
export function parsePlain(text: string): FunctionSyntax | null {
  try {
    const t = new Tokens(text);
    const syntax = functionSyntax(t);
    return t.kind === "end" ? syntax : null;
  } catch (error) {
    // A stack that is full is acorn's to report.
    if (error instanceof Unread || error instanceof RangeError) return null;
    throw error;
  }
}

/** Parses `(…) => …`, `function (…) { … }` or `name(…) { … }`. The last two may be generators. */
function functionSyntax(t: Tokens): FunctionSyntax {
  const isFunction = t.take("function");
  const generator = t.take("*");
  const named = t.kind === "name";
  if (named) t.next();
  if (generator && !named && !isFunction) throw new Unread();
  const params = parameters(t);
  const isArrow = !named && !isFunction && !generator;
  if (isArrow) {
    t.expect("=>");
    if (t.kind !== "{") return { params, body: parseExpression(t, false), generator };
  }
  const names = new Set<string>();
  for (const param of params) declare(param, names);
  return { params, body: block(t, { generator, loops: 0 }, names), generator };
}

function parameters(t: Tokens): Pattern[] {
  const params: Pattern[] = [];
  t.expect("(");
  while (!t.take(")")) {
    params.push(pattern(t));
    if (t.kind !== ")") t.expect(",");
  }
  return params;
}

/** Parses a name, `{ a, b: c }` or `[a, b]`, without default values. */
function pattern(t: Tokens): Pattern {
  const { start } = t;
  if (t.take("[")) {
    const elements: (Pattern | null)[] = [];
    while (!t.take("]")) {
      elements.push(t.kind === "," ? null : pattern(t));
      if (t.kind !== "]") t.expect(",");
    }
    return { type: "ArrayPattern", start, elements } as unknown as Pattern;
  }
  if (!t.take("{")) return identifier(start, t.name());
  const properties: unknown[] = [];
  while (!t.take("}")) {
    const at = t.start;
    const key = t.name();
    const shorthand = !t.take(":");
    const value = shorthand ? identifier(at, key) : pattern(t);
    properties.push(property(at, key, value, shorthand));
    if (t.kind !== "}") t.expect(",");
  }
  return { type: "ObjectPattern", start, properties } as unknown as Pattern;
}

interface Inside {
  readonly generator: boolean;
  /** Loops around, which `break` and `continue` may leave. */
  readonly loops: number;
}

/** `names`: declared in the block already, by the function's arguments. */
function block(t: Tokens, inside: Inside, names = new Set<string>()): BlockStatement {
  const { start } = t;
  t.expect("{");
  const body: Node[] = [];
  while (!t.take("}")) {
    const node = statement(t, inside);
    if (node.type === "VariableDeclaration") declareAll(node as VariableDeclaration, names);
    body.push(node);
  }
  return { type: "BlockStatement", start, body } as unknown as BlockStatement;
}

function declareAll({ declarations: list }: VariableDeclaration, names: Set<string>): void {
  for (const { id } of list) declare(id, names);
}

/** Adds the names of a declaration. A name that is declared twice is an error, which acorn reports. */
function declare(target: Pattern, names: Set<string>): void {
  if (target.type === "Identifier") {
    if (names.has(target.name)) throw new Unread();
    names.add(target.name);
  } else if (target.type === "ArrayPattern") {
    for (const element of target.elements) if (element !== null) declare(element, names);
  } else if (target.type === "ObjectPattern") {
    for (const { value } of target.properties as Property[]) declare(value as unknown as Pattern, names);
  }
}

function statement(t: Tokens, inside: Inside): Node {
  const { start, kind } = t;
  const node = (type: string, rest: object): Node => ({ type, start, ...rest }) as unknown as Node;
  switch (kind) {
    case "{":
      return block(t, inside);
    case "const":
    case "let": {
      const declaration = declarations(t, inside);
      t.semicolon();
      return declaration;
    }
    case "if": {
      t.next();
      const test = parenthesised(t, inside);
      const consequent = guarded(t, inside);
      return node("IfStatement", { test, consequent, alternate: t.take("else") ? guarded(t, inside) : null });
    }
    case "for":
      return forStatement(t, inside);
    case "while": {
      t.next();
      const test = parenthesised(t, inside);
      return node("WhileStatement", { test, body: loopBody(t, inside) });
    }
    case "do": {
      t.next();
      const body = loopBody(t, inside);
      t.expect("while");
      const test = parenthesised(t, inside);
      t.take(";");
      return node("DoWhileStatement", { body, test });
    }
    case "return": {
      t.next();
      const ends = t.kind === ";" || t.kind === "}" || t.onNewLine;
      const argument = ends ? null : parseExpression(t, inside.generator);
      t.semicolon();
      return node("ReturnStatement", { argument });
    }
    case "break":
    case "continue":
      t.next();
      if (inside.loops === 0) throw new Unread();
      t.semicolon();
      return node(kind === "break" ? "BreakStatement" : "ContinueStatement", { label: null });
    case ";":
      t.next();
      return node("EmptyStatement", {});
    default: {
      const expression = parseExpression(t, inside.generator);
      if (expression.type === "Literal") throw new Unread(); // perhaps a directive
      t.semicolon();
      return node("ExpressionStatement", { expression });
    }
  }
}

function parenthesised(t: Tokens, inside: Inside): Expression {
  t.expect("(");
  const expression = parseExpression(t, inside.generator);
  t.expect(")");
  return expression;
}

function loopBody(t: Tokens, inside: Inside): Node {
  return guarded(t, { ...inside, loops: inside.loops + 1 });
}

/** Parses the statement that an `if` or a loop controls, which may not be a declaration. */
function guarded(t: Tokens, inside: Inside): Node {
  if (t.kind === "const" || t.kind === "let") throw new Unread();
  return statement(t, inside);
}

const isOf = ({ kind, token }: Tokens): boolean => kind === "name" && token === "of";

/** Parses declarations, without the semicolon. `inHead`: in a loop's head, where `of` may stand in place of a value. */
function declarations(t: Tokens, inside: Inside, inHead = false): Node {
  const { start, kind } = t;
  t.next();
  const list: unknown[] = [];
  do {
    const at = t.start;
    const id = pattern(t);
    const init = t.take("=") ? parseExpression(t, inside.generator, true) : null;
    list.push({ type: "VariableDeclarator", start: at, id, init });
    if (inHead && init === null && list.length === 1 && isOf(t)) break;
    if (init === null && (kind === "const" || id.type !== "Identifier")) throw new Unread();
  } while (t.take(","));
  return { type: "VariableDeclaration", start, declarations: list, kind } as unknown as Node;
}

function forStatement(t: Tokens, inside: Inside): Node {
  const { start } = t;
  t.next();
  t.expect("(");
  const declared = t.kind === "const" || t.kind === "let";
  const init = t.kind === ";" ? null : declared ? declarations(t, inside, true) : parseExpression(t, inside.generator);
  if (declared) declareAll(init as VariableDeclaration, new Set());
  if (declared && isOf(t)) {
    t.next();
    const right = parseExpression(t, inside.generator);
    t.expect(")");
    return {
      type: "ForOfStatement",
      start,
      await: false,
      left: init,
      right,
      body: loopBody(t, inside),
    } as unknown as Node;
  }
  t.expect(";");
  const test = t.kind === ";" ? null : parseExpression(t, inside.generator);
  t.expect(";");
  const update = t.kind === ")" ? null : parseExpression(t, inside.generator);
  t.expect(")");
  return { type: "ForStatement", start, init, test, update, body: loopBody(t, inside) } as unknown as Node;
}

/** The syntax tree of a function: its parameters and body. */
export interface FunctionSyntax {
  readonly params: readonly Pattern[];
  /** The body: an expression for `() => e`, otherwise a block. */
  readonly body: Expression | BlockStatement;
  readonly generator: boolean;
}
