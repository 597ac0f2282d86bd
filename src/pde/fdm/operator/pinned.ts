import { fn, i32, read, real } from "../../../kernel/index.ts";
import { Column } from "./column.ts";
import { type BoundaryCode, EquationState, type RegionCode, stateOnAxis } from "./state.ts";

/** The boundary conditions at the ends of each axis, and the knock-outs. */
interface Pins {
  readonly axes: readonly { readonly first: BoundaryCode; readonly last: BoundaryCode }[];
  readonly region: RegionCode | undefined;
}

/**
 * A node, with a bit of `mask` for each knock-out in force. `side` of each axis is −1 at its first node, 1 at its last
 * one, 0 between.
 */
const atNode = { state: EquationState, side: read(i32), mask: i32 };

/**
 * Returns the function that tells whether the value of a node is prescribed at time t, by a Dirichlet condition or a
 * knock-out in force.
 */
export function isPinned({ axes, region }: Pins) {
  const ends = axes.map(({ first, last }, k) => ({
    k,
    first: first.kind === "dirichlet",
    last: last.kind === "dirichlet",
  }));
  return fn({
    name: "isPinned",
    params: atNode,
    env: { ends, inside: region?.inside },
    body({ state, side, mask }, _gpu, { ends, inside }) {
      let pinned = false;
      for (const { k, first, last } of ends) pinned = pinned || (first && side[k] < 0) || (last && side[k] > 0);
      if (inside !== undefined) pinned = pinned || inside({ state, mask });
      return pinned;
    },
  });
}

/**
 * Returns the function for the value of a pinned node. At a corner the first axis' condition applies. It is separate
 * from `isPinned` so that a kernel contains the user's code once, which halves the compilation time.
 */
export function pinnedValue({ axes, region }: Pins) {
  const valueOf = ({ kind, number }: BoundaryCode) => (kind === "dirichlet" ? number : undefined);
  const ends = axes.map(({ first, last }, k) => ({ k, first: valueOf(first), last: valueOf(last) })).toReversed();
  return fn({
    name: "pinnedValue",
    params: atNode,
    env: { ends, regionValue: region?.value },
    body({ state, side, mask }, _gpu, { ends, regionValue }) {
      let value = 0.0;
      if (regionValue !== undefined) value = regionValue({ state, mask });
      for (const { k, first, last } of ends) {
        if (first !== undefined && side[k] < 0) value = first(state);
        if (last !== undefined && side[k] > 0) value = last(state);
      }
      return value;
    },
  });
}

/**
 * The position of node i on the only axis in the form that `isPinned` takes: −1 for the first node, 1 for the `last`
 * one, 0 between.
 */
export const sideOnAxis = fn({
  name: "sideOnAxis",
  params: [i32, i32],
  body([i, last], gpu) {
    const side = gpu.privateI32(1);
    side[0] = i === 0 ? -1 : i === last ? 1 : 0;
    return side;
  },
});

/** Returns the function for whether node i of the only axis, at S, is pinned at time t, and for its value if so. */
export const pinnedOnAxis = (pins: Pins) =>
  fn({
    name: "pinnedOnAxis",
    params: { i: i32, nodes: i32, S: real, parameters: Column, mask: i32, t: real },
    env: { isPinned: isPinned(pins), pinnedValue: pinnedValue(pins), sideOnAxis, stateOnAxis },
    body({ i, nodes, S, parameters, mask, t }, _gpu, env) {
      const state = env.stateOnAxis({ t, at: S, parameters });
      const at = { state, side: env.sideOnAxis(i, nodes - 1), mask };
      const pinned = env.isPinned(at);
      let value = 0.0;
      if (pinned) value = env.pinnedValue(at);
      return { pinned, value };
    },
  });
