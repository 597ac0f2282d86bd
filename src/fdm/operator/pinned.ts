import { fn, i32 } from "../../kernel/index.ts";
import type { EquationVariant } from "./equation-variant.ts";
import { AxesState } from "./state.ts";

/** Node i of 0 … `last`, with a bit of `mask` for each knock-out in force. */
const atNode = { i: i32, last: i32, state: AxesState, mask: i32 };

/** Tells whether node i has a value of its own at time t, by a Dirichlet boundary or a knock-out in force. */
export function isPinned({ first, last, region }: EquationVariant) {
  return fn({
    name: "isPinned",
    params: atNode,
    env: {
      firstPinned: first.kind === "dirichlet",
      lastPinned: last.kind === "dirichlet",
      inside: region?.inside,
    },
    body({ i, last, state, mask }, _gpu, env) {
      let pinned = (env.firstPinned && i === 0) || (env.lastPinned && i === last);
      if (env.inside !== undefined) pinned = pinned || env.inside({ state, mask });
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
    params: atNode,
    env: {
      firstValue: first.kind === "dirichlet" ? first.number : undefined,
      lastValue: last.kind === "dirichlet" ? last.number : undefined,
      regionValue: region?.value,
    },
    body({ i, last, state, mask }, _gpu, env) {
      let value = 0.0;
      if (env.regionValue !== undefined) value = env.regionValue({ state, mask });
      if (env.firstValue !== undefined && i === 0) value = env.firstValue(state);
      if (env.lastValue !== undefined && i === last) value = env.lastValue(state);
      return value;
    },
  });
}
