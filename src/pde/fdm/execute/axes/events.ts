import { fn, i32, real, record } from "../../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { atNode, countsOf, eachNode, valuesAt } from "./node.ts";
import { meshOf } from "./place.ts";
import { Launch, noted } from "./records.ts";

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
 * Returns the function that applies a condition on its date to u and writes the result into z: a jump along an axis,
 * exercise, or a knock-out.
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
      axes: variant.axes.map((_, k) => ({ k, meshOf: meshOf(k), isFirst: k === 0, isLast: k === 2 })),
      countsOf: countsOf(variant.axes.length),
      valuesAt: valuesAt(variant.axes.length),
      noted,
    },
    body({ launch, place, found, step, at }, _gpu, env) {
      const { work, stride, plane, size } = launch;
      const { base, mesh, parameters } = place;
      const { condition: k, date: t, run: row } = step;
      const { index, number: node } = at;
      const state = { t, x: env.valuesAt({ launch, mesh, index }), parameters };
      const before = work[env.u * size + at.k];
      let value = before;
      let ok = true;
      if (env.jump !== undefined && env.jumpAxis !== undefined) {
        const axis = env.jumpAxis(k);
        if (axis >= 0) {
          const target = env.jump({ state, k, u: before });
          const counts = env.countsOf(launch);
          let line = { x: mesh, u: env.u * size + base, step: 1, n: counts[0] };
          for (const { k, meshOf, isFirst, isLast } of env.axes) {
            const step = isFirst ? 1 : isLast ? plane : stride;
            if (axis === k) line = { x: meshOf({ launch, mesh }), u: line.u, step, n: counts[k] };
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
      return env.noted({ found, isBad: !ok, fault: env.badEvent, node, row });
    },
  });
  return eachNode(variant, atEach);
}

/** Returns the function that copies the result of `applyCondition` from z into u. */
export function settle(variant: AxesVariant) {
  const { u, z } = slotsOf(variant);
  const atEach = fn({
    name: "settle",
    params: atNode,
    env: { u, z },
    body({ launch: { work, size }, found, at: { k } }, _gpu, { u, z }) {
      work[u * size + k] = work[z * size + k];
      return found;
    },
  });
  return eachNode(variant, atEach);
}
