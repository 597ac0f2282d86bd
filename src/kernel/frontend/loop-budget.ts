/**
 * Ensures that the loops of users' functions end. Each iteration is counted, and a call that has made too many leaves
 * its loops.
 */
import type { Node } from "acorn";
import { boolType, type Context, i32Type, isUserWritten } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";

/**
 * The largest number of iterations of nested loops with constant bounds that are not counted against the loop budget.
 */
export const UNCOUNTED_ITERATIONS = 4096;

/**
 * Returns the statements at the beginning of a loop's body that count its iterations and leave the loop when the budget
 * is spent. The list is empty if the loop is not counted. `number` is the number of the loop among the counted ones:
 *
 *   if (roundsLeft <= 0) { endlessLoop = endlessLoop === 0 ? number : endlessLoop; break; }
 *   roundsLeft = roundsLeft - 1;
 */
export function countIteration(ctx: Context, node: Node): DraftStatement[] {
  if (ctx.endlessLoop === null || !isUserWritten(ctx.frame)) return [];
  ctx.frame.roundsLeft ??= ctx.newLocal("roundsLeft", i32Type());
  const left = ctx.frame.roundsLeft;
  const place = ctx.place(node);
  const int = (value: number): Draft => ctx.draft(node, i32Type(), { kind: "const", value });
  const first = isZero(ctx, node, ctx.endlessLoop);
  const number = int(ctx.countedLoops.push(place));
  const named = ctx.draft(node, i32Type(), {
    kind: "select",
    condition: first,
    a: number,
    b: ctx.local(node, ctx.endlessLoop),
  });
  const spent = ctx.draft(node, boolType(), { kind: "compare", op: "le", a: ctx.local(node, left), b: int(0) });
  const less = ctx.draft(node, i32Type(), { kind: "binary", op: "sub", a: ctx.local(node, left), b: int(1) });
  return [
    {
      kind: "if",
      condition: spent,
      then: [
        { kind: "assign", local: ctx.endlessLoop, value: named, place },
        { kind: "break", place },
      ],
      else: [],
      place,
    },
    { kind: "assign", local: left, value: less, place },
  ];
}

/**
 * Inserts the initialisation of a call's loop budget, if the loops of the called function are counted. The budget is
 * zero after an earlier call has exhausted its own.
 */
export function startLoopBudget(ctx: Context, node: Node): void {
  const { roundsLeft, out, start } = ctx.frame;
  if (roundsLeft === null || ctx.endlessLoop === null) return;
  const value = ctx.draft(node, i32Type(), {
    kind: "select",
    condition: isZero(ctx, node, ctx.endlessLoop),
    a: ctx.draft(node, i32Type(), { kind: "const", value: ctx.loopBudget as number }),
    b: ctx.draft(node, i32Type(), { kind: "const", value: 0 }),
  });
  out.splice(start, 0, { kind: "assign", local: roundsLeft, value, place: ctx.place(node) });
}

function isZero(ctx: Context, node: Node, local: number): Draft {
  const zero = ctx.draft(node, i32Type(), { kind: "const", value: 0 });
  return ctx.draft(node, boolType(), { kind: "compare", op: "eq", a: ctx.local(node, local), b: zero });
}
