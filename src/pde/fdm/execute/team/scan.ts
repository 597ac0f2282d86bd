import { fn, i32, read, real, write } from "../../../../kernel/index.ts";
import { hopCount, groupReduction, itemIndex, shuffleSpan, type Team } from "./team.ts";
import { Scans } from "./records.ts";

/**
 * The `reach` of scans that need only the nearest neighbours (`Team.neighbours`), with factors that serve several
 * steps.
 */
export const NEAR = 0;
/** The `reach` of scans that need one more hop of `passOn`. */
export const HOP = 1;
/**
 * The `reach` of scans that need all items. For factors of a single step `scanProducts` returns 1 if `Team.few` rounds
 * suffice, and 0 if `Team.fewOfPivots` rounds do for the pivots.
 */
export const FAR = 2;

/**
 * Returns the function that computes the number of rounds of a scan from the result of `scanProducts`, where every step
 * has its own factorisation.
 */
export const scanRounds = ({ few, levels }: Team) =>
  fn({
    name: "scanRounds",
    params: [i32],
    env: { few, levels, FAR },
    body([needed], _gpu, { few, levels, FAR }) {
      return needed === FAR ? levels : few;
    },
  });

/**
 * The sum that reaches an item from its next neighbours, those above or those below, by shuffles that do not wait for
 * each other: s₁ + q₁s₂ + q₂s₃ [+ q₃s₄ …], where sⱼ is what the j-th one's segment leaves by itself and qⱼ the product
 * of p over the first j, at `from` and `pitch` on in the multipliers; 0 where there is no such neighbour.
 */
function nearSum(team: Team, direction: "above" | "below") {
  return fn({
    name: "nearSum",
    params: [real, read(real), i32, i32],
    env: {
      in32: team.neighbours.f32,
      in64: team.neighbours.f64,
      shuffleSpan: shuffleSpan(team),
      above: direction === "above",
    },
    *body([value, q, from, pitch], gpu, { in32, in64, shuffleSpan, above }) {
      const neighbours = gpu.precision === "f32" ? in32 : in64;
      const s = gpu.privateReal(neighbours);
      for (let j = 0; j < neighbours; j++) {
        if (above) s[j] = yield gpu.shuffleDown(value, j + 1, shuffleSpan);
        else s[j] = yield gpu.shuffleUp(value, j + 1, shuffleSpan);
      }
      // In the order of their arrival.
      let sum = s[0];
      for (let j = 1; j < neighbours; j++) sum += q[from + (j - 1) * pitch] * s[j];
      return sum;
    },
  });
}

/**
 * The sum that reaches an item from further away, from what reaches each from its n next neighbours: e₀ + Q₁e₁ + Q₂e₂
 * …, where eⱼ is what `nearSum` returned n·j items on and Qⱼ the product of p over the n·j between, in the multipliers
 * behind those of `nearSum`; of one hop if that is `reaching`, or "any" and `reach` is not `FAR`, else from all items.
 */
function passOn(team: Team, direction: "above" | "below", reaching: ScanReach) {
  const { f32, f64 } = team.neighbours;
  return fn({
    name: "passOn",
    params: [real, read(real), i32, i32, i32],
    env: {
      in32: f32,
      in64: f64,
      hops32: hopCount(team, f32),
      hops64: hopCount(team, f64),
      shuffleSpan: shuffleSpan(team),
      above: direction === "above",
      any: reaching === "any",
      all: reaching === "far",
      everybody: FAR,
    },
    *body([near, q, from, pitch, reach], gpu, { in32, in64, hops32, hops64, shuffleSpan, above, any, all, everybody }) {
      const neighbours = gpu.precision === "f32" ? in32 : in64;
      const count = gpu.precision === "f32" ? hops32 : hops64;
      const e = gpu.privateReal(count);
      if (above) e[0] = yield gpu.shuffleDown(near, neighbours, shuffleSpan);
      else e[0] = yield gpu.shuffleUp(near, neighbours, shuffleSpan);
      let sum = near + q[from + (neighbours - 1) * pitch] * e[0];
      if (all || (any && reach === everybody)) {
        for (let j = 1; j < count; j++) {
          if (above) e[j] = yield gpu.shuffleDown(near, (j + 1) * neighbours, shuffleSpan);
          else e[j] = yield gpu.shuffleUp(near, (j + 1) * neighbours, shuffleSpan);
        }
        for (let j = 1; j < count; j++) sum += q[from + (neighbours - 1 + j) * pitch] * e[j];
      }
      return sum;
    },
  });
}

/**
 * The distance over which a scan must carry values: to the neighbours (`nearSum`), one hop further (`passOn`), over all
 * items, or as its `reach` says. Factors of a single step ("refactorised") have only the multipliers of recursive
 * doubling.
 */
export type ScanReach = "near" | "hop" | "far" | "any" | "refactorised";

/**
 * Returns the function that computes y ← value + p·y by a scan over the items, from the last down or from the first
 * `up`, and returns the y that enters an item's nodes. All p are in [0, 1], so nothing grows, and contributions from
 * beyond `reach` are below rounding (`scanProducts`).
 *
 * With shuffles, and factors that serve several steps, it adds up neighbours and passes their sums on. Otherwise it
 * uses recursive doubling (Kogge & Stone 1973), where `multiplier` has the product of p over 2ᵏ items from this one on,
 * 0 where there are none. The starting item, whose first row has no neighbour, receives an arbitrary number. In
 * workgroup memory a scan down starts and ends in the first half of `scratch`, and one `up` in the second. Cost for
 * each item: as many shuffles as neighbours and hops, or rounds + 1, or as many reals written and read.
 */
export function scan(team: Team, direction: "down" | "up", reaching: ScanReach) {
  const { items, levels, shuffles, few } = team;
  const down = direction === "down";
  return fn({
    name: down ? "scanDown" : "scanUp",
    params: [real, read(real), write(real), i32],
    env: {
      items,
      levels,
      shuffles,
      down,
      refactorised: reaching === "refactorised",
      passes: reaching === "hop" || reaching === "far",
      any: reaching === "any",
      near: NEAR,
      few,
      nearSum: nearSum(team, down ? "above" : "below"),
      passOn: passOn(team, down ? "above" : "below", reaching),
      rounds: rounds(team, down),
      itemIndex: itemIndex(team),
    },
    *body([value, multiplier, scratch, reach], gpu, env) {
      const { item } = env.itemIndex();
      const own = gpu.precision === "f32"; // in registers, see `multiplierReals`
      const pitch = own ? 1 : env.items;
      const place = own ? 0 : item;
      let entering = 0.0;
      if (env.shuffles) {
        if (env.refactorised) entering = yield* env.rounds(value, multiplier, place, pitch, reach);
        else entering = yield* env.nearSum(value, multiplier, place, pitch);
        if (env.passes || (env.any && reach !== env.near))
          entering = yield* env.passOn(entering, multiplier, place, pitch, reach);
      } else {
        const start = env.down ? 0 : 4 * env.items;
        let sum = value;
        for (let level = 0; level < env.levels; level++) {
          if (level < reach) {
            const half = (level & 1) === 0 ? start : 4 * env.items - start;
            const distance = 1 << level;
            scratch[half + item] = sum;
            yield;
            const from = env.down ? Math.min(item + distance, env.items - 1) : Math.max(item - distance, 0);
            sum += multiplier[level * pitch + place] * scratch[half + from];
          }
        }
        scratch[start + item] = sum;
        yield;
        entering = scratch[start + (env.down ? Math.min(item + 1, env.items - 1) : Math.max(item - 1, 0))];
      }
      return entering;
    },
  });
}

/** The rounds of `scan` by shuffles: few of them, or all. */
function rounds(team: Team, down: boolean) {
  const { levels, few } = team;
  return fn({
    name: "rounds",
    params: [real, read(real), i32, i32, i32],
    env: { levels, few, down, shuffleSpan: shuffleSpan(team) },
    *body([value, multiplier, place, pitch, reach], gpu, { levels, few, down, shuffleSpan }) {
      let sum = value;
      let other = 0.0;
      for (let level = 0; level < few; level++) {
        if (down) other = yield gpu.shuffleDown(sum, 1 << level, shuffleSpan);
        else other = yield gpu.shuffleUp(sum, 1 << level, shuffleSpan);
        sum += multiplier[level * pitch + place] * other;
      }
      if (reach > few) {
        for (let level = few; level < levels; level++) {
          if (down) other = yield gpu.shuffleDown(sum, 1 << level, shuffleSpan);
          else other = yield gpu.shuffleUp(sum, 1 << level, shuffleSpan);
          sum += multiplier[level * pitch + place] * other;
        }
      }
      if (down) other = yield gpu.shuffleDown(sum, 1, shuffleSpan);
      else other = yield gpu.shuffleUp(sum, 1, shuffleSpan);
      return other;
    },
  });
}

/** Products less than this are nothing beside a rounding of what they are added to. */
const NOTHING = { f64: 2.8e-17, f32: 1.5e-8, f32x2: 1e-15 } as const;

/**
 * Returns the function that computes the multipliers of both scans, once for each factorisation, from the products of p
 * over an item's own nodes: `above` for the scan down, `below` for the scan up; 0 where there is no item 2ᵏ further. It
 * returns the reach of scans. For factors of several steps that is the number of rounds of doubling, or with shuffles
 * see `sumProducts`. For factors of a single step, which have fewer multipliers, it is 0, 1 or `FAR`.
 *
 * Decisions by item select values instead of branching, because NVIDIA's compiler for Vulkan (driver 580) turned a
 * branch that sets a constant into a reduction over the items of that branch alone.
 */
export function scanProducts(team: Team, reusesFactors: boolean) {
  const { items, levels, shuffles, few, fewOfPivots } = team;
  const doubling = fn({
    name: "doubling",
    params: [real, real, i32, Scans],
    env: { items, shuffles, shuffleSpan: shuffleSpan(team), itemIndex: itemIndex(team) },
    *body([down, up, level, { above, below, scratch }], gpu, { items, shuffles, shuffleSpan, itemIndex }) {
      const { item } = itemIndex();
      const own = gpu.precision === "f32"; // in registers, see `multiplierReals`
      const at = own ? level : level * items + item;
      const distance = 1 << level;
      const p = item + distance < items ? down : 0.0;
      const q = item >= distance ? up : 0.0;
      above[at] = p;
      below[at] = q;
      let next = 0.0;
      let before = 0.0;
      if (shuffles) {
        next = yield gpu.shuffleDown(down, distance, shuffleSpan);
        before = yield gpu.shuffleUp(up, distance, shuffleSpan);
      } else {
        const half = (1 - (level & 1)) * 4 * items;
        scratch[half + item] = down;
        scratch[half + items + item] = up;
        yield;
        next = scratch[half + Math.min(item + distance, items - 1)];
        before = scratch[half + items + Math.max(item - distance, 0)];
      }
      return { p, q, downwards: down * next, upwards: up * before };
    },
  });
  return fn({
    name: "scanProducts",
    params: [real, real, Scans],
    env: {
      items,
      levels,
      shuffles,
      reusesFactors,
      doubling,
      sumProducts: sumProducts(team),
      far: FAR,
      few,
      fewOfPivots,
      itemIndex: itemIndex(team),
      largest: groupReduction("max"),
      nothing64: NOTHING.f64,
      nothing32: NOTHING.f32,
      nothingPairs: NOTHING.f32x2,
    },
    *body([down, up, scans], gpu, env) {
      const { above, below, counter, result } = scans;
      const nothing =
        gpu.precision === "f64" ? env.nothing64 : gpu.precision === "f32" ? env.nothing32 : env.nothingPairs;
      const { item } = env.itemIndex();
      let downwards = down;
      let upwards = up;
      let reach = 0;
      if (env.reusesFactors) {
        if (env.shuffles) {
          reach = yield* env.sumProducts(down, up, above, below, nothing);
        } else
          for (let level = 0; level < env.levels; level++) {
            const round = yield* env.doubling(downwards, upwards, level, scans);
            reach = Math.max(round.p, round.q) > nothing ? level + 1 : reach;
            downwards = round.downwards;
            upwards = round.upwards;
          }
        // Its barriers stand before the next scan, which starts in the half that was just read.
        const max = yield* env.largest(reach, counter, result);
        return env.shuffles ? max : (max + 1) & -2;
      }
      for (let level = 0; level < env.few; level++) {
        const round = yield* env.doubling(downwards, upwards, level, scans);
        // The pivots' products are those of both: few of their rounds are enough where either's are less than the root.
        const square = Math.max(round.p, round.q) * Math.max(round.p, round.q);
        if (level === env.fewOfPivots) reach = square > nothing ? 1 : reach;
        downwards = round.downwards;
        upwards = round.upwards;
      }
      const distance = 1 << env.few;
      const next = item + distance < env.items ? downwards : 0.0;
      const before = item >= distance ? upwards : 0.0;
      reach = Math.max(next, before) > nothing ? env.far : reach;
      const max = yield* env.largest(reach, counter, result);
      if (max === env.far) {
        for (let level = env.few; level < env.levels; level++) {
          const round = yield* env.doubling(downwards, upwards, level, scans);
          downwards = round.downwards;
          upwards = round.upwards;
        }
        if (!env.shuffles) yield; // the next scan starts in the half that was just read
      }
      return max;
    },
  });
}

/**
 * The multipliers of `nearSum` and `passOn`, 0 beyond the last item; what enters an item is no part of its own
 * segment's products. Returns `NEAR` where products over as many segments as there are neighbours are `nothing`, `HOP`
 * where those over twice as many are, else `FAR`: a choice of values, see `scanProducts`.
 */
function sumProducts(team: Team) {
  const { items, neighbours } = team;
  return fn({
    name: "sumProducts",
    params: [real, real, write(real), write(real), real],
    env: {
      near: NEAR,
      hop: HOP,
      far: FAR,
      items,
      in32: neighbours.f32,
      in64: neighbours.f64,
      hops32: hopCount(team, neighbours.f32),
      hops64: hopCount(team, neighbours.f64),
      shuffleSpan: shuffleSpan(team),
      itemIndex: itemIndex(team),
    },
    *body([down, up, above, below, nothing], gpu, env) {
      const { near, hop, far, items, in32, in64, hops32, hops64, shuffleSpan, itemIndex } = env;
      const { item } = itemIndex();
      const own = gpu.precision === "f32";
      const neighbours = own ? in32 : in64;
      const hops = own ? hops32 : hops64;
      const pitch = own ? 1 : items;
      const place = own ? 0 : item;
      let downwards = 1.0;
      let upwards = 1.0;
      for (let j = 1; j <= neighbours; j++) {
        const next: number = yield gpu.shuffleDown(down, j, shuffleSpan);
        const before: number = yield gpu.shuffleUp(up, j, shuffleSpan);
        downwards = item + j < items - 1 ? downwards * next : 0.0;
        upwards = item > j ? upwards * before : 0.0;
        above[(j - 1) * pitch + place] = downwards;
        below[(j - 1) * pitch + place] = upwards;
      }
      const ofAll = downwards;
      const ofAllBelow = upwards;
      let reach = Math.max(ofAll, ofAllBelow) > nothing ? hop : near;
      for (let j = 1; j < hops; j++) {
        const distance = j * neighbours;
        const next: number = yield gpu.shuffleDown(ofAll, distance, shuffleSpan);
        const before: number = yield gpu.shuffleUp(ofAllBelow, distance, shuffleSpan);
        downwards = item + distance < items - 1 ? downwards * next : 0.0;
        upwards = item > distance ? upwards * before : 0.0;
        above[(neighbours - 1 + j) * pitch + place] = downwards;
        below[(neighbours - 1 + j) * pitch + place] = upwards;
        if (j === 1) reach = Math.max(downwards, upwards) > nothing ? far : reach;
      }
      return reach;
    },
  });
}
