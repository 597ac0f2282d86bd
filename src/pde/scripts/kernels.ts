/** Kernels of scripts backwards: what a date does to values, and where they jump or bend. */
import { fn, i32, kernel, read, real, record, write } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";
import { ALIVE, PAID, type Program } from "../../market/scripts/index.ts";
import { scriptUpdate } from "../../montecarlo/index.ts";

/** The first rows of an instance's data of a date; the numbers of the script, its layers and its groups follow. */
export const ROW = { start: 0, step: 1, growth: 2, cash: 3, discount: 4, axis: 5, axisStep: 6 } as const;
export const HEADER = 7;

/** A date of instances side by side: number k of instance i is at [k·count + i]. */
const Dated = record({
  count: i32,
  nodes: i32,
  /** The combinations of finite states after the date, the numbers that tell them apart, and points of a real state. */
  groups: i32,
  width: i32,
  points: i32,
  /** The indices of these carried numbers; the last is the real one, if there are points. */
  names: read(i32),
  data: read(real),
  /** The values after the date, [node][group][point][instance]. */
  after: read(real),
});

/** Private arrays: carried numbers, the spot, and the numbers of the data and of the date. */
const Own = record({ running: write(real), spots: write(real), p: write(real), q: write(real), none: write(real) });

/** The weight of node k of the cubic through the nodes 0 … 3, at `t`. */
const cubicWeight = fn({
  name: "cubicWeight",
  params: [i32, real],
  body([k, t]) {
    let weight = (t * (t - 1) * (t - 2)) / 6;
    if (k === 0) weight = ((t - 1) * (t - 2) * (t - 3)) / -6;
    if (k === 1) weight = (t * (t - 2) * (t - 3)) / 2;
    if (k === 2) weight = (t * (t - 1) * (t - 3)) / -2;
    return weight;
  },
});

/** The value after a date, given x = ln(S/growth) and the carried numbers; huge where these have no layer. */
const valueAfter = fn({
  name: "valueAfter",
  params: { date: Dated, own: Own, instance: i32, x: real, exactAt: i32 },
  env: { cubicWeight, ROW },
  body({ date, own, instance, x, exactAt }, gpu, { cubicWeight, ROW }) {
    const { count, nodes, groups, width, points, names, data, after } = date;
    let group = -1;
    for (let g = 0; g < groups; g++) {
      let isSame = true;
      for (let e = 0; e < width; e++) {
        const wanted = data[(exactAt + g * width + e) * count + instance];
        const tolerance = (gpu.precision === "f32" ? 1e-5 : 1e-9) * (1 + Math.abs(wanted));
        isSame = isSame && Math.abs(own.running[names[e]] - wanted) <= tolerance;
      }
      if (isSame) group = g;
    }
    const at = (x - data[ROW.start * count + instance]) / data[ROW.step * count + instance];
    const along = Math.min(Math.max(at, 0), gpu.real(nodes - 1));
    const node = Math.min(Math.max(gpu.i32(Math.floor(along)) - 1, 0), nodes - 4);
    const taps = points > 1 ? 4 : 1;
    let point = 0;
    let across = gpu.real(0);
    if (points > 1) {
      const number = own.running[names[width]] - data[ROW.axis * count + instance];
      across = Math.min(Math.max(number / data[ROW.axisStep * count + instance], 0), gpu.real(points - 1));
      point = Math.min(Math.max(gpu.i32(Math.floor(across)) - 1, 0), points - 4);
    }
    const layer = Math.max(group, 0) * points + point;
    let sum = gpu.real(0);
    for (let a = 0; a < taps; a++) {
      const weight = points > 1 ? cubicWeight(a, across - gpu.real(point)) : gpu.real(1);
      for (let b = 0; b < 4; b++) {
        const value = after[((node + b) * groups * points + layer + a) * count + instance];
        sum += weight * cubicWeight(b, along - gpu.real(node)) * value;
      }
    }
    if (group < 0) sum = gpu.precision === "f64" ? 1e300 : 1e30;
    return sum;
  },
});

/** The sizes of a program's data: carried numbers, those with the numbers of the data, those of a date. */
const sizesOf = ({ running, scalars, columns }: Program) => ({
  R: running,
  P: running + scalars.length,
  Q: columns.length,
});

/** The number of the first row that has the carried numbers of layers. */
export const layersAt = ({ running, scalars, columns }: Program): number =>
  HEADER + running + scalars.length + columns.length;

/** Private arrays with an instance's numbers of a date. */
const ownNumbers = (program: Program) =>
  fn({
    name: "ownNumbers",
    params: { date: Dated, instance: i32 },
    env: { ...sizesOf(program), HEADER },
    body({ date: { count, data }, instance }, gpu, { R, P, Q, HEADER }) {
      const p = gpu.privateReal(P + 1);
      const q = gpu.privateReal(Q + 1);
      const none = gpu.privateReal(1);
      for (let k = 0; k < P; k++) p[k] = data[(HEADER + k) * count + instance];
      for (let k = 0; k < Q; k++) q[k] = data[(HEADER + P + k) * count + instance];
      none[0] = 0;
      return { running: gpu.privateReal(R), spots: gpu.privateReal(1), p, q, none };
    },
  });

/** Runs a date on the carried numbers of a layer and the spot growth·eˣ − cash. */
const runDate = (program: Program) =>
  fn({
    name: "runDate",
    params: { date: Dated, own: Own, instance: i32, layer: i32, x: real },
    env: { ...sizesOf(program), HEADER, ROW, update: scriptUpdate(program) },
    body({ date: { count, data }, own, instance, layer, x }, gpu, { R, P, Q, HEADER, ROW, update }): undefined {
      const first = HEADER + P + Q + layer * R;
      for (let k = 0; k < R; k++) own.running[k] = data[(first + k) * count + instance];
      const lowest = Math.exp(data[ROW.start * count + instance]) * data[ROW.growth * count + instance];
      const spot = Math.exp(x) * data[ROW.growth * count + instance] - data[ROW.cash * count + instance];
      own.spots[0] = Math.max(spot, lowest);
      const t = gpu.real(0);
      const discount = data[ROW.discount * count + instance];
      update({
        running: own.running,
        spots: own.spots,
        p: own.p,
        q: own.q,
        logs: own.none,
        before: own.none,
        variances: own.none,
        uniforms: own.none,
        t,
        dt: t,
        date: 0,
        discount,
      });
    },
  });

/** The value before a date, discounted to today: what it pays, and what the trade is worth after it, unless it ends. */
const valueBefore = (program: Program) =>
  fn({
    name: "valueBefore",
    params: { date: Dated, own: Own, instance: i32, layer: i32, layers: i32, x: real },
    env: {
      R: program.running,
      RIGHT: program.rightAt ?? -1,
      FIRST: layersAt(program),
      ALIVE,
      PAID,
      ROW,
      runDate: runDate(program),
      valueAfter,
    },
    body({ date, own, instance, layer, layers, x }, _gpu, env) {
      const { ROW, PAID, RIGHT } = env;
      env.runDate({ date, own, instance, layer, x });
      let value = own.running[PAID];
      const exactAt = env.FIRST + layers * env.R;
      let then = x;
      if (date.data[ROW.cash * date.count + instance] !== 0)
        then = Math.log(own.spots[0] / date.data[ROW.growth * date.count + instance]);
      if (own.running[env.ALIVE] > 0.5) value += env.valueAfter({ date, own, instance, x: then, exactAt });
      if (RIGHT >= 0) {
        const stopped = own.running[RIGHT + 1];
        if (own.running[RIGHT] * (stopped - value) > 0) value = stopped;
      }
      return value;
    },
  });

const dated = {
  count: i32,
  nodes: i32,
  groups: i32,
  width: i32,
  points: i32,
  layers: i32,
  names: read(i32),
  data: read(real),
} as const;

/** The parts of a cell in each of which one place is found where a value jumps or bends, by so many halvings. */
const [PARTS, HALVINGS] = [2, 30];

/**
 * The kernels of a program. Of each work item the instance runs fastest, then the layer before the date.
 *
 * * `explore`: the carried numbers after the date at the points `xs`.
 * * `values`: the values before the date at the points `xs`, [point][instance].
 * * `kinks`: what is to be added to the values at both ends of each cell, [end][cell], so that a jump J and a change J′
 *   of the slope at a part θ of it keep mass and first moment: J·(⅜ − θ + ½θ², ⅛ − ½θ²), and J′h·(½(½ − θ)² − b, b)
 *   with b = 1/24 − θ/8 + θ³/6. What is left is O(h³). They are looked for where third differences are large.
 */
export const scriptKernels = memoize(
  (program: Program) => {
    const own = { own: ownNumbers(program) };
    const explore = kernel({
      name: "script-explore",
      params: { ...dated, xs: read(real), after: read(real), out: write(real) },
      env: { ...own, R: program.running, runDate: runDate(program) },
      body({ count, nodes, groups, width, points, layers, names, data, xs, after, out }, gpu, env): undefined {
        const item = gpu.globalId();
        const layer = ((item / count) | 0) % layers;
        const date = { count, nodes, groups, width, points, names, data, after };
        const instance = item % count;
        const own = env.own({ date, instance });
        const x = xs[((item / (count * layers)) | 0) * count + instance];
        env.runDate({ date, own, instance, layer, x });
        for (let k = 0; k < env.R; k++) out[item * env.R + k] = own.running[k];
      },
    });
    const values = kernel({
      name: "script-values",
      params: { ...dated, xs: read(real), after: read(real), out: write(real) },
      env: { ...own, valueBefore: valueBefore(program) },
      body({ count, nodes, groups, width, points, layers, names, data, xs, after, out }, gpu, env): undefined {
        const item = gpu.globalId();
        const layer = ((item / count) | 0) % layers;
        const date = { count, nodes, groups, width, points, names, data, after };
        const instance = item % count;
        const own = env.own({ date, instance });
        const x = xs[((item / (count * layers)) | 0) * count + instance];
        out[item] = env.valueBefore({ date, own, instance, layer, layers, x });
      },
    });
    const kinks = kernel({
      name: "script-kinks",
      params: { ...dated, after: read(real), threshold: real, given: read(real), out: write(real) },
      env: { ...own, valueBefore: valueBefore(program), ROW, HALVINGS, PARTS },
      body(
        { count, nodes, groups, width, points, layers, names, data, after, threshold, given, out },
        gpu,
        env,
      ): undefined {
        const item = gpu.globalId();
        const row = layers * count;
        const cell = (item / row) | 0;
        const ends = (nodes - 1) * row;
        out[item] = 0;
        out[ends + item] = 0;
        const first = Math.min(Math.max(cell - 1, 0), nodes - 4) * row + (item % row);
        const third = given[first] - 3 * given[first + row] + 3 * given[first + 2 * row] - given[first + 3 * row];
        if (Math.abs(third) <= threshold) return;
        const layer = ((item / count) | 0) % layers;
        const date = { count, nodes, groups, width, points, names, data, after };
        const instance = item % count;
        const own = env.own({ date, instance });
        const h = data[env.ROW.step * count + instance];
        const left = data[env.ROW.start * count + instance] + gpu.real(cell) * h;
        const end = gpu.i32(2 * env.HALVINGS);
        const sides = gpu.privateReal(4);
        let next = given[item];
        for (let part = 0; part < env.PARTS; part++) {
          let size = h / env.PARTS;
          let from = left + gpu.real(part) * size;
          let low = next;
          let high = given[item + row];
          let middle = gpu.real(0);
          let quarter = gpu.real(0);
          let bent = gpu.real(0);
          let smooth = 0;
          // One place runs the script, so that it is compiled once: at the end of the part, its middle, quarters, then
          // both sides of what was found, near it and twice as far, from which slopes come.
          let k = part < env.PARTS - 1 ? -1 : 0;
          while (k <= end + 4) {
            let x = from + (k < 0 ? 1 : k === 0 ? 0.5 : k % 2 === 0 ? 0.75 : 0.25) * size;
            if (k > end) x = from - (gpu.real(k - end) * h) / 128;
            if (k > end + 2) x = from + size + (gpu.real(k - end - 2) * h) / 128;
            const value = env.valueBefore({ date, own, instance, layer, layers, x });
            if (k < 0) {
              high = value;
              next = value;
            } else if (k > end) sides[k - end - 1] = value - (k > end + 2 ? high : low);
            else if (k === 0) {
              middle = value;
              bent = Math.abs(low - 2 * middle + high);
              if (bent <= threshold) k = end + 5;
            } else if (k % 2 === 1) quarter = value;
            else {
              const first = Math.abs(low - 2 * quarter + middle);
              const second = Math.abs(middle - 2 * value + high);
              const most = Math.max(first, second);
              size = 0.5 * size;
              if (most < 1e-3 * bent) {
                // It bends in the very middle.
                from = from + size;
                size = 0;
                low = middle;
                high = middle;
                k = end;
              } else if (first > second) {
                high = middle;
                middle = quarter;
              } else {
                from = from + size;
                low = middle;
                middle = value;
              }
              // What is smooth bends by a quarter in half the width.
              smooth = most < 0.35 * bent ? smooth + 1 : 0;
              if (smooth === 3 && size > 0) k = end + 5;
              bent = most;
            }
            k++;
          }
          // The value may jump beside it, too: twice as far it then has not changed twice as much.
          let bend = 128 * (sides[2] + sides[0]);
          for (let side = 0; side < 4; side += 2)
            if (Math.abs(sides[side]) > threshold && Math.abs(sides[side + 1]) < 1.5 * Math.abs(sides[side])) bend = 0;
          const jump = high - low;
          const at = (from + 0.5 * size - left) / h;
          const rest = 1 / 24 - at / 8 + (at * at * at) / 6;
          if (k === end + 5) {
            out[item] += jump * (0.375 - at + 0.5 * at * at) + bend * (0.5 * (0.5 - at) * (0.5 - at) - rest);
            out[ends + item] += jump * (0.125 - 0.5 * at * at) + bend * rest;
          }
        }
      },
    });
    return { explore, values, kinks };
  },
  256,
  ({ key }) => key,
);
