import type { ScriptInput } from "../input.ts";

/**
 * The script of a note with the best entry: a share of the notional, and a share of the rise since the lowest of the
 * entries, up to a cap.
 *
 * Data: notional, protection, participation, cap, entries, lowest (the lowest entry so far, or 1e9), maturity.
 */
export const bestEntry: ScriptInput = {
  state: { entry: "lowest" },
  events: [
    { on: "entries", do: "entry = min(entry, S)" },
    { on: "maturity", do: "pay(notional * (protection + participation * min(max(S / entry - 1, 0), cap)))" },
  ],
};
