import { fn, i32, type KernelFunction } from "../../kernel/index.ts";
import { stateParams } from "../problem/functions.ts";
import type { EquationVariant } from "../execute/item/equation-variant.ts";

/** Whether node i has a value of its own at time t, by a Dirichlet boundary or a knock-out in force. */
export function isPinned({ first, last, region }: EquationVariant): KernelFunction<any, any> {
  return fn({
    name: "isPinned",
    params: [i32, i32, ...stateParams, i32],
    env: {
      firstPinned: first.kind === "dirichlet",
      lastPinned: last.kind === "dirichlet",
      regions: region !== undefined,
      ...(region === undefined ? {} : { inside: region.inside }),
    },
    body([i, lastNode, t, S, parameters, pitch, instance, mask], _gpu, env: any) {
      let pinned = (env.firstPinned && i === 0) || (env.lastPinned && i === lastNode);
      if (env.regions) pinned = pinned || env.inside(t, S, parameters, pitch, instance, mask);
      return pinned;
    },
  });
}

/**
 * The value of a pinned node. A function of its own: the user's code for it is then in a kernel once, which halves
 * compilation.
 */
export function pinnedValue({ first, last, region }: EquationVariant): KernelFunction<any, any> {
  const [firstPinned, lastPinned] = [first.kind === "dirichlet", last.kind === "dirichlet"];
  return fn({
    name: "pinnedValue",
    params: [i32, i32, ...stateParams, i32],
    env: {
      firstPinned,
      lastPinned,
      regions: region !== undefined,
      ...(firstPinned ? { firstValue: first.number! } : {}),
      ...(lastPinned ? { lastValue: last.number! } : {}),
      ...(region === undefined ? {} : { regionValue: region.value }),
    },
    body([i, lastNode, t, S, parameters, pitch, instance, mask], _gpu, env: any) {
      let value = 0.0;
      if (env.regions) value = env.regionValue(t, S, parameters, pitch, instance, mask);
      if (env.firstPinned && i === 0) value = env.firstValue(t, S, parameters, pitch, instance);
      if (env.lastPinned && i === lastNode) value = env.lastValue(t, S, parameters, pitch, instance);
      return value;
    },
  });
}
