import { fn, i32 } from "../../kernel/index.ts";
import { stateParams } from "../problem/functions.ts";
import type { EquationVariant } from "./equation-variant.ts";

/** Whether node i has a value of its own at time t, by a Dirichlet boundary or a knock-out in force. */
export function isPinned({ first, last, region }: EquationVariant) {
  return fn({
    name: "isPinned",
    params: [i32, i32, ...stateParams, i32],
    env: {
      firstPinned: first.kind === "dirichlet",
      lastPinned: last.kind === "dirichlet",
      inside: region?.inside,
    },
    body([i, lastNode, t, S, parameters, pitch, instance, mask], _gpu, env) {
      let pinned = (env.firstPinned && i === 0) || (env.lastPinned && i === lastNode);
      if (env.inside !== undefined) pinned = pinned || env.inside(t, S, parameters, pitch, instance, mask);
      return pinned;
    },
  });
}

/**
 * The value of a pinned node. A function of its own: the user's code for it is then in a kernel once, which halves
 * compilation.
 */
export function pinnedValue({ first, last, region }: EquationVariant) {
  return fn({
    name: "pinnedValue",
    params: [i32, i32, ...stateParams, i32],
    env: {
      firstValue: first.kind === "dirichlet" ? first.number : undefined,
      lastValue: last.kind === "dirichlet" ? last.number : undefined,
      regionValue: region?.value,
    },
    body([i, lastNode, t, S, parameters, pitch, instance, mask], _gpu, env) {
      let value = 0.0;
      if (env.regionValue !== undefined) value = env.regionValue(t, S, parameters, pitch, instance, mask);
      if (env.firstValue !== undefined && i === 0) value = env.firstValue(t, S, parameters, pitch, instance);
      if (env.lastValue !== undefined && i === lastNode) value = env.lastValue(t, S, parameters, pitch, instance);
      return value;
    },
  });
}
