/** Paths that follow an exercise rule, for the martingale that bounds all rules. */
import { i32, kernel, read, real, u32, write } from "../../kernel/index.ts";
import { beginFunction, pathFunction, payoffAtPathEnd } from "../paths/advance.ts";
import { advanceFunction } from "../paths/sample.ts";
import { memoize } from "../../base/memoize.ts";
import { rowsOf } from "../paths/shape.ts";
import { continuationFunction, stoppingKey, type StoppingShape } from "./rule.ts";

/** The environment that all kernels of this file are compiled with. */
const environment = (shape: StoppingShape) => ({
  newPath: pathFunction(shape),
  begin: beginFunction(shape),
  advance: advanceFunction(shape),
  continuation: continuationFunction(shape.basis),
  payoff: payoffAtPathEnd(shape.product.payoff),
  S: rowsOf(shape).state,
  R: shape.product.running,
});

/** The number of reals of an outer path at a date besides its states: the payoff, and whether the rule exercises. */
export const OUTER_NUMBERS = 2;

const makeOuter = (shape: StoppingShape) =>
  kernel({
    name: "outerPaths",
    params: {
      seedLow: u32,
      seedHigh: u32,
      dates: i32,
      paths: i32,
      instances: i32,
      table: read(real),
      streams: read(u32),
      betas: read(real),
      scales: read(real),
      none: read(real),
      outer: write(real),
    },
    env: environment(shape),
    body(
      { seedLow, seedHigh, dates, paths, instances, table, streams, betas, scales, none, outer },
      gpu,
      env,
    ): undefined {
      const { S, R } = env;
      const item = gpu.globalId();
      const instance = item % instances;
      const row = paths * instances;
      const path = env.newPath();
      const scores = gpu.privateReal(1);
      const batch = { table, columns: instances, column: instance };
      const draws = {
        seedLow,
        seedHigh,
        stream: streams[instance],
        purpose: gpu.u32(2),
        path: gpu.u32((item / instances) | 0),
        isReflected: false,
        points: none,
        pointAt: 0,
        pointStride: 1,
      };
      env.begin({ batch, path });
      for (let date = 0; date < dates; date++) {
        const end = env.advance({ batch, draws, path, date, isFirst: date === 0, scores, initial: none });
        const paid = end.discount * env.payoff({ path, end });
        const continued = env.continuation({ rule: { betas, scales, instances, instance, date }, path, payoff: paid });
        const at = date * (S + R + 2) * row + item;
        for (let j = 0; j < S; j++) outer[at + j * row] = path.state[j];
        for (let j = 0; j < R; j++) outer[at + (S + j) * row] = path.running[j];
        outer[at + (S + R) * row] = paid;
        outer[at + (S + R + 1) * row] = date === dates - 1 || (paid > 0 && paid >= continued) ? 1 : 0;
      }
    },
  });

/**
 * Returns the kernel that simulates outer paths, with one work item for each path and instance. It writes the state,
 * the running state, the discounted payoff and the decision of the exercise rule at each date, [dates, numbers, paths,
 * instances].
 */
export const outerPathsKernel = memoize(makeOuter, 64, stoppingKey);

const makeInner = (shape: StoppingShape) =>
  kernel({
    name: "innerPaths",
    params: {
      seedLow: u32,
      seedHigh: u32,
      dates: i32,
      firstItem: i32,
      paths: i32,
      inner: i32,
      instances: i32,
      table: read(real),
      streams: read(u32),
      betas: read(real),
      scales: read(real),
      outer: read(real),
      continued: write(real),
    },
    env: { ...environment(shape), observe: shape.model.observe },
    body(args, gpu, env): undefined {
      const { S, R } = env;
      const { paths, instances, table, dates, betas, scales, outer } = args;
      const item = args.firstItem + gpu.globalId();
      const instance = item % instances;
      const row = paths * instances;
      const start = (item / row) | 0;
      const at = start * (S + R + 2) * row + (item % row);
      const path = env.newPath();
      const scores = gpu.privateReal(1);
      const batch = { table, columns: instances, column: instance };
      env.begin({ batch, path });
      let mean = gpu.real(0);
      for (let k = 0; k < args.inner; k++) {
        for (let j = 0; j < S; j++) path.state[j] = outer[at + j * row];
        for (let j = 0; j < R; j++) path.running[j] = outer[at + (S + j) * row];
        env.observe({ state: path.state, spots: path.spots });
        const draws = {
          seedLow: args.seedLow,
          seedHigh: args.seedHigh,
          stream: args.streams[instance],
          // A purpose of its own for each date and outer path.
          purpose: gpu.u32(3 + ((item / instances) | 0)),
          path: gpu.u32(k),
          isReflected: false,
          points: outer,
          pointAt: 0,
          pointStride: 1,
        };
        let earned = gpu.real(0);
        let isAlive = true;
        // All dates, so that work items keep step; those before the start do nothing.
        for (let date = 1; date < dates; date++)
          if (isAlive && date > start) {
            const end = env.advance({ batch, draws, path, date, isFirst: date === start + 1, scores, initial: outer });
            const paid = end.discount * env.payoff({ path, end });
            if (date === dates - 1 || paid > 0) {
              const value = env.continuation({
                rule: { betas, scales, instances, instance, date },
                path,
                payoff: paid,
              });
              if (date === dates - 1 || paid >= value) {
                earned = paid;
                isAlive = false;
              }
            }
          }
        mean += (earned - mean) / gpu.real(k + 1);
      }
      args.continued[item] = mean;
    },
  });

/**
 * Returns the kernel that simulates inner paths, with one work item for each outer path, instance, and date but the
 * last. It writes the mean payoff under the exercise rule after that date over `inner` paths that begin there, [dates −
 * 1, paths, instances].
 */
export const innerPathsKernel = memoize(makeInner, 64, stoppingKey);
