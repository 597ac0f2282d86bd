/** A sample: a path from its start to its end, what it pays there, and the derivatives of that by the table. */
import { bool, fn, functionFromSource, i32, read, real, record, tangent, write } from "../../kernel/index.ts";
import {
  Batch,
  beginFunction,
  drawFunction,
  Draws,
  loadFunction,
  moveFunction,
  numbersFunction,
  Path,
  payoffAtPathEnd,
  scratchFunction,
  shiftFunction,
} from "./advance.ts";
import { arrayLength, type PathShape, rowsOf } from "./shape.ts";
import { continuationFunction, dueFunction, Rule } from "../stopping/rule.ts";
import type { WalkShape } from "./walk-shape.ts";

const sampleParams = {
  table: read(real),
  columns: i32,
  column: i32,
  draws: Draws,
  path: Path,
  scores: write(real),
  initial: write(real),
  rule: Rule,
  dates: i32,
  last: i32,
  decides: bool,
} as const;

/**
 * Returns the function that advances a path to the next date: the steps of the model, then the update of the product.
 * It returns the time, and the discount factor of the path. With `isFirst` the path begins here, so that no random
 * numbers are left over from the previous step.
 */
export function advanceFunction(shape: PathShape, hasScores = false) {
  const { model, substeps } = shape;
  const rows = rowsOf(shape);
  return fn({
    name: "advancePath",
    params: {
      batch: Batch,
      draws: Draws,
      path: Path,
      date: i32,
      isFirst: bool,
      scores: write(real),
      initial: read(real),
    },
    env: {
      newNumbers: numbersFunction(shape),
      newScratch: scratchFunction(shape),
      drawStep: drawFunction(shape),
      shift: shiftFunction(shape),
      move: moveFunction(shape),
      scoreOf: hasScores ? model.score?.function : undefined,
      SUBSTEPS: substeps,
      HEAD: rows.head,
      STEP: rows.step,
      COPIED: rows.copied,
      DATED: rows.dated,
      DATED_AT: rows.datedAt,
      C_ROOM: arrayLength(rows.copied),
      Q_ROOM: arrayLength(rows.dated),
    },
    body({ batch: { table, columns, column }, draws, path, date, isFirst, scores, initial }, gpu, env) {
      const { SUBSTEPS, COPIED } = env;
      const c = gpu.privateReal(env.C_ROOM);
      const q = gpu.privateReal(env.Q_ROOM);
      const numbers = env.newNumbers();
      const scratch = env.newScratch();
      const { state, running, spots, controlRunning, p, controlP, words, weight } = path;
      let time = gpu.real(0);
      let discount = gpu.real(1);
      for (let s = 0; s < SUBSTEPS; s++) {
        const n = date * SUBSTEPS + s;
        const row = env.HEAD + n * env.STEP;
        const t = table[row * columns + column];
        const dt = table[(row + 1) * columns + column];
        for (let j = 0; j < COPIED; j++) c[j] = table[(row + 3 + j) * columns + column];
        for (let j = 0; j < env.DATED; j++) q[j] = table[(row + env.DATED_AT + j) * columns + column];
        env.drawStep({ draws, n, isFirst: isFirst && s === 0, words, numbers });
        env.shift({ table, columns, column, row, normals: numbers.normals, weight });
        env.scoreOf?.({ scores, normals: numbers.normals, c, dt, isFirst: n === 0, initial });
        discount = env.move({
          state,
          running,
          spots,
          controlRunning,
          c,
          p,
          q,
          controlP,
          table,
          first: (row + 3 + COPIED) * columns + column,
          stride: columns,
          discount: table[(row + 2) * columns + column],
          step: { date, isLast: s === SUBSTEPS - 1, t, dt },
          numbers,
          scratch,
        });
        time = t + dt;
      }
      return { time, discount };
    },
  });
}

/**
 * Returns the function that follows a path from its start to date number `last`, or to an earlier date if it `decides`
 * and the exercise rule ends it there. It returns the date's number, its time, and the discount factor to it.
 */
function followFunction(shape: WalkShape) {
  return fn({
    name: "followPath",
    params: {
      batch: Batch,
      draws: Draws,
      path: Path,
      scores: write(real),
      initial: write(real),
      rule: Rule,
      dates: i32,
      last: i32,
      decides: bool,
    },
    env: {
      begin: beginFunction(shape),
      advance: advanceFunction(shape, shape.scores > 0),
      dueAt: shape.basis === undefined ? undefined : dueFunction(shape),
      RIGHT: shape.product.right !== undefined,
      PAID: shape.product.right?.paid ?? 0,
      continuation: shape.basis === undefined ? undefined : continuationFunction(shape.basis),
      SCORES: shape.scores,
      A: shape.model.assets,
    },
    body({ batch, draws, path, scores, initial, rule, dates, last, decides }, gpu, env) {
      const { betas, scales, instances, instance } = rule;
      env.begin({ batch, path });
      for (let s = 0; s < env.SCORES; s++) scores[s] = 0;
      if (env.SCORES > 0) for (let a = 0; a < env.A; a++) initial[a] = path.spots[a];
      let end = last;
      let time = gpu.real(0);
      let discount = gpu.real(1);
      for (let date = 0; date < dates; date++)
        if (date <= end) {
          const reached = env.advance({ batch, draws, path, date, isFirst: date === 0, scores, initial });
          time = reached.time;
          discount = reached.discount;
          if (env.continuation !== undefined && env.dueAt !== undefined && date < dates - 1)
            if (decides || (env.RIGHT && date === last)) {
              const { due, paid, side } = env.dueAt({ path, time, discount });
              const at = { betas, scales, instances, instance, date };
              if (decides && side !== 0)
                if (side * (due - env.continuation({ rule: at, path, payoff: due })) >= 0) end = date;
              // A copy ends where the path does that it follows, if it has the right there.
              if (env.RIGHT && end === date) {
                if (side === 0) end = dates - 1;
                else path.running[env.PAID] = paid + due;
              }
            }
        }
      return { last: decides ? end : last, time, discount };
    },
  });
}

/**
 * Returns the function that computes what a path pays at its end, discounted to time 0: `product`, `control` and
 * `halfWidth`, which is half the distance of the bounds of the product. `factor` is the discount factor times the
 * weight of the path.
 */
function earningsFunction({ product, control }: WalkShape) {
  return fn({
    name: "earningsOfPath",
    params: { path: Path, time: real, discount: real, factor: real },
    env: {
      payoff: payoffAtPathEnd(product.payoff),
      halfWidth: product.halfWidth && payoffAtPathEnd(product.halfWidth),
      controlPayoff: control?.payoff,
    },
    body({ path, time, discount, factor }, gpu, env) {
      const { controlRunning: running, spots, controlP: p } = path;
      return {
        product: factor * env.payoff({ path, end: { time, discount } }),
        control:
          env.controlPayoff === undefined
            ? gpu.real(0)
            : factor * env.controlPayoff({ running, spots, p, t: time, discount }),
        halfWidth:
          env.halfWidth === undefined ? gpu.real(0) : factor * env.halfWidth({ path, end: { time, discount } }),
      };
    },
  });
}

/**
 * Returns the function that follows a path and returns what it pays (`earningsFunction`), and when. `last` is the date
 * at which it ended.
 */
function sampleFunction(shape: WalkShape) {
  return fn({
    name: "samplePath",
    params: sampleParams,
    env: { follow: followFunction(shape), earnings: earningsFunction(shape), SHIFTED: shape.isShifted === true },
    body({ table, columns, column, draws, path, scores, initial, rule, dates, last, decides }, _gpu, env) {
      const batch = { table, columns, column };
      const end = env.follow({ batch, draws, path, scores, initial, rule, dates, last, decides });
      const { time, discount } = end;
      const factor = env.SHIFTED ? discount * Math.exp(path.weight[0]) : discount;
      const { product, control, halfWidth } = env.earnings({ path, time, discount, factor });
      return { last: end.last, time, discount, factor, product, control, halfWidth };
    },
  });
}

const paidFields = { product: write(real), control: write(real), halfWidth: write(real) } as const;

/** What a path pays, in arrays: the values first, then their derivatives in each direction. */
export const Paid = record(paidFields);

/** The end of a path: its time, the discount factor, and this factor times the weight of the path. */
export const END = 3;

const payParams = { ...sampleParams, stride: i32, paid: Paid, end: write(real) } as const;

/**
 * Returns the kernel function that simulates a path and stores the values that it pays (`Paid`). The kernel function
 * returns the index of the date at which the path ended.
 */
export const payFunction = (shape: WalkShape) =>
  fn({
    name: "payOnPath",
    params: payParams,
    env: { sample: sampleFunction(shape) },
    body(
      { table, columns, column, draws, path, scores, initial, rule, dates, last, decides, paid, end },
      _gpu,
      { sample },
    ) {
      const value = sample({ table, columns, column, draws, path, scores, initial, rule, dates, last, decides });
      paid.product[0] = value.product;
      paid.control[0] = value.control;
      paid.halfWidth[0] = value.halfWidth;
      end[0] = value.time;
      end[1] = value.discount;
      end[2] = value.factor;
      return value.last;
    },
  });

/**
 * Returns the kernel function that stores what the path that was just followed pays with the parameters of another
 * column, which only the payoffs read.
 */
export const payAgainFunction = (shape: WalkShape) =>
  fn({
    name: "payAgainOnPath",
    params: { batch: Batch, path: Path, end: read(real), paid: Paid },
    env: { load: loadFunction(shape), earnings: earningsFunction(shape) },
    body({ batch, path, end, paid }, _gpu, { load, earnings }): undefined {
      load({ batch, path });
      const { product, control, halfWidth } = earnings({ path, time: end[0], discount: end[1], factor: end[2] });
      paid.product[0] = product;
      paid.control[0] = control;
      paid.halfWidth[0] = halfWidth;
    },
  });

/**
 * Returns the kernel function that does the same as that of `payFunction`, and also stores the derivatives of the
 * values in each direction, which are tangents of all computations on the path. The tangents of the table are stored
 * behind it in the same layout, `stride` numbers apart.
 */
export function payFunctionWithSlopes(shape: WalkShape) {
  const directions = Array.from({ length: shape.slopes }, (_, k) => `d${k}`);
  const given = [
    ...Object.keys(sampleParams),
    ...directions.map((name, k) => `${name}: { table: gpu.part(table, ${k + 1} * stride) }`),
  ];
  const stores = Object.keys(paidFields).flatMap((name) => [
    `paid.${name}[0] = value.${name};`,
    ...directions.map((direction, k) => `paid.${name}[${k + 1}] = d.${direction}.${name};`),
  ]);
  return functionFromSource<typeof payParams, number>({
    name: "payOnPathWithSlopes",
    params: payParams,
    env: { sample: tangent(sampleFunction(shape), { of: ["table"], directions }) },
    source: `({ ${Object.keys(payParams).join(", ")} }, gpu, { sample }) => {
      const { value, d } = sample({ ${given.join(", ")} });
      ${stores.join("\n      ")}
      end[0] = value.time;
      end[1] = value.discount;
      end[2] = value.factor;
      return value.last;
    }`,
  });
}
