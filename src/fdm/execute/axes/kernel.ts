import type { Kernel } from "../../../kernel/index.ts";
import type { AxesVariant } from "../../operator/axes-variant.ts";
import { LOOP_BUDGET } from "../../problem/functions.ts";
import { sharing } from "../kernel-sharing.ts";
import { rollbackKernel } from "../rollback.ts";
import { advance } from "./advance.ts";
import { begin } from "./begin.ts";
import { applyEvents } from "./events.ts";
import { factor } from "./factor.ts";
import { allocate, placeOf, runAt } from "./place.ts";
import { readSolution } from "./read.ts";
import { axesParams } from "./records.ts";

/**
 * The whole backward time loop of a batch of equations on two or three axes by alternating directions, one workgroup an
 * instance, whose items share its lines.
 *
 * The systems along an axis are solved one line an item (on a CPU neighbouring lines are the lanes of a vector), the
 * last axis first, together with the explicit part. Arrays are in device memory, `slotsOf` of them an instance.
 *
 * Layout: node (i₀, i₁, i₂) of an array stands at i₀ + stride·i₁ + plane·i₂; padding nodes are rows of the identity.
 *   table       for each instance and axis `AXIS_ARRAYS` arrays
 *   parameters  value i of instance l at [i·instances + l]: the user's, the literals of the user's functions, the dates
 *   words       two a row: flags (timeline.ts), the segment or date; the same for all instances
 *   reals       `ROW_REALS` a row
 *   work        `PAD` words, then for each instance its arrays and `PAD` words; kept between parts of a time loop
 *   out         V(0, x) at each node without padding, then, with exercise at all times, 1 where the payoff is as much
 *   status      `AXES_STATUS_WORDS` an item; zeros before
 */
export const axesKernel = (variant: AxesVariant): Kernel =>
  rollbackKernel(
    {
      name: `axes-${variant.axes.map(({ name }) => name).join("-")}`,
      loopBudget: LOOP_BUDGET,
      groupSize: variant.groupSize,
      params: axesParams,
    },
    {
      placeOf: placeOf(variant),
      allocate,
      begin: begin(variant),
      runAt: runAt(variant),
      factor: factor(variant),
      advance: advance(variant),
      applyEvents: applyEvents(variant),
      read: readSolution(variant),
    },
  );

/** One kernel for all variants that lower to the same code. */
export const sharedAxesKernel = sharing(axesKernel);
