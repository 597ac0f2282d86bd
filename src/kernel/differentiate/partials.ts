/** The partial derivatives of calls of functions that have derivatives of their own. */
import type { Value } from "../frontend/context.ts";
import type { Draft, DraftStatement } from "../frontend/draft.ts";
import { scalarOf } from "../frontend/expressions.ts";
import { inlineValues } from "../frontend/inline.ts";
import { REAL } from "../frontend/types.ts";
import { isTuple } from "../language.ts";
import type { ExpressionBuilder } from "./algebra.ts";

/**
 * Evaluates the partial derivatives of a call with respect to its active arguments.
 * @param active which of the arguments depend on the inputs
 */
export function partialsOf(
  make: ExpressionBuilder,
  call: Extract<DraftStatement, { kind: "call" }>,
  active: readonly boolean[],
  out: DraftStatement[],
): readonly (Draft | undefined)[] {
  const { ctx, node } = make;
  const { params, functionName } = call.fn;
  const names = Object.keys(params);
  const args: readonly Value[] = [...call.args, make.local(call.result)].map((draft) => ({ kind: "scalar", draft }));
  const passed: readonly Value[] = isTuple(params)
    ? args
    : [{ kind: "record", fields: new Map([...names, "result"].map((name, k) => [name, args[k]])) }];
  return active.map((isActive, k) => {
    if (!isActive) return undefined;
    const partial = call.derivative[k];
    if (partial === undefined)
      throw ctx.fail(
        node,
        `${functionName} has no derivative with respect to its parameter ${names[k]}`,
        `name one in \`derivative\` of ${functionName}`,
      );
    const slope = scalarOf(ctx, node, inlineValues(ctx, node, partial, passed, out));
    return make.keep(ctx.require(node, slope, REAL), out, "partial");
  });
}
