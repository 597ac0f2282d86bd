/** What the cases of test/fixtures/reference say of barriers, as parts of trades. */
import type { Barrier, BarrierType } from "../../src/book/index.ts";
import { type Case, type Parts, vanilla } from "./reference.ts";

/** A barrier with everything that it leaves out filled in. */
export function barrier(parts: Partial<Barrier> & Pick<Barrier, "type" | "level" | "to">): Barrier {
  const rebateAt = parts.type.endsWith("-in") ? "expiry" : "hit";
  return { rebate: 0, rebateAt, monitoring: { kind: "continuous" }, from: 0, ...parts };
}

export const isTouch = ({ product }: Case): boolean => product.includes("touch");

export function barrierParts(c: Case): Parts {
  if (isTouch(c)) return touch(c);
  const { barrier: level, lower, upper, rebate = 0, maturity: to } = c.params;
  if (lower === undefined) {
    const type = c.product.replace("barrier_", "").replace("_", "-and-") as BarrierType;
    return { payoff: vanilla(c), barriers: [barrier({ type, level, to, rebate })] };
  }
  const end = c.product.endsWith("in") ? "in" : "out";
  const both = [
    barrier({ type: `down-and-${end}`, level: lower, to }),
    barrier({ type: `up-and-${end}`, level: upper, to }),
  ];
  return { payoff: vanilla(c), barriers: both };
}

/** A one-touch is a knock-out of nothing with a rebate, a no-touch one of the cash. */
function touch({ product, params }: Case): Parts {
  const { spot, barrier: level, cash, maturity: to } = params;
  const type = spot < level ? "up-and-out" : "down-and-out";
  const [paid, rebate] = product === "no_touch" ? [cash, 0] : [0, cash];
  const rebateAt = product.endsWith("expiry") ? "expiry" : "hit";
  return {
    payoff: { kind: "expression", expression: `${paid}`, kinks: [] },
    barriers: [barrier({ type, level, to, rebate, rebateAt })],
  };
}

/** One trade, or two whose sum it is. */
export function windowParts(c: Case): Parts[] {
  const { barrier: level, maturity, window_start: from = 0, window_end: to = maturity, n_monitoring: n } = c.params;
  const types: BarrierType[] = c.product.includes("down") ? ["down-and-out"] : ["up-and-out"];
  // A call that ends above the barrier is never alive below it.
  if (c.params["both_sides"] === true && c.params["strike"] < level) types.push("up-and-out");
  const monitoring: Barrier["monitoring"] =
    n === undefined
      ? { kind: "continuous" }
      : { kind: "discrete", times: Array.from({ length: n }, (_, i) => ((i + 1) * maturity) / n) };
  return types.map((type) => ({ payoff: vanilla(c), barriers: [barrier({ type, level, from, to, monitoring })] }));
}
