import { bool, fn, i32, real } from "../../../../kernel/index.ts";
import { NEVER_EXERCISED } from "../../conditions/barrier.ts";
import { type AxesVariant, hasPins, slotsOf } from "../../operator/axes-variant.ts";
import type { StateNumber } from "../../operator/state.ts";
import { FAULT } from "../../operator/status.ts";
import { atNode, eachNode, valuesAt } from "./node.ts";
import { isExact, roundsOf } from "./place.ts";
import { Row } from "../row.ts";
import { inPhase, Launch, noted } from "./records.ts";

/** Returns the function that sets the exercise payoff at the end of a step. A pinned node cannot be exercised. */
export function setObstacle(variant: AxesVariant, payoff: StateNumber) {
  const slots = slotsOf(variant);
  const atEach = fn({
    name: "setObstacle",
    params: atNode,
    env: {
      payoff,
      pins: hasPins(variant),
      pinned: slots.pinned,
      obstacle: slots.obstacle,
      badPayoff: FAULT.payoff,
      NEVER_EXERCISED,
      valuesAt: valuesAt(variant.axes.length),
      noted,
    },
    body({ launch, place, step, found, at: { index, number: node, k, own, pitch } }, _gpu, env) {
      const { work, size } = launch;
      const x = env.valuesAt({ launch, mesh: place.mesh, index });
      let paid = env.payoff({ t: step.stage.tEnd, x, parameters: place.parameters });
      const isBad = !Number.isFinite(paid);
      if (env.pins) {
        if (work[own + env.pinned * pitch] > 0.5) paid = env.NEVER_EXERCISED;
      }
      work[env.obstacle * size + k] = paid;
      return env.noted({ found, isBad, fault: env.badPayoff, node, row: step.run });
    },
  });
  return eachNode(variant, atEach, obstacleChanges);
}

/** Tells whether the amount that exercise pays changes in a step. */
const obstacleChanges = fn({
  name: "obstacleChanges",
  params: { obstacleChanges: bool },
  body({ obstacleChanges }) {
    return obstacleChanges;
  },
});

/**
 * Returns the function for u at node `k` after a step, from the increments: u + D, or u + keep·D + E (`Correction`),
 * where `value` is the last increment. Exercise at all times uses operator splitting (Ikonen & Toivanen 2004; with
 * alternating directions Haentjens & In 't Hout 2015): the step includes Δt·λ,
 *
 *   u′ = max(ũ − Δt·λ, payoff),   λ′ = λ + (u′ − ũ)/Δt,
 *
 * so that λ′ ≥ 0, and λ′ = 0 wherever u′ is above the payoff. `settleNode` stores the result.
 */
export function advanceNode(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "advanceNode",
    params: { launch: Launch, step: Row, k: i32, value: real },
    env: {
      corrects,
      keep: variant.correction?.keep ?? 1,
      early: variant.obstacle !== undefined,
      u: slots.u,
      z: slots.z,
      obstacle: slots.obstacle,
      lambdas: slots.lambda,
    },
    body({ launch: { work, size }, step: { stage }, k, value }, _gpu, env) {
      let by = value;
      if (env.corrects) by = env.keep * work[env.z * size + k] + value;
      let after = work[env.u * size + k] + by;
      let lambda = 0.0;
      if (env.early) {
        const dt = stage.h * stage.extrapolation;
        lambda = work[env.lambdas * size + k];
        const held = Math.max(after - dt * lambda, work[env.obstacle * size + k]);
        lambda += (held - after) * (1 / dt);
        after = held;
      }
      return { after, lambda };
    },
  });
}

/** Returns the function that stores the result of `advanceNode`. */
export function settleNode(variant: AxesVariant) {
  const slots = slotsOf(variant);
  return fn({
    name: "settleNode",
    params: { launch: Launch, k: i32, after: real, lambda: real },
    env: { early: variant.obstacle !== undefined, u: slots.u, lambdas: slots.lambda },
    body({ launch: { work, size }, k, after, lambda }, _gpu, { early, u, lambdas }) {
      work[u * size + k] = after;
      if (early) work[lambdas * size + k] = lambda;
    },
  });
}

/** Returns the function that updates u at all nodes after a step (`advanceNode`). */
export function update(variant: AxesVariant) {
  const slots = slotsOf(variant);
  return fn({
    name: "update",
    params: inPhase,
    env: {
      first: advanceNode(variant, false),
      second: variant.correction === undefined ? undefined : advanceNode(variant, true),
      settleNode: settleNode(variant),
      z: slots.z,
      inSecond: slots.second,
      exact: isExact(variant),
      group: variant.groupSize,
      rounds: roundsOf(variant),
    },
    *body({ launch, place, step, found }, _gpu, env) {
      const { work, size } = launch;
      const { item, base, firstRound, everyRound } = place;
      const rounds = env.rounds(size);
      for (let r = firstRound; r < rounds; r += everyRound) {
        const node = r * env.group + item;
        if (env.exact || node < size) {
          const k = base + node;
          let now = { after: 0.0, lambda: 0.0 };
          if (env.second !== undefined && step.corrected)
            now = env.second({ launch, step, k, value: work[env.inSecond * size + k] });
          else now = env.first({ launch, step, k, value: work[env.z * size + k] });
          env.settleNode({ launch, k, after: now.after, lambda: now.lambda });
        }
      }
      return found;
    },
  });
}
