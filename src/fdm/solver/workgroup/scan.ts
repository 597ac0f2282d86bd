import { fn, type KernelFunction, read, real, write } from "../../../kernel/index.ts";

/** Items of a workgroup; each has a run of consecutive nodes. */
export const GROUP = 64;
/** log₂ of it: rounds of a scan. */
export const LEVELS = 6;
/** Words of workgroup memory that scans pass values through: two halves in turn, so that a round needs one barrier. */
export const SCRATCH = 2 * 4 * GROUP;

/**
 * The recurrence y ← value + p·y from the last item down to the first, by recursive doubling (Kogge & Stone 1973): returns the y that
 * enters an item's run, that is, what left the run of the item above. `above[k]` is the product of p over 2ᵏ items, from this one on.
 * All p are in [0, 1], so nothing grows. Starts and ends in the first half of `scratch`; 7 words written and 7 read an item.
 */
export const scanDown = fn({
  name: "scanDown",
  params: [real, read(real), write(real)],
  env: { GROUP, LEVELS },
  *body([value, above, scratch], gpu, { GROUP, LEVELS }) {
    const item = gpu.localId();
    let sum = value;
    for (let level = 0; level < LEVELS; level++) {
      const half = (level & 1) * 4 * GROUP;
      scratch[half + item] = sum;
      yield;
      sum += above[level] * scratch[half + Math.min(item + (1 << level), GROUP - 1)];
    }
    scratch[item] = sum;
    yield;
    return item === GROUP - 1 ? 0.0 : scratch[Math.min(item + 1, GROUP - 1)];
  },
});

/**
 * The recurrence y ← max(value + p·y, floor) from the first item up to the last. Such maps (p ≥ 0) are closed under composition,
 *
 *   max(v₂ + p₂·max(v₁ + p₁·y, f₁), f₂) = max(v₂ + p₂v₁ + p₂p₁·y, max(v₂ + p₂f₁, f₂)),
 *
 * so the projected substitution of Brennan & Schwartz is a scan like any other. Without `early` exercise there is no floor. Starts and
 * ends in the second half of `scratch`; 7 (13) words written and 7 (13) read an item.
 */
export function scanUp(early: boolean): KernelFunction<any, any> {
  return fn({
    name: "scanUp",
    params: [real, real, read(real), write(real)],
    env: { early, GROUP, LEVELS },
    *body([value, floor, below, scratch], gpu, { early, GROUP, LEVELS }) {
      const item = gpu.localId();
      let sum = value;
      let held = floor;
      for (let level = 0; level < LEVELS; level++) {
        const half = (1 - (level & 1)) * 4 * GROUP;
        scratch[half + item] = sum;
        if (early) scratch[half + GROUP + item] = held;
        yield;
        const from = half + Math.max(item - (1 << level), 0);
        if (early) held = Math.max(sum + below[level] * scratch[GROUP + from], held);
        sum += below[level] * scratch[from];
      }
      scratch[4 * GROUP + item] = early ? Math.max(sum, held) : sum;
      yield;
      return item === 0 ? 0.0 : scratch[4 * GROUP + Math.max(item - 1, 0)];
    },
  });
}

/**
 * The multipliers of both scans, from the products of p over an item's own run: `above` for `scanDown`, `below` for `scanUp`; 0 where
 * 2ᵏ items on there is none. Once a factorisation.
 */
export const scanProducts = fn({
  name: "scanProducts",
  params: [real, real, write(real), write(real), write(real)],
  env: { GROUP, LEVELS },
  *body([down, up, above, below, scratch], gpu, { GROUP, LEVELS }) {
    const item = gpu.localId();
    let downwards = down;
    let upwards = up;
    for (let level = 0; level < LEVELS; level++) {
      const distance = 1 << level;
      const half = (1 - (level & 1)) * 4 * GROUP;
      above[level] = item + distance < GROUP ? downwards : 0.0;
      below[level] = item >= distance ? upwards : 0.0;
      scratch[half + item] = downwards;
      scratch[half + GROUP + item] = upwards;
      yield;
      downwards *= scratch[half + Math.min(item + distance, GROUP - 1)];
      upwards *= scratch[half + GROUP + Math.max(item - distance, 0)];
    }
    yield; // the next scan starts in the half that was just read
  },
});
