import type { ScriptInput } from "../input.ts";

/**
 * The script of a cliquet: the sum of the returns from reset to reset, each between a floor and a cap, and itself
 * between a floor and a cap.
 *
 * Data: notional, resets, localFloor, localCap, globalFloor, globalCap, maturity.
 */
export const cliquet: ScriptInput = {
  state: { total: 0 },
  events: [
    { on: "resets", do: "total += max(localFloor, min(S / last - 1, localCap)); last = S" },
    { on: "maturity", do: "pay(notional * max(globalFloor, min(total, globalCap)))" },
  ],
};
