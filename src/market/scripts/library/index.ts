/** The scripts that books find by name without having them. */
import type { ScriptInput } from "../input.ts";
import { accumulator } from "./accumulator.ts";
import { autocallable } from "./autocallable.ts";
import { cliquet } from "./cliquet.ts";
import { phoenix } from "./phoenix.ts";
import { reverseConvertible } from "./reverse-convertible.ts";
import { targetRedemptionForward } from "./target-redemption-forward.ts";
import { varianceSwap } from "./variance-swap.ts";

/** The library of scripts by name. */
export const library: Readonly<Record<string, ScriptInput>> = {
  autocallable,
  phoenix,
  cliquet,
  accumulator,
  targetRedemptionForward,
  reverseConvertible,
  varianceSwap,
};
