import { fn, read, real, write } from "../../../../kernel/index.ts";
import { NEVER_EXERCISED, kinkCorrections, exercisedByHalf } from "../../conditions/dates.ts";
import { closedFormNode, readClosedForm } from "../../operator/coefficients.ts";
import { Launch } from "../option/plan.ts";
import { ItemContext } from "../rollback.ts";
import { Factors, Obstacle } from "./records.ts";
import { itemIndex, shuffleSpan, type Team } from "./team.ts";

/**
 * The source of what exercise pays: the table, or closed form, from nodes that are `laid` in x or have to be made
 * again.
 */
interface ObstacleOf {
  readonly closed: boolean;
  readonly laid: boolean;
}

/**
 * Returns the function that computes the exercise payoffs at the `rows` consecutive nodes of a work item. Beyond the
 * last node of the mesh they are 0.
 */
export function obstacleOfSegment(rows: number, { closed, laid }: ObstacleOf) {
  return fn({
    name: "obstacleOfSegment",
    params: [Launch, ItemContext, read(real), write(real)],
    env: { rows, closed, laid, closedFormNode, readClosedForm },
    body([{ nodes, obstacleColumn }, { table, first }, x, paid], gpu, env) {
      if (env.closed) {
        const { kink, width, meshStep, at, zeroAt, sign } = env.readClosedForm(table);
        for (let k = 0; k < env.rows; k++) {
          const i = Math.min(first + k, nodes - 1);
          const node = env.laid ? x[i] : env.closedFormNode(i, kink, width, meshStep, at, zeroAt);
          paid[k] = first + k < nodes ? gpu.positivePart(sign * (node - kink)) : 0.0;
        }
      } else {
        const { values, pitch, instance } = table;
        const from = (obstacleColumn * nodes + first) * pitch + instance;
        for (let k = 0; k < env.rows; k++) {
          paid[k] = 0.0;
          if (first + k < nodes) paid[k] = values[from + k * pitch];
        }
      }
    },
  });
}

/**
 * Returns the function that replaces the exercise payoffs by twice the lower bound of elimination (`stepSegment`),
 * 2·(paidₖ − lowerₖ·paidₖ₋₁), with lower = a/pivot. It also resets `u` to the payoff where rounding has left it below.
 * The nodes are in x, or in the table.
 */
export function eliminationThresholds(rows: number, closed: boolean) {
  return fn({
    name: "eliminationThresholds",
    params: {
      launch: Launch,
      context: ItemContext,
      x: read(real),
      lower: read(real),
      obstacle: Obstacle,
      u: write(real),
    },
    env: { rows, obstacleOfSegment: obstacleOfSegment(rows, { closed, laid: true }) },
    body({ launch, context, x, lower, obstacle, u }, _gpu, { rows, obstacleOfSegment }) {
      const threshold = obstacle.paid;
      obstacleOfSegment(launch, context, x, threshold);
      let below = 2 * obstacle.before;
      for (let k = 0; k < rows; k++) {
        u[k] = Math.max(u[k], threshold[k]);
        const paid = 2 * threshold[k];
        threshold[k] = paid - lower[k] * below;
        below = paid;
      }
    },
  });
}

/**
 * Returns the function that computes the source terms at an item's nodes that come from the exercise payoff. In f64 the
 * state is the premium p = u − paid (`advanceSums`), and elimination is bounded below by 0. The system (I − hL)·p = p₀
 * + hL·paid has a source, which in the scale of the state is
 *
 *   sourceₖ = −2·lowerₖ·(paidₖ − paidₖ₋₁) − 2·upperₖ·(paidₖ − paidₖ₊₁) − hr·gainₖ·paidₖ,
 *
 * and u becomes the input of elimination, gain·p + source. Twice the source replaces the payoff in memory. At a first
 * node that is certain to be exercised only its own source counts. `upper` is without the sign that its first entry may
 * have.
 */
export function premiumSources(rows: number, closed: boolean) {
  return fn({
    name: "premiumSources",
    params: {
      launch: Launch,
      context: ItemContext,
      x: read(real),
      factors: Factors,
      hRate: real,
      obstacle: Obstacle,
      signOfFirst: real,
      u: write(real),
    },
    env: { rows, obstacleOfSegment: obstacleOfSegment(rows, { closed, laid: true }), NEVER_EXERCISED },
    body(
      { launch, context, x, factors, hRate, obstacle, signOfFirst, u },
      gpu,
      { rows, obstacleOfSegment, NEVER_EXERCISED },
    ) {
      const { gain, lower, upper } = factors;
      const { paid: doubled, before, after, isFirstExercised } = obstacle;
      obstacleOfSegment(launch, context, x, doubled);
      let below = before;
      for (let k = 0; k < rows; k++) {
        const paid = doubled[k];
        const above = k + 1 < rows ? doubled[Math.min(k + 1, rows - 1)] : after;
        const up = k === 0 ? signOfFirst * upper[k] : upper[k];
        let source = -2 * (lower[k] * (paid - below) + up * (paid - above)) - hRate * gain[k] * paid;
        if (k === 0 && isFirstExercised) source = NEVER_EXERCISED;
        u[k] = gain[k] * gpu.positivePart(u[k]) + source;
        doubled[k] = 2 * source;
        below = paid;
      }
    },
  });
}

/**
 * The premiums V − obstacle beside an item's segment: of the last two nodes of the item before, of the first two of the
 * item after. In workgroup memory they pass through the parts of `scratch` that only factorisations use. LineDivision
 * have two nodes at least.
 */
function premiumsBeside(team: Team, rows: number) {
  return fn({
    name: "premiumsBeside",
    params: [read(real), read(real), write(real)],
    env: {
      items: team.items,
      shuffles: team.shuffles,
      shuffleSpan: shuffleSpan(team),
      itemIndex: itemIndex(team),
      last: rows - 1,
    },
    *body([u, obstacle, scratch], gpu, { items, shuffles, shuffleSpan, itemIndex, last }) {
      const { item } = itemIndex();
      let before2 = 0.0;
      let before = 0.0;
      let after = 0.0;
      let after2 = 0.0;
      if (shuffles) {
        before2 = yield gpu.shuffleUp(u[last - 1] - obstacle[last - 1], 1, shuffleSpan);
        before = yield gpu.shuffleUp(u[last] - obstacle[last], 1, shuffleSpan);
        after = yield gpu.shuffleDown(u[0] - obstacle[0], 1, shuffleSpan);
        after2 = yield gpu.shuffleDown(u[1] - obstacle[1], 1, shuffleSpan);
      } else {
        scratch[2 * items + item] = u[last - 1] - obstacle[last - 1];
        scratch[3 * items + item] = u[last] - obstacle[last];
        scratch[6 * items + item] = u[0] - obstacle[0];
        scratch[7 * items + item] = u[1] - obstacle[1];
        yield;
        const above = Math.min(item + 1, items - 1);
        before2 = scratch[2 * items + Math.max(item - 1, 0)];
        before = scratch[3 * items + Math.max(item - 1, 0)];
        after = scratch[6 * items + above];
        after2 = scratch[7 * items + above];
        yield;
      }
      return { before2, before, after, after2 };
    },
  });
}

/**
 * Returns the function that exercises on a date at an item's nodes. A payoff with one column is applied as by
 * `exerciseOnDate`, node by node in its order, and one with two columns as by `exerciseByHalves`. Without `halves`,
 * where the holder may exercise at other times as well, it is applied just node by node. `obstacle` is overwritten, and
 * read again on each date to save registers. Cost of a date: 4 shuffles, or 2 barriers; about 6 flops for each node; 30
 * flops for each kink, twice where it is between two nodes of the item.
 */
export function exerciseSegment(team: Team, rows: number, of: ObstacleOf, halves = true) {
  return fn({
    name: "exerciseSegment",
    params: {
      launch: Launch,
      context: ItemContext,
      x: read(real),
      u: write(real),
      obstacle: write(real),
      scratch: write(real),
    },
    env: {
      rows,
      closed: of.closed,
      halves,
      kinkCorrections,
      exercisedByHalf,
      obstacleOfSegment: obstacleOfSegment(rows, of),
      premiumsBeside: premiumsBeside(team, rows),
    },
    *body({ launch, context, x, u, obstacle, scratch }, _gpu, env) {
      const { nodes, obstacleColumn } = launch;
      const { table, first } = context;
      const last = nodes - 1;
      env.obstacleOfSegment(launch, context, x, obstacle);
      if (env.closed || obstacleColumn === 1) {
        const beside = yield* env.premiumsBeside(u, obstacle, scratch);
        let before = beside.before2;
        let below = beside.before;
        let here = u[0] - obstacle[0];
        let above = u[1] - obstacle[1];
        for (let k = 0; k < env.rows; k++) {
          const i = first + k;
          const far = Math.min(k + 2, env.rows - 1);
          const beyond = k + 2 < env.rows ? u[far] - obstacle[far] : k + 2 === env.rows ? beside.after : beside.after2;
          let value = Math.max(u[k], obstacle[k]);
          // Extrapolates the premium linearly at the mesh's ends.
          if (i > 0 && i <= last && here * below < 0) {
            const bend = env.kinkCorrections(
              i > 1 ? before : below + below - here,
              below,
              here,
              i < last ? above : here + here - below,
            );
            value = value - bend.right;
          }
          if (i < last && above * here < 0) {
            const bend = env.kinkCorrections(
              i > 0 ? below : here + here - above,
              here,
              above,
              i + 1 < last ? beyond : above + above - here,
            );
            value = value - bend.left;
          }
          u[k] = value;
          before = below;
          below = here;
          here = above;
          above = beyond;
        }
      } else if (!env.halves) for (let k = 0; k < env.rows; k++) u[k] = Math.max(u[k], obstacle[k]);
      else {
        const { values, pitch, instance: column } = table;
        const means = (nodes + first) * pitch + column;
        for (let k = 0; k < env.rows; k++)
          if (first + k < nodes) u[k] = env.exercisedByHalf(u[k], values[means + k * pitch], obstacle[k]);
      }
    },
  });
}
