import { fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { largest } from "./counters.ts";
import type { Team } from "./team.ts";

/**
 * The recurrence y ← value + p·y from the last item down to the first, by recursive doubling (Kogge & Stone 1973): returns the y that
 * enters an item's run, that is, what left the run of the item above. `above` has the product of p over 2ᵏ items, from this one on, 0
 * where there is none. All p are in [0, 1], so nothing grows. It ends after `rounds`, past which all products are nothing beside a rounding
 * (`scanProducts`). In workgroup memory it starts and ends in the first half of `scratch`.
 * Cost: `rounds` + 1 shuffles, or words written and read, an item.
 */
export function scanDown({ items, levels, shuffles }: Team): KernelFunction<any, any> {
  return fn({
    name: "scanDown",
    params: [real, read(real), write(real), i32],
    env: { items, levels, shuffles },
    *body([value, above, scratch, rounds], gpu, { items, levels, shuffles }) {
      const item = gpu.localId();
      let sum = value;
      let next = 0.0;
      if (shuffles) {
        // A test costs half a round: two rounds always, and the last two together.
        for (let level = 0; level < 2; level++) {
          const other = yield gpu.shuffleDown(sum, 1 << level);
          sum += above[level * items + item] * other;
        }
        if (rounds > 2) {
          const other = yield gpu.shuffleDown(sum, 4);
          sum += above[2 * items + item] * other;
          if (rounds > 3) {
            for (let level = 3; level < levels; level++) {
              const other = yield gpu.shuffleDown(sum, 1 << level);
              sum += above[level * items + item] * other;
            }
          }
        }
        next = yield gpu.shuffleDown(sum, 1);
      } else {
        for (let level = 0; level < levels; level++) {
          if (level < rounds) {
            const half = (level & 1) * 4 * items;
            scratch[half + item] = sum;
            yield;
            sum += above[level * items + item] * scratch[half + Math.min(item + (1 << level), items - 1)];
          }
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
 * memory it starts and ends in the second half of `scratch`. Cost: `rounds` + 1 (2·`rounds` + 1) shuffles, or words written and read, an item.
 */
export function scanUp({ items, levels, shuffles }: Team, early: boolean): KernelFunction<any, any> {
  return fn({
    name: "scanUp",
    params: [real, real, read(real), write(real), i32],
    env: { early, items, levels, shuffles },
    *body([value, floor, below, scratch, rounds], gpu, { early, items, levels, shuffles }) {
      const item = gpu.localId();
      let sum = value;
      let held = floor;
      let before = 0.0;
      if (shuffles) {
        for (let level = 0; level < 2; level++) {
          const p = below[level * items + item];
          if (early) {
            const other = yield gpu.shuffleUp(held, 1 << level);
            held = Math.max(sum + p * other, held);
          }
          const other = yield gpu.shuffleUp(sum, 1 << level);
          sum += p * other;
        }
        if (rounds > 2) {
          const p = below[2 * items + item];
          if (early) {
            const other = yield gpu.shuffleUp(held, 4);
            held = Math.max(sum + p * other, held);
          }
          const other = yield gpu.shuffleUp(sum, 4);
          sum += p * other;
          if (rounds > 3) {
            for (let level = 3; level < levels; level++) {
              const p = below[level * items + item];
              if (early) {
                const other = yield gpu.shuffleUp(held, 1 << level);
                held = Math.max(sum + p * other, held);
              }
              const other = yield gpu.shuffleUp(sum, 1 << level);
              sum += p * other;
            }
          }
        }
        before = yield gpu.shuffleUp(early ? Math.max(sum, held) : sum, 1);
      } else {
        for (let level = 0; level < levels; level++) {
          if (level < rounds) {
            const half = (1 - (level & 1)) * 4 * items;
            scratch[half + item] = sum;
            if (early) scratch[half + items + item] = held;
            yield;
            const from = half + Math.max(item - (1 << level), 0);
            const p = below[level * items + item];
            if (early) held = Math.max(sum + p * scratch[items + from], held);
            sum += p * scratch[from];
          }
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
 * 2ᵏ items on there is none. Once a factorisation. Returns how many rounds the scans need: products over more than a few runs are often less than a quarter of
 * a rounding, p of neighbouring nodes being the ratio of a geometric sequence. Rounds in workgroup memory come in twos, which keeps the halves in turn.
 */
export function scanProducts({ items, levels, shuffles }: Team): KernelFunction<any, any> {
  return fn({
    name: "scanProducts",
    params: [real, real, write(real), write(real), write(real), write(i32), write(i32)],
    env: { items, levels, shuffles, largest },
    *body([down, up, above, below, scratch, counter, result], gpu, { items, levels, shuffles, largest }) {
      const nothing = gpu.precision === "f64" ? 2.2e-19 : gpu.precision === "f32" ? 1.5e-9 : 5e-17;
      const item = gpu.localId();
      let downwards = down;
      let upwards = up;
      let rounds = 0;
      for (let level = 0; level < levels; level++) {
        const distance = 1 << level;
        const p = item + distance < items ? downwards : 0.0;
        const q = item >= distance ? upwards : 0.0;
        above[level * items + item] = p;
        below[level * items + item] = q;
        if (Math.max(p, q) > nothing) rounds = level + 1;
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
      // Its barriers stand before the next scan, which starts in the half that was just read.
      const most: number = yield* largest(rounds, counter, result);
      return shuffles ? most : (most + 1) & -2;
    },
  });
}
