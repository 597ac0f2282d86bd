import { fn } from "../../../kernel/index.ts";
import { NEVER_EXERCISED } from "../../conditions/barrier.ts";
import { type AxesVariant, hasPins, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { nodeAt, valuesAt } from "./factor.ts";
import { nodeIn, roundsOf, shapeOf } from "./place.ts";
import { atRow, Fault, Launch, Place, Row } from "./records.ts";
import { sweepLast, sweepLines, sweepMiddle } from "./step.ts";

/** What exercise pays at the end of a step; a pinned node is not exercised. */
function setObstacle(variant: AxesVariant) {
  const slots = slotsOf(variant);
  return fn({
    name: "setObstacle",
    params: { launch: Launch, place: Place, step: Row, found: Fault },
    env: {
      payoff: variant.obstacle,
      pins: hasPins(variant),
      pinned: slots.pinned,
      obstacle: slots.obstacle,
      badPayoff: FAULT.payoff,
      NEVER_EXERCISED,
      nodeAt,
      valuesAt: valuesAt(variant.axes.length),
      nodeIn: nodeIn(variant),
      rounds: roundsOf(variant),
      shapeOf,
    },
    body({ launch, place: { item, base, mesh, parameters }, step, found }, _gpu, env) {
      const { work, n0, n1, stride, size } = launch;
      const shape = env.shapeOf(launch);
      let { fault, node, row } = found;
      const rounds = env.rounds(size);
      if (env.payoff !== undefined)
        for (let r = 0; r < rounds; r++) {
          const { line, first, lane, inside } = env.nodeIn(r, item, stride, size);
          if (inside) {
            const { i0, i1, i2 } = env.nodeAt({ line, lane, shape });
            const { x0, x1, x2 } = env.valuesAt({ launch, mesh, shape, node: { i0, i1, i2 } });
            let paid = env.payoff({ t: step.tEnd, x0, x1, x2, parameters });
            if (!Number.isFinite(paid) && fault === 0) {
              fault = env.badPayoff;
              node = (i2 * n1 + i1) * n0 + i0;
              row = step.run;
            }
            if (env.pins) if (work[env.pinned * size + base + first + lane] > 0.5) paid = env.NEVER_EXERCISED;
            work[env.obstacle * size + base + first + lane] = paid;
          }
        }
      return { fault, node, row, growth: found.growth };
    },
  });
}

/**
 * u after a step, from the increments: u + D, or u + keep·D + E. With exercise at all times by operator splitting
 * (Ikonen & Toivanen 2004; with alternating directions Haentjens & In 't Hout 2015): the step has had Δt·λ,
 *
 *   u′ = max(ũ − Δt·λ, payoff),   λ′ = λ + (u′ − ũ)/Δt,
 *
 * so that λ′ ≥ 0, and is 0 wherever u′ is above the payoff.
 */
function update(variant: AxesVariant) {
  const slots = slotsOf(variant);
  return fn({
    name: "update",
    params: { launch: Launch, place: Place, step: Row },
    env: {
      correction: variant.correction !== undefined,
      keep: variant.correction?.keep ?? 1,
      early: variant.obstacle !== undefined,
      u: slots.u,
      z: slots.z,
      second: slots.second,
      obstacle: slots.obstacle,
      lambda: slots.lambda,
      nodeIn: nodeIn(variant),
      rounds: roundsOf(variant),
    },
    body({ launch: { work, stride, size }, place: { item, base }, step: { h, e, corrected } }, _gpu, env) {
      const dt = h * e;
      const inverse = 1 / dt;
      const rounds = env.rounds(size);
      for (let r = 0; r < rounds; r++) {
        const { first, lane, inside } = env.nodeIn(r, item, stride, size);
        if (inside) {
          const k = base + first;
          let by = work[env.z * size + k + lane];
          if (env.correction) {
            if (corrected) by = env.keep * by + work[env.second * size + k + lane];
          }
          let after = work[env.u * size + k + lane] + by;
          if (env.early) {
            const lambda = work[env.lambda * size + k + lane];
            const held = Math.max(after - dt * lambda, work[env.obstacle * size + k + lane]);
            work[env.lambda * size + k + lane] = lambda + (held - after) * inverse;
            after = held;
          }
          work[env.u * size + k + lane] = after;
        }
      }
    },
  });
}

/** One time step: the sweeps of the scheme, then u. */
export function advance(variant: AxesVariant) {
  const { axes, correction, obstacle } = variant;
  const three = axes.length > 2;
  const corrected = correction !== undefined;
  return fn({
    name: "advance",
    params: atRow,
    env: {
      setObstacle: obstacle === undefined ? undefined : setObstacle(variant),
      first: sweepLast(variant, false),
      firstMiddle: three ? sweepMiddle(variant, false) : undefined,
      firstLines: sweepLines(variant, false),
      second: corrected ? sweepLast(variant, true) : undefined,
      secondMiddle: corrected && three ? sweepMiddle(variant, true) : undefined,
      secondLines: corrected ? sweepLines(variant, true) : undefined,
      update: update(variant),
    },
    *body({ launch, place, cursor, step }, _gpu, env) {
      let found: { fault: number; node: number; row: number; growth: number } = cursor;
      if (!step.event) {
        yield;
        if (env.setObstacle !== undefined)
          if (step.obstacleChanges) found = env.setObstacle({ launch, place, step, found });
        found = env.first({ launch, place, step, found });
        yield;
        if (env.firstMiddle !== undefined) {
          env.firstMiddle({ launch, place });
          yield;
        }
        env.firstLines({ launch, place });
        yield;
        if (env.second !== undefined && env.secondLines !== undefined) {
          if (step.corrected) {
            found = env.second({ launch, place, step, found });
            yield;
            if (env.secondMiddle !== undefined) {
              env.secondMiddle({ launch, place });
              yield;
            }
            env.secondLines({ launch, place });
            yield;
          }
        }
        env.update({ launch, place, step });
      }
      return found;
    },
  });
}
