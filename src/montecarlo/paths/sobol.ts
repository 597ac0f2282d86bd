/** Sobol' points in Owen's scramblings, and Brownian bridges over them: random numbers of all steps, in a buffer. */
import { i32, kernel, read, real, u32, write } from "../../kernel/index.ts";
import { normal32, owenScramble, philox4x32, sobolNext, sobolStart } from "../../numerics/random/index.ts";
import { uniformOf } from "./advance.ts";
import { memoize } from "../../base/memoize.ts";

/** The number of Sobol' points that a work item computes, in the order of the Gray code. */
export const POINTS = 64;

/**
 * Returns the kernel of scrambled Sobol' points, with one work item for each dimension, group of `POINTS` points,
 * stream and scrambling, scramblings fastest. Each stream has scramblings of its own. The first dimensions are the
 * normal numbers in the order of the Brownian bridge: all factors of its first step before those of the next. The
 * uniform numbers follow. Normal numbers go to `normals`, [steps · factors, points · streams · scramblings], for the
 * bridge; uniform numbers go to where the steps of paths read them.
 *
 * Memory traffic: each number is written once.
 */
export const sobolKernel = memoize((factors: number, numbers: number, scramblings: number, isNormal: boolean) =>
  kernel({
    name: isNormal ? "sobolNormals" : "sobolUniforms",
    params: {
      seedLow: u32,
      seedHigh: u32,
      firstDimension: i32,
      parts: i32,
      points: i32,
      streamCount: i32,
      streams: read(u32),
      table: read(u32),
      out: write(real),
    },
    env: {
      philox4x32,
      sobolStart,
      sobolNext,
      owenScramble,
      numberOf: isNormal ? normal32 : uniformOf,
      NORMAL: isNormal,
      POINTS,
      R: scramblings,
      F: factors,
      D: numbers,
    },
    body({ seedLow, seedHigh, firstDimension, parts, points, streamCount, streams, table, out }, gpu, env): undefined {
      const { R, F, D, POINTS } = env;
      const item = gpu.globalId();
      const scrambling = item % R;
      const series = item % (R * streamCount);
      const rest = (item / (R * streamCount)) | 0;
      const part = rest % parts;
      const one = (rest / parts) | 0;
      const dimension = gpu.u32(firstDimension + one);
      const counter = { x: dimension, y: gpu.u32(scrambling), z: streams[(series / R) | 0], w: gpu.u32(1) };
      const seed = env.philox4x32({ counter, key: { x: seedLow, y: seedHigh } }).x;
      const row = env.NORMAL ? one : ((one / (D - F)) | 0) * D + F + (one % (D - F));
      const at = (row * points + part * POINTS) * R * streamCount + series;
      let state = env.sobolStart({ table, stream: dimension, part: gpu.u32(part) });
      for (let k = 0; k < POINTS; k++) {
        out[at + k * R * streamCount] = env.numberOf(env.owenScramble(state.word, seed));
        if (k < POINTS - 1) state = env.sobolNext({ state, table });
      }
    },
  }),
);

/**
 * Returns the kernel of the Brownian bridge, with one work item for each factor, point, stream and scrambling. It
 * constructs a Brownian path from the normal numbers, and writes its increments, divided by the root of their time, to
 * where the steps of paths read them.
 *
 * Memory traffic: each number is read and written twice.
 */
export const bridgeKernel = memoize((factors: number, numbers: number) =>
  kernel({
    name: "bridgedNormals",
    params: {
      steps: i32,
      stride: i32,
      places: read(i32),
      weights: read(real),
      roots: read(real),
      normals: read(real),
      out: write(real),
    },
    env: { F: factors, D: numbers },
    body({ steps, stride, places, weights, roots, normals, out }, gpu, { F, D }): undefined {
      const id = gpu.globalId();
      const factor = F === 1 ? 0 : (id / stride) | 0;
      const one = F === 1 ? id : id % stride;
      const from = factor * stride + one;
      // As `bridgePath` of feynkac/random, but that normals and path have their own strides.
      out[from + places[0] * D * stride] = weights[2] * normals[from];
      for (let i = 1; i < steps; i++) {
        const left = weights[3 * i] * out[from + places[3 * i + 1] * D * stride];
        const right = weights[3 * i + 1] * out[from + places[3 * i + 2] * D * stride];
        out[from + places[3 * i] * D * stride] = left + right + weights[3 * i + 2] * normals[from + i * F * stride];
      }
      for (let n = steps - 1; n > 0; n--)
        out[from + n * D * stride] = (out[from + n * D * stride] - out[from + (n - 1) * D * stride]) * roots[n];
      out[from] = out[from] * roots[0];
    },
  }),
);
