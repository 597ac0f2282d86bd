/** The scripts that books find by name without having them. */
import type { ScriptInput } from "../input.ts";
import { accumulator } from "./accumulator.ts";
import { asianBarrier } from "./asian-barrier.ts";
import { autocallable } from "./autocallable.ts";
import { averageStrike } from "./average-strike.ts";
import { bestEntry } from "./best-entry.ts";
import { callableWorstOf } from "./callable-worst-of.ts";
import { cliquet } from "./cliquet.ts";
import { corridorVarianceSwap } from "./corridor-variance-swap.ts";
import { dualDigital } from "./dual-digital.ts";
import { forwardStart } from "./forward-start.ts";
import { himalaya } from "./himalaya.ts";
import { ladder } from "./ladder.ts";
import { napoleon } from "./napoleon.ts";
import { phoenix } from "./phoenix.ts";
import { rangeAccrual } from "./range-accrual.ts";
import { reverseCliquet } from "./reverse-cliquet.ts";
import { reverseConvertible } from "./reverse-convertible.ts";
import { sharkFin } from "./shark-fin.ts";
import { targetRedemptionForward } from "./target-redemption-forward.ts";
import { varianceSwap } from "./variance-swap.ts";
import { volatilitySwap } from "./volatility-swap.ts";

/** The library of scripts by name. */
export const library: Readonly<Record<string, ScriptInput>> = {
  autocallable,
  phoenix,
  cliquet,
  accumulator,
  targetRedemptionForward,
  reverseConvertible,
  varianceSwap,
  asianBarrier,
  averageStrike,
  bestEntry,
  callableWorstOf,
  corridorVarianceSwap,
  dualDigital,
  forwardStart,
  himalaya,
  ladder,
  napoleon,
  rangeAccrual,
  reverseCliquet,
  sharkFin,
  volatilitySwap,
};
