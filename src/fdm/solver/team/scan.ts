import { fn, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import type { Team } from "./team.ts";

/**
 * The recurrence y ← value + p·y from the last item down to the first, by recursive doubling (Kogge & Stone 1973): returns the y that
 * enters an item's run, that is, what left the run of the item above. `above[k]` is the product of p over 2ᵏ items, from this one on, 0
 * where there is none. All p are in [0, 1], so nothing grows. In workgroup memory it starts and ends in the first half of `scratch`.
 * Cost: 6 shuffles, or 7 words written and 7 read, an item.
 */
export function scanDown({ items, levels, shuffles }: Team): KernelFunction<any, any> {
  return fn({
    name: "scanDown",
    params: [real, read(real), write(real)],
    env: { items, levels, shuffles },
    *body([value, above, scratch], gpu, { items, levels, shuffles }) {
      const item = gpu.localId();
      let sum = value;
      let next = 0.0;
      if (shuffles) {
        for (let level = 0; level < levels; level++) {
          const other = yield gpu.shuffleDown(sum, 1 << level);
          sum += above[level] * other;
        }
        next = yield gpu.shuffleDown(sum, 1);
      } else {
        for (let level = 0; level < levels; level++) {
          const half = (level & 1) * 4 * items;
          scratch[half + item] = sum;
          yield;
          sum += above[level] * scratch[half + Math.min(item + (1 << level), items - 1)];
        }
        scratch[item] = sum;
        yield;
        next = scratch[Math.min(item + 1, items - 1)];
      }
      return item === items - 1 ? 0.0 : next;
    },
  });
}

/**
 * The recurrence y ← max(value + p·y, floor) from the first item up to the last. Such maps (p ≥ 0) are closed under composition,
 *
 *   max(v₂ + p₂·max(v₁ + p₁·y, f₁), f₂) = max(v₂ + p₂v₁ + p₂p₁·y, max(v₂ + p₂f₁, f₂)),
 *
 * so the projected substitution of Brennan & Schwartz is a scan like any other. Without `early` exercise there is no floor. In workgroup
 * memory it starts and ends in the second half of `scratch`. Cost: 6 (11) shuffles, or 7 (13) words written and 7 (13) read, an item.
 */
export function scanUp({ items, levels, shuffles }: Team, early: boolean): KernelFunction<any, any> {
  return fn({
    name: "scanUp",
    params: [real, real, read(real), write(real)],
    env: { early, items, levels, shuffles },
    *body([value, floor, below, scratch], gpu, { early, items, levels, shuffles }) {
      const item = gpu.localId();
      let sum = value;
      let held = floor;
      let before = 0.0;
      if (shuffles) {
        for (let level = 0; level < levels; level++) {
          if (early) {
            const other = yield gpu.shuffleUp(held, 1 << level);
            held = Math.max(sum + below[level] * other, held);
          }
          const other = yield gpu.shuffleUp(sum, 1 << level);
          sum += below[level] * other;
        }
        before = yield gpu.shuffleUp(early ? Math.max(sum, held) : sum, 1);
      } else {
        for (let level = 0; level < levels; level++) {
          const half = (1 - (level & 1)) * 4 * items;
          scratch[half + item] = sum;
          if (early) scratch[half + items + item] = held;
          yield;
          const from = half + Math.max(item - (1 << level), 0);
          if (early) held = Math.max(sum + below[level] * scratch[items + from], held);
          sum += below[level] * scratch[from];
        }
        scratch[4 * items + item] = early ? Math.max(sum, held) : sum;
        yield;
        before = scratch[4 * items + Math.max(item - 1, 0)];
      }
      return item === 0 ? 0.0 : before;
    },
  });
}

/**
 * The multipliers of both scans, from the products of p over an item's own run: `above` for `scanDown`, `below` for `scanUp`; 0 where
 * 2ᵏ items on there is none. Once a factorisation.
 */
export function scanProducts({ items, levels, shuffles }: Team): KernelFunction<any, any> {
  return fn({
    name: "scanProducts",
    params: [real, real, write(real), write(real), write(real)],
    env: { items, levels, shuffles },
    *body([down, up, above, below, scratch], gpu, { items, levels, shuffles }) {
      const item = gpu.localId();
      let downwards = down;
      let upwards = up;
      for (let level = 0; level < levels; level++) {
        const distance = 1 << level;
        above[level] = item + distance < items ? downwards : 0.0;
        below[level] = item >= distance ? upwards : 0.0;
        if (shuffles) {
          const next: number = yield gpu.shuffleDown(downwards, distance);
          const before: number = yield gpu.shuffleUp(upwards, distance);
          downwards *= next;
          upwards *= before;
        } else {
          const half = (1 - (level & 1)) * 4 * items;
          scratch[half + item] = downwards;
          scratch[half + items + item] = upwards;
          yield;
          downwards *= scratch[half + Math.min(item + distance, items - 1)];
          upwards *= scratch[half + items + Math.max(item - distance, 0)];
        }
      }
      if (!shuffles) yield; // the next scan starts in the half that was just read
    },
  });
}
