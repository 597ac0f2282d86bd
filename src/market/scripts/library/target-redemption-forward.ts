import type { ScriptInput } from "../input.ts";

/**
 * The script of a target redemption forward. Each fixing pays its gain over the strike, and ends the trade when all
 * gains reach the target; of the last one what is missing (lastGain 1), all of it (2) or nothing (0) is paid. A fixing
 * below lossLevel pays the loss, times leverage; losses do not reduce the gains.
 *
 * Data: notional (in the foreign currency, of each fixing), strike, leverage, lossLevel, target, gained (so far),
 * lastGain (0, 1 or 2), fixings.
 */
export const targetRedemptionForward: ScriptInput = {
  state: { gains: "gained" },
  events: [
    {
      on: "fixings",
      do: `
        const gain = S - strike
        if (gain >= 0) {
          if (gains + gain >= target) {
            pay(notional * (lastGain > 1.5 ? gain : lastGain > 0.5 ? target - gains : 0))
            stop()
          }
          pay(notional * gain)
          gains += gain
        } else if (S < lossLevel) pay(notional * leverage * gain)`,
    },
  ],
};
