/** Lowers loops. Short ones with constant bounds are unrolled. */
import type { DoWhileStatement, ForOfStatement, ForStatement, Node, WhileStatement } from "acorn";

import { boolType, Scope, type Context } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { lowerCondition, MAX_BRANCH_DEPTH, negationOf } from "./conditions.ts";
import { lowerEffect, lowerValue } from "./expressions.ts";
import { collectAssigned, hasContinue, forEachChild, leavesLoop } from "./syntax.ts";
import { countIteration, UNCOUNTED_ITERATIONS } from "./loop-budget.ts";
import { NUMERIC, TypeVariable } from "./types.ts";
import { bindPattern } from "./bind.ts";
import { lowerDeclaration } from "./declarations.ts";

/**
 * The largest number of iterations of an unrolled loop. Unrolling pays while the loop's own work outweighs the cost of
 * compiling more code.
 */
const MAX_UNROLLED_TRIPS = 32;
const MAX_UNROLLED_SIZE = 2048;

/** Lowers a `for`, `while` or `do` loop. */
export function lowerLoop(
  ctx: Context,
  node: ForStatement | WhileStatement | DoWhileStatement,
  scope: Scope,
  out: DraftStatement[],
): void {
  if (node.type === "ForStatement") return lowerFor(ctx, node, scope, out);
  if (node.type === "WhileStatement") return emitLoop(ctx, node, [], node.test, node.body, [], scope, out);
  lowerDoWhile(ctx, node, scope, out);
}

function lowerFor(ctx: Context, node: ForStatement, scope: Scope, out: DraftStatement[]): void {
  const inner = new Scope(scope);
  if (unroll(ctx, node, inner, out)) return;
  const rounds = knownRounds(ctx, node, inner);
  const init: DraftStatement[] = [];
  if (node.init?.type === "VariableDeclaration") lowerDeclaration(ctx, node.init, inner, init);
  else if (node.init) lowerEffect(ctx, node.init, inner, init);
  const update: DraftStatement[] = [];
  if (node.update) lowerEffect(ctx, node.update, inner, update);
  emitLoop(ctx, node, init, node.test ?? null, node.body, update, inner, out, rounds);
}

/** Lowers `for (const axis of axes)`. Its body is repeated for each entry of `axes`, a compile-time list from `env`. */
export function lowerForOf(ctx: Context, node: ForOfStatement, scope: Scope, out: DraftStatement[]): void {
  const { left, right, body } = node;
  const list = lowerValue(ctx, right, scope, out);
  if (list.kind !== "tuple")
    throw ctx.fail(
      right,
      "for … of runs over a list of `env`",
      "over the elements of an array, write for (let i = 0; i < array.length; i++)",
    );
  if (leavesLoop(body))
    throw ctx.fail(
      node,
      "break, continue or return in a for … of loop, whose entries are known at compile time",
      "write if … else around what is not to run",
    );
  const declared = left.type === "VariableDeclaration" ? left.declarations[0] : null;
  if (declared === null) throw ctx.fail(left, "for … of declares its name", "write for (const entry of list)");
  ctx.repetitions *= Math.max(1, list.items.length);
  for (const item of list.items) {
    const iteration = new Scope(scope);
    bindPattern(ctx, declared.id, item, iteration, out);
    ctx.lowering.statements(ctx, [{ node: body, scope: iteration }], out);
  }
  ctx.repetitions /= Math.max(1, list.items.length);
}

/**
 * Returns the number of iterations of a loop with constant bounds, if it is small together with those of the enclosing
 * loops.
 */
function knownRounds(ctx: Context, node: ForStatement, scope: Scope): number | undefined {
  const rounds = countedLoop(ctx, node, scope, UNCOUNTED_ITERATIONS / ctx.knownRounds)?.values.length;
  return rounds === 0 ? 1 : rounds;
}

function emitLoop(
  ctx: Context,
  node: Node,
  init: DraftStatement[],
  testNode: Node | null,
  bodyNode: Node,
  update: DraftStatement[],
  scope: Scope,
  out: DraftStatement[],
  rounds?: number,
): void {
  const body: DraftStatement[] = rounds === undefined ? countIteration(ctx, node) : [];
  const counts = body.length;
  let test = testNode ? lowerCondition(ctx, testNode, scope, body) : null;
  if (test?.kind === "const" && test.value === true) test = null;
  if (test === null && !leavesLoop(bodyNode) && body.length === counts)
    throw ctx.fail(
      node,
      "this loop never ends",
      "give it a condition that comes to be false, or leave it by break or return",
    );
  if (test && body.length > counts) {
    // The test calls functions: it is evaluated in the body, and breaks.
    body.push(breakUnless(ctx, node, test));
    test = null;
  }
  ctx.knownRounds *= rounds ?? 1;
  lowerLoopBody(ctx, bodyNode, scope, body);
  ctx.knownRounds /= rounds ?? 1;
  out.push({ kind: "loop", init, test, body, update, rounds, place: ctx.place(node) });
}

function lowerLoopBody(ctx: Context, node: Node, scope: Scope, body: DraftStatement[]): void {
  const { frame } = ctx;
  frame.loopDepth++;
  ctx.nested(node, MAX_BRANCH_DEPTH, () => ctx.lowering.statements(ctx, [{ node, scope: new Scope(scope) }], body));
  frame.loopDepth--;
}

function breakUnless(ctx: Context, node: Node, test: Draft): DraftStatement {
  const place = ctx.place(node);
  return { kind: "if", condition: negationOf(ctx, node, test), then: [{ kind: "break", place }], else: [], place };
}

function lowerDoWhile(ctx: Context, node: DoWhileStatement, scope: Scope, out: DraftStatement[]): void {
  const place = ctx.place(node);
  const body: DraftStatement[] = countIteration(ctx, node);
  if (!hasContinue(node.body)) {
    lowerLoopBody(ctx, node.body, scope, body);
    const test = lowerCondition(ctx, node.test, scope, body);
    body.push(breakUnless(ctx, node, test));
    out.push({ kind: "loop", init: [], test: null, body, update: [], place });
    return;
  }
  // `continue` goes to the test, so the test comes first, skipped the first time.
  const again = ctx.newLocal("again", boolType());
  const init: DraftStatement[] = [{ kind: "assign", local: again, value: ctx.constant(node, false), place }];
  const check: DraftStatement[] = [];
  const test = lowerCondition(ctx, node.test, scope, check);
  check.push(breakUnless(ctx, node, test));
  body.push({ kind: "if", condition: ctx.local(node, again), then: check, else: [], place });
  body.push({ kind: "assign", local: again, value: ctx.constant(node, true), place });
  lowerLoopBody(ctx, node.body, scope, body);
  out.push({ kind: "loop", init, test: null, body, update: [], place });
}

interface CountedLoop {
  readonly name: string;
  readonly values: readonly number[];
}

function unroll(ctx: Context, node: ForStatement, scope: Scope, out: DraftStatement[]): boolean {
  const counted = countedLoop(ctx, node, scope);
  if (!counted) return false;
  const { name, values } = counted;
  if (leavesLoop(node.body)) return false;
  if (ctx.repetitions * values.length * unrolledSize(ctx, node.body, scope) > MAX_UNROLLED_SIZE) return false;
  // One type for the counter, as if the loop were not unrolled: whether a kernel compiles must not depend on that.
  const type = new TypeVariable(NUMERIC);
  ctx.repetitions *= Math.max(1, values.length);
  for (const value of values) {
    const iteration = new Scope(scope);
    iteration.declare(name, { kind: "scalar", draft: ctx.draft(node, type, { kind: "const", value }) });
    ctx.lowering.statements(ctx, [{ node: node.body, scope: iteration }], out);
  }
  ctx.repetitions /= Math.max(1, values.length);
  return true;
}

/**
 * Returns the number of syntax nodes of a statement after the loops in it are unrolled. If nested loops are too large
 * as a whole, the inner loops are unrolled and the outer ones are not, because the inner loops index private arrays,
 * which stay in registers only with constant indexes.
 */
function unrolledSize(ctx: Context, node: Node, scope: Scope): number {
  const counted = node.type === "ForStatement" ? countedLoop(ctx, node as ForStatement, scope) : null;
  if (counted) return 1 + counted.values.length * unrolledSize(ctx, (node as ForStatement).body, scope);
  let size = 1;
  forEachChild(node, (child) => (size += unrolledSize(ctx, child, scope)));
  return size;
}

/** Recognises `for (let i = a; i < b; i += c)` with constants, where i is not assigned elsewhere. */
function countedLoop(ctx: Context, node: ForStatement, scope: Scope, most = MAX_UNROLLED_TRIPS): CountedLoop | null {
  if (node.init?.type !== "VariableDeclaration" || node.init.declarations.length !== 1 || node.init.kind === "var")
    return null;
  const { id, init } = node.init.declarations[0];
  if (id.type !== "Identifier" || !init || !node.test || !node.update) return null;
  const start = constantOf(ctx, init, scope);
  const step = stepOf(ctx, node.update, id.name, scope);
  if (start === null || step === null || step === 0) return null;
  const values = tripsOf(ctx, node.test, id.name, start, step, scope, most);
  if (values === null) return null;
  const assigned = new Set<string>();
  collectAssigned(node.body, assigned);
  return assigned.has(id.name) ? null : { name: id.name, values };
}

function constantOf(ctx: Context, node: Node, scope: Scope): number | null {
  if (!isPlain(node, scope)) return null;
  const scratch: DraftStatement[] = [];
  const value = lowerValue(ctx, node as any, scope, scratch);
  const constant =
    value.kind === "constant"
      ? value.value
      : value.kind === "scalar" && value.draft.kind === "const"
        ? value.draft.value
        : null;
  return typeof constant === "number" && Number.isInteger(constant) ? constant : null;
}

/** Tells whether an expression has no effects: it consists of known names, numbers, and arithmetic on them. */
function isPlain(node: any, scope: Scope): boolean {
  if (node.type === "Literal") return true;
  if (node.type === "Identifier") return scope.find(node.name) !== undefined;
  if (node.type === "UnaryExpression") return isPlain(node.argument, scope);
  if (node.type === "MemberExpression") return !node.computed && isPlain(node.object, scope);
  return node.type === "BinaryExpression" && isPlain(node.left, scope) && isPlain(node.right, scope);
}

function stepOf(ctx: Context, update: any, name: string, scope: Scope): number | null {
  const target = update.type === "UpdateExpression" ? update.argument : update.left;
  if (target?.type !== "Identifier" || target.name !== name) return null;
  if (update.type === "UpdateExpression") return update.operator === "++" ? 1 : -1;
  if (update.type !== "AssignmentExpression" || (update.operator !== "+=" && update.operator !== "-=")) return null;
  const by = constantOf(ctx, update.right, scope);
  return by === null ? null : update.operator === "+=" ? by : -by;
}

function tripsOf(
  ctx: Context,
  test: any,
  name: string,
  start: number,
  step: number,
  scope: Scope,
  most: number,
): number[] | null {
  if (test.type !== "BinaryExpression") return null;
  const mirrored = test.right.type === "Identifier" && test.right.name === name; // `n > i`, as minifiers write it
  const [variable, bound] = mirrored ? [test.right, test.left] : [test.left, test.right];
  if (variable.type !== "Identifier" || variable.name !== name) return null;
  const limit = constantOf(ctx, bound, scope);
  const operator: string = mirrored
    ? (({ "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as Record<string, string>)[test.operator] ?? test.operator)
    : test.operator;
  if (limit === null) return null;
  const goes = (
    {
      "<": (i: number) => i < limit,
      "<=": (i: number) => i <= limit,
      ">": (i: number) => i > limit,
      ">=": (i: number) => i >= limit,
    } as const
  )[operator as "<"];
  if (!goes) return null;
  const values: number[] = [];
  for (let i = start; goes(i); i += step) {
    if (values.length >= most) return null;
    values.push(i);
  }
  return values;
}
