import { NEVER_EXERCISED } from "../../conditions/dates.ts";
import { bool, fn, i32, real, record } from "../../../../kernel/index.ts";
import { type AxesVariant, hasPinnedNodes, slotsOf } from "../../operator/axes-variant.ts";
import type { StateNumber } from "../../operator/state.ts";
import { FAULT } from "../../operator/status.ts";
import { atNode, nodeCountsOf, eachNode, valuesAt } from "./node.ts";
import { inPhase, groupMatchesPadding, Launch, meshOffset, withFault, roundsOf } from "./context.ts";
import { ProgramRow } from "../rollback.ts";

/** Returns the function that sets the exercise payoff at the end of a step. A pinned node cannot be exercised. */
export function setObstacle(variant: AxesVariant, payoff: StateNumber) {
  const slots = slotsOf(variant);
  const atEach = fn({
    name: "setObstacle",
    params: atNode,
    env: {
      payoff,
      pins: hasPinnedNodes(variant),
      pinned: slots.pinned,
      obstacle: slots.obstacle,
      badPayoff: FAULT.payoff,
      NEVER_EXERCISED,
      valuesAt: valuesAt(variant.axes.length),
      withFault,
    },
    body({ launch, context, programRow, found, at: { index, number: node, k, own, pitch } }, _gpu, env) {
      const { work, size } = launch;
      const x = env.valuesAt({ launch, mesh: context.mesh, index });
      let paid = env.payoff({ t: programRow.stage.tEnd, x, parameters: context.parameters });
      const isBad = !Number.isFinite(paid);
      if (env.pins) {
        if (work[own + env.pinned * pitch] > 0.5) paid = env.NEVER_EXERCISED;
      }
      work[env.obstacle * size + k] = paid;
      return env.withFault({ found, isBad, fault: env.badPayoff, node, row: programRow.index });
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
 * Returns the function that computes u at node `k` after a step from the increments: u + D, or u + keep·D + E
 * (`Correction`), where `value` is the last increment. Exercise at all times uses operator splitting (Ikonen & Toivanen
 * 2004; with alternating directions Haentjens & In 't Hout 2015): the step includes Δt·λ,
 *
 *   u′ = max(ũ − Δt·λ, payoff),   λ′ = λ + (u′ − ũ)/Δt,
 *
 * so that λ′ ≥ 0, and λ′ = 0 wherever u′ is above the payoff. `storeNode` stores the result.
 */
export function advanceNode(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "advanceNode",
    params: { launch: Launch, programRow: ProgramRow, k: i32, value: real },
    env: {
      corrects,
      keep: variant.correction?.keep ?? 1,
      early: variant.obstacle !== undefined,
      u: slots.u,
      z: slots.z,
      obstacle: slots.obstacle,
      lambdas: slots.lambda,
    },
    body({ launch: { work, size }, programRow: { stage }, k, value }, _gpu, env) {
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
export function storeNode(variant: AxesVariant) {
  const slots = slotsOf(variant);
  return fn({
    name: "storeNode",
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
      storeNode: storeNode(variant),
      z: slots.z,
      inSecond: slots.second,
      exact: groupMatchesPadding(variant),
      group: variant.groupSize,
      rounds: roundsOf(variant),
    },
    *body({ launch, context, programRow, found }, _gpu, env) {
      const { work, size } = launch;
      const { item, base, firstRound, everyRound } = context;
      const rounds = env.rounds(size);
      for (let r = firstRound; r < rounds; r += everyRound) {
        const node = r * env.group + item;
        if (env.exact || node < size) {
          const k = base + node;
          let now = { after: 0.0, lambda: 0.0 };
          if (env.second !== undefined && programRow.corrected)
            now = env.second({ launch, programRow, k, value: work[env.inSecond * size + k] });
          else now = env.first({ launch, programRow, k, value: work[env.z * size + k] });
          env.storeNode({ launch, k, after: now.after, lambda: now.lambda });
        }
      }
      return found;
    },
  });
}

/** A line along an axis: its values start at `x` in the table, V at `u` in the work memory, `step` apart. */
const Line = record({ x: i32, u: i32, step: i32, n: i32 });

/**
 * V at `target` on a line, by the cubic through the four nodes about it, held between its neighbours (as
 * `valueAfterJump` is on one axis); linear beyond the ends.
 */
const valueOnLine = fn({
  name: "valueOnLine",
  params: { launch: Launch, line: Line, target: real },
  body({ launch: { table, work }, line: { x, u, step, n }, target }) {
    let low = 0;
    let high = n - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (table[x + middle] <= target) low = middle;
      else high = middle;
    }
    const m = Math.min(Math.max(low - 1, 0), n - 4);
    const x0 = table[x + m];
    const x1 = table[x + m + 1];
    const x2 = table[x + m + 2];
    const x3 = table[x + m + 3];
    const u0 = work[u + m * step];
    const u1 = work[u + (m + 1) * step];
    const u2 = work[u + (m + 2) * step];
    const u3 = work[u + (m + 3) * step];
    // Newton's divided differences.
    const d01 = (u1 - u0) / (x1 - x0);
    const d12 = (u2 - u1) / (x2 - x1);
    const d23 = (u3 - u2) / (x3 - x2);
    const d012 = (d12 - d01) / (x2 - x0);
    const d123 = (d23 - d12) / (x3 - x1);
    const d0123 = (d123 - d012) / (x3 - x0);
    const cubic = u0 + (target - x0) * (d01 + (target - x1) * (d012 + (target - x2) * d0123));
    const left = table[x + low];
    const right = table[x + low + 1];
    const uLeft = work[u + low * step];
    const uRight = work[u + (low + 1) * step];
    const value = Math.min(Math.max(cubic, Math.min(uLeft, uRight)), Math.max(uLeft, uRight));
    const linear = uLeft + ((uRight - uLeft) * (target - left)) / (right - left);
    return target < left || target > right ? linear : value;
  },
});

/**
 * Returns the function that applies a condition (a jump along an axis, exercise, or a knock-out) to u on its date, and
 * writes the result into z.
 */
export function applyCondition(variant: AxesVariant) {
  const slots = slotsOf(variant);
  const atEach = fn({
    name: "applyCondition",
    params: atNode,
    env: {
      jump: variant.jump,
      jumpAxis: variant.jumpAxis,
      pointwise: variant.pointwise,
      u: slots.u,
      z: slots.z,
      badEvent: FAULT.event,
      valueOnLine,
      axes: variant.axes.map((_, k) => ({ k, meshOffset: meshOffset(k), isFirst: k === 0, isLast: k === 2 })),
      nodeCountsOf: nodeCountsOf(variant.axes.length),
      valuesAt: valuesAt(variant.axes.length),
      withFault,
    },
    body({ launch, context, found, programRow, at }, _gpu, env) {
      const { work, stride, plane, size } = launch;
      const { base, mesh, parameters } = context;
      const { condition: k, date: t, index: row } = programRow;
      const { index, number: node } = at;
      const state = { t, x: env.valuesAt({ launch, mesh, index }), parameters };
      const before = work[env.u * size + at.k];
      let value = before;
      let ok = true;
      if (env.jump !== undefined && env.jumpAxis !== undefined) {
        const axis = env.jumpAxis(k);
        if (axis >= 0) {
          const target = env.jump({ state, k, u: before });
          const counts = env.nodeCountsOf(launch);
          let line = { x: mesh, u: env.u * size + base, step: 1, n: counts[0] };
          for (const { k, meshOffset, isFirst, isLast } of env.axes) {
            const step = isFirst ? 1 : isLast ? plane : stride;
            if (axis === k) line = { x: meshOffset({ launch, mesh }), u: line.u, step, n: counts[k] };
            else line = { x: line.x, u: line.u + index[k] * step, step: line.step, n: line.n };
          }
          ok = Number.isFinite(target);
          value = env.valueOnLine({ launch, line, target });
        }
      }
      if (env.pointwise !== undefined) {
        const result = env.pointwise({ state, k, u: value });
        value = result.value;
        ok = ok && result.ok;
      }
      work[env.z * size + at.k] = value;
      return env.withFault({ found, isBad: !ok, fault: env.badEvent, node, row });
    },
  });
  return eachNode(variant, atEach);
}

/** Returns the function that copies the result of `applyCondition` from z into u. */
export function storeCondition(variant: AxesVariant) {
  const { u, z } = slotsOf(variant);
  const atEach = fn({
    name: "storeCondition",
    params: atNode,
    env: { u, z },
    body({ launch: { work, size }, found, at: { k } }, _gpu, { u, z }) {
      work[u * size + k] = work[z * size + k];
      return found;
    },
  });
  return eachNode(variant, atEach);
}
