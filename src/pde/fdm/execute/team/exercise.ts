import { fn, read, real, write } from "../../../../kernel/index.ts";
import { NEVER_EXERCISED, bendBetween, exercisedByHalf } from "../../conditions/dates.ts";
import { closedNode, readClosed } from "../../operator/coefficients.ts";
import { Launch } from "../option/plan.ts";
import { Place } from "../rollback.ts";
import { Factors, Obstacle } from "./records.ts";
import { placeIn, span, type Team } from "./team.ts";

/**
 * The source of what exercise pays: the table, or closed form, from nodes that are `laid` in x or have to be made
 * again.
 */
interface ObstacleOf {
  readonly closed: boolean;
  readonly laid: boolean;
}

/**
 * Returns the function for the exercise payoffs at the `rows` consecutive nodes of a work item. Beyond the last node of
 * the mesh they are 0.
 */
export function obstacleRuns(rows: number, { closed, laid }: ObstacleOf) {
  return fn({
    name: "obstacleRuns",
    params: [Launch, Place, read(real), write(real)],
    env: { rows, closed, laid, closedNode, readClosed },
    body([{ nodes, obstacleColumn }, { table, first }, x, paid], gpu, env) {
      if (env.closed) {
        const { kink, width, meshStep, at, zeroAt, sign } = env.readClosed(table);
        for (let k = 0; k < env.rows; k++) {
          const i = Math.min(first + k, nodes - 1);
          const node = env.laid ? x[i] : env.closedNode(i, kink, width, meshStep, at, zeroAt);
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
 * Returns the function that replaces the exercise payoffs by twice the lower bound of elimination (`stepRuns`),
 * 2·(paidₖ − lowerₖ·paidₖ₋₁), with lower = a/pivot. It also resets `u` to the payoff where rounding has left it below.
 * The nodes are in x, or in the table.
 */
export function thresholdRuns(rows: number, closed: boolean) {
  return fn({
    name: "thresholdRuns",
    params: { launch: Launch, place: Place, x: read(real), lower: read(real), obstacle: Obstacle, u: write(real) },
    env: { rows, obstacleRuns: obstacleRuns(rows, { closed, laid: true }) },
    body({ launch, place, x, lower, obstacle, u }, _gpu, { rows, obstacleRuns }) {
      const threshold = obstacle.paid;
      obstacleRuns(launch, place, x, threshold);
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
 * Returns the function for the sources at an item's nodes that the exercise payoff causes. In f64 the state is the
 * premium p = u − paid (`advanceSums`), and elimination is bounded below by 0. The system (I − hL)·p = p₀ + hL·paid has
 * a source, which in the scale of the state is
 *
 *   sourceₖ = −2·lowerₖ·(paidₖ − paidₖ₋₁) − 2·upperₖ·(paidₖ − paidₖ₊₁) − hr·gainₖ·paidₖ,
 *
 * and u becomes the input of elimination, gain·p + source. Twice the source replaces the payoff in memory. At a first
 * node that is certain to be exercised only its own source counts. `upper` is without the sign that its first entry may
 * have.
 */
export function sourceRuns(rows: number, closed: boolean) {
  return fn({
    name: "sourceRuns",
    params: {
      launch: Launch,
      place: Place,
      x: read(real),
      factors: Factors,
      hRate: real,
      obstacle: Obstacle,
      signOfFirst: real,
      u: write(real),
    },
    env: { rows, obstacleRuns: obstacleRuns(rows, { closed, laid: true }), NEVER_EXERCISED },
    body({ launch, place, x, factors, hRate, obstacle, signOfFirst, u }, gpu, { rows, obstacleRuns, NEVER_EXERCISED }) {
      const { gain, lower, upper } = factors;
      const { paid: doubled, before, after, isFirstExercised } = obstacle;
      obstacleRuns(launch, place, x, doubled);
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
 * The premiums V − obstacle beside an item's run: of the last two nodes of the item before, of the first two of the
 * item after. In workgroup memory they pass through the parts of `scratch` that only factorisations use. Runs have two
 * nodes at least.
 */
function premiumsBeside(team: Team, rows: number) {
  return fn({
    name: "premiumsBeside",
    params: [read(real), read(real), write(real)],
    env: { items: team.items, shuffles: team.shuffles, span: span(team), placeIn: placeIn(team), last: rows - 1 },
    *body([u, obstacle, scratch], gpu, { items, shuffles, span, placeIn, last }) {
      const { item } = placeIn();
      let before2 = 0.0;
      let before = 0.0;
      let after = 0.0;
      let after2 = 0.0;
      if (shuffles) {
        before2 = yield gpu.shuffleUp(u[last - 1] - obstacle[last - 1], 1, span);
        before = yield gpu.shuffleUp(u[last] - obstacle[last], 1, span);
        after = yield gpu.shuffleDown(u[0] - obstacle[0], 1, span);
        after2 = yield gpu.shuffleDown(u[1] - obstacle[1], 1, span);
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
 * Returns the function that exercises on a date at an item's nodes: a payoff with one column as `exerciseOnDate` does,
 * node by node in its order, and one with two columns as `exerciseByHalves` does; without `halves`, where the holder
 * may exercise at other times as well, just node by node. `obstacle` is overwritten, and read again on each date to
 * save registers. Cost of a date: 4 shuffles, or 2 barriers; about 6 flops a node; 30 flops a kink, twice where it is
 * between two nodes of the item.
 */
export function exerciseRuns(team: Team, rows: number, of: ObstacleOf, halves = true) {
  return fn({
    name: "exerciseRuns",
    params: {
      launch: Launch,
      place: Place,
      x: read(real),
      u: write(real),
      obstacle: write(real),
      scratch: write(real),
    },
    env: {
      rows,
      closed: of.closed,
      halves,
      bendBetween,
      exercisedByHalf,
      obstacleRuns: obstacleRuns(rows, of),
      premiumsBeside: premiumsBeside(team, rows),
    },
    *body({ launch, place, x, u, obstacle, scratch }, _gpu, env) {
      const { nodes, obstacleColumn } = launch;
      const { table, first } = place;
      const last = nodes - 1;
      env.obstacleRuns(launch, place, x, obstacle);
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
            const bend = env.bendBetween(
              i > 1 ? before : below + below - here,
              below,
              here,
              i < last ? above : here + here - below,
            );
            value = value - bend.right;
          }
          if (i < last && above * here < 0) {
            const bend = env.bendBetween(
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
