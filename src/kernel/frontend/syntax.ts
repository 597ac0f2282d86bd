/** Questions about syntax trees that need no types: what is assigned, and what may return. */
import type { BlockStatement, Expression, ForOfStatement, Node, Pattern } from "acorn";

import { memoizeBy } from "../../base/memoize.ts";

/** The syntax tree of a function: its parameters and body. */
export interface FunctionSyntax {
  readonly params: readonly Pattern[];
  /** The body: an expression for `() => e`, otherwise a block. */
  readonly body: Expression | BlockStatement;
  readonly generator: boolean;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

/**
 * Calls `visit` for the children of a node until it returns true. It is called very often, because every statement is
 * asked whether it may return.
 */
function someChild(node: Node, visit: (child: Node) => boolean): boolean {
  for (const key in node) {
    const value = (node as unknown as Record<string, unknown>)[key];
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item) && visit(item)) return true;
    } else if (isNode(value) && visit(value)) return true;
  }
  return false;
}

/** Calls a function for each child of a syntax node. */
export function forEachChild(node: Node, visit: (child: Node) => void): void {
  someChild(node, (child) => {
    visit(child);
    return false;
  });
}

const isFunction = (node: Node): boolean => /Function/.test(node.type);

function some(node: Node, test: (node: Node) => boolean, descend: (node: Node) => boolean): boolean {
  return test(node) || someChild(node, (child) => descend(child) && some(child, test, descend));
}

/** Returns the text `name.`, which stands in a set of assigned names for the fields of the record `name`. */
export const fieldsMarker = (name: string): string => `${name}.`;

/**
 * Returns the names that a function assigns or increments after their declaration. For each record with assigned
 * fields, the set also contains the `fieldsMarker` of its name.
 */
export const assignedNames = memoizeBy((syntax: FunctionSyntax): ReadonlySet<string> => {
  const names = new Set<string>();
  collectAssigned(syntax.body, names);
  return names;
});

/** Adds to `names` the names that a node and the nodes inside it assign. */
export function collectAssigned(node: Node, names: Set<string>): void {
  const target = (node as { left?: Node; argument?: Node })[node.type === "UpdateExpression" ? "argument" : "left"];
  if (target !== undefined && (node.type === "AssignmentExpression" || node.type === "UpdateExpression"))
    addTarget(target as Expression, names);
  forEachChild(node, (child) => collectAssigned(child, names));
}

/**
 * Returns `assignedNames` without the names that are assigned only in blocks that redeclare them. Minifiers reuse the
 * names of parameters for inner variables.
 */
export const assignedParameters = memoizeBy((syntax: FunctionSyntax): ReadonlySet<string> => {
  const names = new Set<string>();
  const collect = (node: Node, hidden: ReadonlySet<string>): void => {
    const inner = new Set([...hidden, ...declaredIn(node)]);
    const own = new Set<string>();
    if (node.type === "AssignmentExpression") addTarget((node as unknown as { left: Expression }).left, own);
    if (node.type === "UpdateExpression") addTarget((node as unknown as { argument: Expression }).argument, own);
    for (const name of own) if (!inner.has(name.replace(/\.$/, ""))) names.add(name);
    forEachChild(node, (child) => collect(child, inner));
  };
  // What the body itself declares cannot have the name of a parameter.
  collect(syntax.body, new Set());
  return names;
});

/** Returns the names that a block, or the head of a loop, declares by let or const. */
function declaredIn(node: Node): string[] {
  const statements =
    node.type === "BlockStatement"
      ? (node as unknown as { body: Node[] }).body
      : node.type === "ForStatement"
        ? [(node as unknown as { init: Node | null }).init]
        : node.type === "ForOfStatement"
          ? [(node as ForOfStatement).left]
          : [];
  return statements.flatMap((statement) => {
    if (statement?.type !== "VariableDeclaration") return [];
    const { kind, declarations } = statement as unknown as { kind: string; declarations: { id: Node }[] };
    if (kind === "var") return [];
    return declarations.flatMap(({ id }) =>
      id.type === "Identifier" ? [(id as unknown as { name: string }).name] : [],
    );
  });
}

function addTarget(target: Expression, names: Set<string>): void {
  if (target.type === "Identifier") names.add(target.name);
  else if (target.type === "MemberExpression" && !target.computed && target.object.type === "Identifier")
    names.add(fieldsMarker(target.object.name));
}

/** Tells whether a statement may return from its function. */
export const mayReturn = (node: Node): boolean => !/^(Expression|VariableDeclar)/.test(node.type) && returns(node);

const returns = memoizeBy(
  (node: Node): boolean =>
    node.type === "ReturnStatement" || someChild(node, (child) => !isFunction(child) && mayReturn(child)),
);

/** Tells whether a statement always returns from its function. */
export function alwaysReturns(node: Node | null | undefined): boolean {
  if (!node) return false;
  if (node.type === "ReturnStatement") return true;
  if (node.type === "BlockStatement") return (node as unknown as { body: Node[] }).body.some(alwaysReturns);
  if (node.type !== "IfStatement") return false;
  const { consequent, alternate } = node as unknown as { consequent: Node; alternate: Node | null };
  return alwaysReturns(consequent) && alwaysReturns(alternate);
}

const isLoop = (node: Node): boolean => /^(For|ForOf|While|DoWhile)Statement$/.test(node.type);

/** Tells whether a loop's body has a `break` or `continue` of that loop, or a `return`. */
export function leavesLoop(body: Node): boolean {
  const leaves = (n: Node): boolean =>
    n.type === "BreakStatement" || n.type === "ContinueStatement" || n.type === "ReturnStatement";
  // Breaks of inner loops are theirs, but a return in one leaves this loop too.
  return some(body, leaves, (n) => !isFunction(n) && !isLoop(n)) || mayReturn(body);
}

/** Tells whether a loop's body has a `continue` of that loop. */
export function hasContinue(body: Node): boolean {
  return some(
    body,
    (n) => n.type === "ContinueStatement",
    (n) => !isFunction(n) && !isLoop(n),
  );
}

/** Returns an expression without its parentheses. */
export function withoutParentheses(node: Expression): Expression {
  return node.type === "ParenthesizedExpression" ? withoutParentheses(node.expression) : node;
}

/** Tells whether evaluating an expression may change a variable or memory. A call of a kernel function may do so. */
export function hasEffects(node: Node): boolean {
  const { callee } = node as { callee?: Node & { property?: { name?: string } } };
  if (/^(Assignment|Update|Yield)Expression$/.test(node.type)) return true;
  if (callee !== undefined && /^(atomic|$)/.test(callee.property?.name ?? "")) return true;
  return someChild(node, hasEffects);
}

/** The names of kinds of syntax nodes in error messages. Other kinds are named by their type. */
const WORDS: Readonly<Record<string, string>> = {
  ArrayExpression: "a list in brackets",
  ArrowFunctionExpression: "a function",
  AssignmentExpression: "an assignment",
  AwaitExpression: "await",
  ChainExpression: "?.",
  ClassDeclaration: "a class",
  ClassExpression: "a class",
  ForInStatement: "a for … in loop",
  ForOfStatement: "a for … of loop",
  FunctionExpression: "a function",
  ImportExpression: "import",
  LabeledStatement: "a label",
  LogicalExpression: "a logical operator",
  MetaProperty: "import.meta",
  NewExpression: "new",
  ObjectExpression: "an object in braces",
  SequenceExpression: "a comma between expressions",
  TaggedTemplateExpression: "a template string",
  TemplateLiteral: "a template string",
  ThisExpression: "this",
  ThrowStatement: "throw",
  TryStatement: "try",
  UpdateExpression: "a step by one",
};

/** Returns a description of a syntax node for messages, such as "a regular expression" or "a call of foo". */
export function describeNode(node: Node): string {
  const { operator, value, regex, bigint, callee, property, computed } = node as any;
  if (node.type === "Literal")
    return regex
      ? "a regular expression"
      : bigint
        ? "a big integer"
        : typeof value === "string"
          ? "a string"
          : `${value}`;
  if (node.type === "CallExpression") return callee.type === "Identifier" ? `a call of ${callee.name}` : "a call";
  if (node.type === "MemberExpression") return computed ? "an index in brackets" : `.${property.name}`;
  if (Object.hasOwn(WORDS, node.type)) return `${WORDS[node.type]}${operator === undefined ? "" : `, ${operator},`}`;
  if (operator !== undefined) return operator;
  const words = node.type.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return `${/^[aeiou]/.test(words) ? "an" : "a"} ${words}`;
}
