import { fn, i32, type KernelFunction } from "../../../kernel/index.ts";
import { stateParams } from "../functions.ts";
import type { EquationVariant } from "./variant.ts";

/** Whether node i has a value of its own, by a Dirichlet boundary or a knock-out in force, and which, at time t. */
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
      ...(region === undefined ? {} : { region }),
    },
    body([i, lastNode, t, S, parameters, pitch, lane, mask], _gpu, env: any) {
      let pinned = false;
      let value = 0.0;
      if (env.regions) {
        const out = env.region(t, S, parameters, pitch, lane, mask);
        pinned = out.inside;
        value = out.value;
      }
      if (env.firstPinned && i === 0) {
        pinned = true;
        value = env.firstValue(t, S, parameters, pitch, lane);
      }
      if (env.lastPinned && i === lastNode) {
        pinned = true;
        value = env.lastValue(t, S, parameters, pitch, lane);
      }
      return { pinned, value };
    },
  });
}
