import { memoize } from "../../../../base/memoize.ts";
import { bool, fn, gradient, i32, read, real, write } from "../../../../kernel/index.ts";
import { CROSSING_REALS, readLive, SETTING_REALS } from "../../conditions/barrier.ts";
import {
  exerciseByHalves,
  exercisedByHalf,
  exerciseOnDate,
  kinkCorrections,
  payDividend,
} from "../../conditions/dates.ts";
import { LiveNodes } from "../../operator/matrix.ts";
import { Column, valueAt } from "../../operator/state.ts";
import { FLAGS } from "../../time/time-grid.ts";
import { itemPlan, Launch, type SolverVariant } from "../option/plan.ts";
import { layerOf, layersPerStep, ReversedRow } from "../option/reversed.ts";
import { ItemContext } from "../rollback.ts";
import { atSeries } from "./factor.ts";

/** The two corrections of a kink, each times a weight: what `exerciseOnDate` changes of Σ weight·u. */
const weighedCorrections = fn({
  name: "weighedCorrections",
  params: { before: real, below: real, here: real, above: real, left: real, right: real },
  env: { kinkCorrections },
  body({ before, below, here, above, left, right }, _gpu, { kinkCorrections }) {
    const corrections = kinkCorrections(before, below, here, above);
    return left * corrections.left + right * corrections.right;
  },
});

/** Differentiation takes milliseconds, so it waits for a kernel that needs it. */
const correctionSlopes = memoize(() => gradient(weighedCorrections, { of: ["before", "below", "here", "above"] }));
const halfSlope = memoize(() => gradient(exercisedByHalf, { of: [0] }));

/**
 * Returns the function that goes back through `exerciseOnDate`: from λ after exercise, in `lambda`, to λ before it,
 * with the premiums V − obstacle before exercise. `before` is for use.
 */
const exerciseBack = () =>
  fn({
    name: "exerciseBack",
    params: { lambda: write(real), premium: read(real), before: write(real), nodes: i32 },
    env: { correctionSlopes: correctionSlopes() },
    body({ lambda, premium, before: old, nodes }, _gpu, { correctionSlopes }) {
      for (let i = 0; i < nodes; i++) old[i] = premium[i] > 0 ? lambda[i] : 0.0;
      for (let i = 1; i < nodes; i++) {
        const below = premium[i - 1];
        const here = premium[i];
        if (here * below < 0) {
          let before = below + below - here;
          let above = here + here - below;
          if (i > 1) before = premium[i - 2];
          if (i < nodes - 1) above = premium[i + 1];
          const { d } = correctionSlopes({ before, below, here, above, left: -lambda[i - 1], right: -lambda[i] });
          let ofBelow = d.below;
          let ofHere = d.here;
          if (i > 1) old[i - 2] = old[i - 2] + d.before;
          else {
            ofBelow = ofBelow + 2 * d.before;
            ofHere = ofHere - d.before;
          }
          if (i < nodes - 1) old[i + 1] = old[i + 1] + d.above;
          else {
            ofHere = ofHere + 2 * d.above;
            ofBelow = ofBelow - d.above;
          }
          old[i - 1] = old[i - 1] + ofBelow;
          old[i] = old[i] + ofHere;
        }
      }
      for (let i = 0; i < nodes; i++) lambda[i] = old[i];
    },
  });

/** Returns the function that goes back through `exerciseByHalves`, with the values before exercise. */
const halvesBack = () =>
  fn({
    name: "halvesBack",
    params: { lambda: write(real), values: read(real), table: Column, obstacle: i32, nodes: i32 },
    env: { halfSlope: halfSlope(), valueAt },
    body({ lambda, values, table, obstacle, nodes }, _gpu, { halfSlope, valueAt }) {
      for (let i = 0; i < nodes; i++) {
        const { d } = halfSlope(values[i], valueAt(table, nodes + i), valueAt(table, obstacle * nodes + i));
        lambda[i] = d.x0 * lambda[i];
      }
    },
  });

/**
 * Adds to `into` what λ of a node is to the values from which a dividend interpolates it at the price `target`: the
 * cubic of `cubicThrough` from node m on for cell j, or where `isLine` the straight line through nodes j and j + 1. It
 * returns the derivative of the interpolated value by the price.
 */
const interpolationBack = fn({
  name: "interpolationBack",
  params: {
    x: read(real),
    values: read(real),
    m: i32,
    j: i32,
    isLine: bool,
    target: real,
    adjoint: real,
    into: write(real),
  },
  body({ x, values, m, j, isLine, target, adjoint, into }) {
    const unit = 1 / (x[m + 2] - x[m + 1]);
    const t = (target - x[m + 1]) * unit;
    const a = (x[m + 1] - x[m]) * unit;
    const c = (x[m + 3] - x[m + 2]) * unit;
    const below = a * (a + 1);
    const above = c * (c + 1);
    const share = 1 / (below * above * (a + 1 + c));
    const part = t * (1 - t) * share;
    const low = above * (1 + c - t);
    const high = below * (t + a);
    // The cubic is u₁ + t·(u₂ − u₁) − part·(bends₀·u₀ + bends₁·u₁ + bends₂·u₂ + high·u₃).
    const w0 = -part * low;
    const w1 = 1 - t + part * (low * (1 + a) - high * c);
    const w2 = t + part * (high * (1 + c) - low * a);
    const w3 = -part * high;
    const u0 = values[m];
    const u1 = values[m + 1];
    const u2 = values[m + 2];
    const u3 = values[m + 3];
    const cubic = w0 * u0 + w1 * u1 + w2 * u2 + w3 * u3;
    const rise = u2 - u1;
    const lower = rise * a - (u1 - u0);
    const upper = u3 - u2 - rise * c;
    const bend = lower * low + upper * high;
    const bendSlope = upper * below - lower * above;
    const curved = unit * (rise - share * ((1 - 2 * t) * bend + t * (1 - t) * bendSlope));
    let slope = curved;
    let f0 = adjoint * w0;
    let f1 = adjoint * w1;
    let f2 = adjoint * w2;
    let f3 = adjoint * w3;
    const isLow = cubic < Math.min(u1, u2);
    const isHeld = isLow || cubic > Math.max(u1, u2);
    const takesFirst = isLow ? u1 <= u2 : u1 >= u2;
    if (isHeld) {
      f0 = 0.0;
      f1 = takesFirst ? adjoint : 0.0;
      f2 = takesFirst ? 0.0 : adjoint;
      f3 = 0.0;
      slope = 0.0;
    }
    if (isLine || j !== m + 1) {
      // At an end of the mesh the cubic is held between other nodes, or a line goes on.
      const left = values[j];
      const right = values[j + 1];
      const isBelow = cubic < Math.min(left, right);
      const isInside = !isBelow && cubic <= Math.max(left, right);
      const takesLeft = isBelow ? left <= right : left >= right;
      const width = x[j + 1] - x[j];
      const along = (target - x[j]) / width;
      const share = isLine ? 1 - along : takesLeft ? 1.0 : 0.0;
      const isCubic = isInside && !isLine;
      f0 = isCubic ? adjoint * w0 : 0.0;
      f1 = isCubic ? adjoint * w1 : 0.0;
      f2 = isCubic ? adjoint * w2 : 0.0;
      f3 = isCubic ? adjoint * w3 : 0.0;
      slope = isLine ? (right - left) / width : isCubic ? curved : 0.0;
      into[j] = into[j] + (isCubic ? 0.0 : adjoint * share);
      into[j + 1] = into[j + 1] + (isCubic ? 0.0 : adjoint * (1 - share));
    }
    into[m] = into[m] + f0;
    into[m + 1] = into[m + 1] + f1;
    into[m + 2] = into[m + 2] + f2;
    into[m + 3] = into[m + 3] + f3;
    return slope;
  },
});

/**
 * Goes back through `payDividend`, with the values after the dividend, and returns the derivatives by what it keeps
 * and by its cash. `old` is for use.
 */
const dividendBack = (hasBarriers: boolean) =>
  fn({
    name: "dividendBack",
    params: {
      x: read(real),
      values: read(real),
      lambda: write(real),
      old: write(real),
      nodes: i32,
      keep: real,
      cash: real,
      live: LiveNodes,
    },
    env: { hasBarriers, interpolationBack },
    body({ x, values, lambda, old, nodes, keep, cash, live: { low, high } }, _gpu, env) {
      const last = nodes - 1;
      const sign = x[last] > x[0] ? 1.0 : -1.0;
      for (let i = 0; i < nodes; i++) old[i] = 0;
      let byKeep = 0.0;
      let byCash = 0.0;
      let j = 0;
      for (let k = 0; k < nodes; k++) {
        const paid = x[k] * keep - cash;
        const target = Math.max(paid, 0);
        while (j < last - 1 && sign * (x[j + 1] - target) < 0) j++;
        let first = 0;
        let end = last;
        if (env.hasBarriers) {
          first = Math.max(low, 0);
          end = Math.min(high, last);
        }
        const m = Math.max(Math.min(Math.max(j - 1, first), end - 3), 0);
        let cell = j;
        let isLine = j !== m + 1 && (target - x[j]) * (target - x[j + 1]) > 0;
        if (env.hasBarriers) {
          if (j < low) {
            cell = Math.min(first, nodes - 2);
            isLine = true;
          }
          if (j >= high) {
            cell = Math.max(end, 1) - 1;
            isLine = true;
          }
        }
        const adjoint = lambda[k];
        const slope = env.interpolationBack({ x, values, m, j: cell, isLine, target, adjoint, into: old });
        const moved = paid > 0 ? adjoint * slope : 0.0;
        byKeep += moved * x[k];
        byCash -= moved;
      }
      for (let i = 0; i < nodes; i++) lambda[i] = old[i];
      return { byKeep, byCash };
    },
  });

/**
 * Returns the function that goes back through the knock-outs of a date (`knockOut`), and writes the derivatives by what
 * is paid, from input `input` on.
 */
const knockOutBack = (barriers: number, crossing: boolean) =>
  fn({
    name: "knockOutBack",
    params: { launch: Launch, context: ItemContext, lambda: write(real), row: i32, input: i32 },
    env: { barriers, crossing, words: crossing ? CROSSING_REALS : SETTING_REALS },
    body({ launch, context, lambda, row, input }, gpu, env) {
      const { nodes, pitch, out, flags, programRows, coefficients: values } = launch;
      const { instance } = context;
      for (let k = 0; k < env.barriers; k++) {
        const j = env.barriers - 1 - k;
        const at = (row + j * env.words) * pitch + instance;
        const place = values[at];
        const side = values[at + pitch];
        const keep = values[at + 3 * pitch];
        let nextKeep = 0.0;
        if (env.crossing) nextKeep = values[at + 5 * pitch];
        let byValue = 0.0;
        let byPaid = 0.0;
        let byNext = 0.0;
        for (let i = 0; i < nodes; i++) {
          const far = side * (gpu.real(i) - place);
          const own = lambda[i];
          const isNext = env.crossing && far > 0.5 && far < 1.5;
          const isHere = far > -0.5 && far <= 0.5;
          byPaid += isHere ? own : 0.0;
          byNext += isNext ? own : 0.0;
          byValue += far > 0.5 && !isNext ? own : 0.0;
          const kept = isNext ? nextKeep : isHere ? keep : far > 0.5 ? 0.0 : 1.0;
          lambda[i] = kept * own;
        }
        const to = (flags[programRows + 1] + input + j * env.words) * pitch + instance;
        out[to + 2 * pitch] = byValue;
        out[to + 4 * pitch] = byPaid;
        if (env.crossing) out[to + 6 * pitch] = byNext;
      }
    },
  });

/**
 * Returns the function that goes back through the events of a date (`applyEvents`): barriers, the dividend, exercise.
 * Values between them are computed again from the layer before all of them.
 */
export function eventsBack(variant: SolverVariant) {
  const { dividends, barriers = 0 } = variant;
  const { dates, early, hasBarriers, policy } = itemPlan(variant);
  return fn({
    name: "eventsBack",
    params: { ...atSeries, at: ReversedRow },
    env: {
      ...FLAGS,
      dates,
      dividends,
      hasBarriers,
      policy,
      exercisesHere: early,
      perDividend: 2 + CROSSING_REALS * barriers,
      readLive: readLive(barriers),
      payDividend: payDividend(undefined, hasBarriers),
      dividendBack: dividendBack(hasBarriers),
      knockOutBack: knockOutBack(barriers, false),
      crossingBack: knockOutBack(barriers, true),
      exerciseOnDate,
      exerciseByHalves,
      exerciseBack: exerciseBack(),
      halvesBack: halvesBack(),
      layerOf: layerOf(variant),
      layersPerStep: layersPerStep(variant.exercise),
      valueAt,
    },
    body({ launch, context, memory, loopState, programRow: { flag, count }, at }, _gpu, env) {
      const { nodes, pitch, out, flags, programRows, obstacleColumn } = launch;
      const { instance, table, parameters: coefficients } = context;
      const { x, u: lambda, z, inverse, lower, upper, obstacle, layers } = memory;
      const layer = at.layer + count * env.layersPerStep;
      const before = env.layerOf({ launch, layers, instance, layer });
      const after = env.layerOf({ launch, layers, instance, layer: layer + 1 });
      if (env.hasBarriers && (flag & env.BARRIERS) !== 0) {
        const skipped = (flag & env.DIVIDEND) !== 0 ? env.perDividend : 0;
        if (env.policy)
          for (let i = 0; i < nodes; i++)
            lambda[i] = after.values[after.at + i * after.apart] < obstacle[i] ? 0.0 : lambda[i];
        env.knockOutBack({ launch, context, lambda, row: at.event + skipped, input: at.eventInput + skipped });
      }
      for (let i = 0; i < nodes; i++) z[i] = before.values[before.at + i * before.apart];
      if (env.dividends && (flag & env.DIVIDEND) !== 0) {
        if (env.dates && (flag & env.EXERCISE) !== 0) {
          if (obstacleColumn === 1) env.exerciseOnDate(z, obstacle, upper, nodes);
          else env.exerciseByHalves(z, table, 1, obstacleColumn, nodes);
        }
        let live = loopState.live;
        if (env.hasBarriers) live = env.readLive(coefficients, at.date, 0, nodes);
        const keep = env.valueAt(coefficients, at.event);
        const cash = env.valueAt(coefficients, at.event + 1);
        const { low, high } = live;
        env.payDividend({ x, values: z, first: 0, u: inverse, nodes, keep, cash, low, high });
        if (env.hasBarriers) env.crossingBack({ launch, context, lambda, row: at.event + 2, input: at.eventInput + 2 });
        if (env.hasBarriers && env.policy)
          for (let i = 0; i < nodes; i++)
            lambda[i] = inverse[i] < env.valueAt(table, obstacleColumn * nodes + i) ? 0.0 : lambda[i];
        else if (env.exercisesHere && obstacleColumn === 1) {
          for (let i = 0; i < nodes; i++) lower[i] = inverse[i] - obstacle[i];
          env.exerciseBack({ lambda, premium: lower, before: upper, nodes });
        } else if (env.exercisesHere)
          for (let i = 0; i < nodes; i++) lambda[i] = inverse[i] < obstacle[i] ? 0.0 : lambda[i];
        const { byKeep, byCash } = env.dividendBack({ x, values: z, lambda, old: upper, nodes, keep, cash, live });
        const to = (flags[programRows + 1] + at.eventInput) * pitch + instance;
        out[to] = byKeep;
        out[to + pitch] = byCash;
      }
      if (env.dates && (flag & env.EXERCISE) !== 0) {
        for (let i = 0; i < nodes; i++) z[i] = before.values[before.at + i * before.apart];
        if (obstacleColumn === 1) {
          for (let i = 0; i < nodes; i++) lower[i] = z[i] - obstacle[i];
          env.exerciseBack({ lambda, premium: lower, before: upper, nodes });
        } else env.halvesBack({ lambda, values: z, table, obstacle: obstacleColumn, nodes });
      }
    },
  });
}
