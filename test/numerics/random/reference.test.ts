/** Every case of test/fixtures/reference/rng.json: integers bit for bit, reals to the case's tolerance. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { fn, kernel, read, real, write } from "../../../src/kernel/index.ts";
import { jumpOf } from "../../../src/numerics/random/generators/skip.ts";
import { drand48Jumps } from "../../../src/numerics/random/generators/drand48.ts";
import {
  MARSAGLIA_XORWOW,
  mrg32k3aUniform,
  mrg32k3aUniform53,
  philox4x32,
  randomNumbers,
  randomSpec,
  skipAhead,
  sobolNext,
  sobolStart,
  sobolTable,
} from "../../../src/numerics/random/index.ts";
import { readFixture } from "../../support/fixtures.ts";
import { stepped, take } from "./support.ts";

interface Case {
  readonly id: string;
  readonly product: string;
  readonly params: Record<string, never>;
  readonly expected: Record<string, never>;
  readonly tolerance: { readonly abs: number; readonly rel: number };
}

const { cases } = readFixture("reference/rng.json") as { readonly cases: readonly Case[] };
const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const toBigint = ([low, high]: readonly number[]): bigint => (BigInt(high) << 32n) | BigInt(low);
const toWords = (state: bigint): number[] => [Number(state & 0xffffffffn), Number(state >> 32n)];

function close(got: readonly number[], expected: readonly number[], { abs, rel }: Case["tolerance"]): void {
  expect(got.length).toBe(expected.length);
  got.forEach((x, i) => expect(Math.abs(x - expected[i])).toBeLessThanOrEqual(abs + rel * Math.abs(expected[i])));
}

type Check = (params: never, expected: never, tolerance: Case["tolerance"]) => void | Promise<void>;

const CHECKS: Readonly<Record<string, Check>> = {
  async drand48_sequence(
    { seed, skip, count }: { seed: number; skip: number; count: number },
    { states_48bit: states, doubles }: { states_48bit: string[]; doubles: number[] },
  ) {
    const spec = randomSpec({ generator: "drand48", seed });
    const found = doubles.map((_, i) => toBigint(skipAhead("drand48", spec.state, skip + i + 1)));
    expect(found.map(String)).toEqual(states);
    // The bulk call adds half a unit of the 48th bit, which is exact.
    const numbers = await randomNumbers({ device, generator: "drand48", seed, offset: skip, count });
    expect([...numbers].map((u) => u - 2 ** -49)).toEqual(doubles);
  },
  drand48_skip_ahead(
    { stride, start_state: start }: { stride: number; start_state: string },
    { A, C, next_states_at_stride: next }: { A: string; C: string; next_states_at_stride: string[] },
  ) {
    const { a, c } = jumpOf(drand48Jumps, BigInt(stride));
    expect([String(a), String(c)]).toEqual([A, C]);
    const states = next.map((_, i) => skipAhead("drand48", toWords(BigInt(start)), stride * (i + 1)));
    expect(states.map((state) => String(toBigint(state)))).toEqual(next);
  },
  async mrg32k3a_sequence(
    { seed, skip, count }: { seed: number[]; skip: string; count: number },
    { state_after_skip: state, z, u }: { state_after_skip: number[]; z: number[]; u: number[] },
    tolerance,
  ) {
    expect(skipAhead("mrg32k3a", seed, BigInt(skip))).toEqual(state);
    const of = { generator: "mrg32k3a", seed, offset: BigInt(skip), count } as const;
    expect([...(await randomNumbers({ device, ...of, distribution: "bits" }))]).toEqual(z);
    close([...(await randomNumbers({ device, ...of, bits: 32 }))], u, tolerance);
  },
  async mrg32k3a_streams(
    { seed, stream }: { seed: number[]; stream: number },
    expected: { stream_state: number[]; first5_substream0: number[]; first5_substream4: number[] },
    tolerance,
  ) {
    expect(skipAhead("mrg32k3a", seed, BigInt(stream) << 127n)).toEqual(expected.stream_state);
    const of = { generator: "mrg32k3a", seed, firstStream: stream, bits: 32, count: 5 } as const;
    close([...(await randomNumbers({ ...of, device }))], expected.first5_substream0, tolerance);
    close([...(await randomNumbers({ device, ...of, offset: 4n << 76n }))], expected.first5_substream4, tolerance);
  },
  mrg32k3a_rngstreams_test_sum(_params, expected: { sum: number; sum_of_35_integers: number }, { abs }) {
    const { sum, integers } = rngStreamsTest();
    expect(integers).toBe(expected.sum_of_35_integers);
    expect(Math.abs(sum - expected.sum)).toBeLessThanOrEqual(abs);
  },
  async mrg32k3a_integer_sum(
    { seed, count }: { seed: number[]; count: number },
    { sum_z: sum, mean_u: mean }: { sum_z: string; mean_u: number },
  ) {
    const z = await randomNumbers({ device, generator: "mrg32k3a", seed, distribution: "bits", count });
    const total = Array.from(z).reduce((a, b) => a + b, 0); // below 2⁵³, hence exact
    expect(String(total)).toBe(sum);
    expect(total / count / 4294967088).toBe(mean);
  },
  async xorwow_marsaglia(
    { state, d, count }: { state: number[]; d: number; count: number },
    { outputs }: { outputs: number[] },
  ) {
    expect([...state, d]).toEqual(MARSAGLIA_XORWOW);
    const of = { generator: "xorwow", seed: MARSAGLIA_XORWOW, distribution: "bits", count } as const;
    expect([...(await randomNumbers({ ...of, device }))]).toEqual(outputs);
  },
  async xorwow_curand_host_order(
    { seed }: { seed: number },
    { outputs, uniform_float: uniforms }: { outputs: number[]; uniform_float: number[] },
  ) {
    const of = { generator: "xorwow", seed, streams: 10, order: "interleaved", count: 1 } as const;
    expect([...(await randomNumbers({ device, ...of, distribution: "bits" }))]).toEqual(outputs);
    const u = await randomNumbers({ device, ...of, bits: 32 });
    u.forEach((x, i) => expect(Math.abs(x - uniforms[i])).toBeLessThan(5.1e-10)); // printed to nine digits
  },
  async xorwow_curand(
    of: { seed: string; subsequence: number; offset: number; count: number },
    { state_v: v, state_d: d, outputs }: { state_v: number[]; state_d: number; outputs: number[] },
  ) {
    const seed = BigInt(of.seed);
    const { state } = randomSpec({ generator: "xorwow", seed });
    expect(skipAhead("xorwow", state, (BigInt(of.subsequence) << 67n) + BigInt(of.offset))).toEqual([...v, d]);
    const { subsequence: firstStream, offset, count } = of;
    const found = await randomNumbers({
      device,
      generator: "xorwow",
      distribution: "bits",
      seed,
      firstStream,
      offset,
      count,
    });
    expect([...found]).toEqual(outputs);
  },
  philox4x32_10({ counter, key }: { counter: number[]; key: number[] }, { outputs }: { outputs: number[] }) {
    const [x, y, z, w] = counter;
    const block = philox4x32({ counter: { x, y, z, w }, key: { x: key[0], y: key[1] } });
    expect([block.x, block.y, block.z, block.w]).toEqual(outputs);
  },
  async sobol_joe_kuo_points(
    of: { dimension: number; first_index: number; count: number },
    { integers }: { integers: number[][] },
  ) {
    const { dimension: streams, first_index: offset, count } = of;
    const found = await randomNumbers({
      device,
      generator: "sobol",
      scramble: "none",
      distribution: "bits",
      order: "interleaved",
      streams,
      offset,
      count,
    });
    expect([...found]).toEqual(integers.flat());
    const table = await sobolTable({ dimensions: streams, offset });
    for (let d = 0; d < streams; d++)
      for (let [i, state] = [0, sobolStart({ table, stream: d, part: 0 })]; i < count; i++) {
        expect(state.word).toBe(integers[i][d]);
        state = sobolNext({ state, table });
      }
  },
  async inverse_normal_cdf({ p }: { p: number[] }, { x }: { x: number[] }, tolerance) {
    const quantile = fn({ params: [real], body: ([u], gpu) => gpu.inverseNormalCdf(u) });
    const quantiles = kernel({
      params: { p: read(real), x: write(real) },
      env: { quantile },
      body({ p, x }, gpu, { quantile }) {
        x[gpu.globalId()] = quantile(p[gpu.globalId()]);
      },
    });
    const compiled = await device.compile(quantiles, { precision: "f64" });
    using from = device.createBuffer("f64", p.length);
    using to = device.createBuffer("f64", p.length);
    device.write(from, Float64Array.from(p));
    device.launch(compiled, { p: from, x: to }, { items: p.length });
    close([...(await device.read(to))], x, tolerance);
  },
  async pi_estimator_standard_deviation(
    { points }: { points: number },
    { standard_deviation: sd, mean }: { standard_deviation: number; mean: number },
  ) {
    // π from as many points as a test may take, three generators: the error in units of the case's standard deviation.
    const count = 500_000;
    for (const generator of ["drand48", "mrg32k3a", "xorwow"] as const) {
      const u = await randomNumbers({ device, generator, seed: 1, bits: 32, count: 2 * count });
      let inside = 0;
      for (let k = 0; k < u.length; k += 2) if (u[k] ** 2 + u[k + 1] ** 2 <= 1) inside++;
      expect(Math.abs((4 * inside) / count - mean)).toBeLessThan(3 * sd * Math.sqrt(points / count));
    }
  },
};

test.each(cases.map((one) => [`${one.id} ${one.product}`, one] as const))("%s", async (_, one) => {
  await CHECKS[one.product](one.params as never, one.expected as never, one.tolerance);
});

test("no product of the fixture is left out", () => {
  expect([...new Set(cases.map(({ product }) => product))].filter((product) => !(product in CHECKS))).toEqual([]);
});

/**
 * The procedure of RngStreams' own test program, which prints 39.697547445251 (L'Ecuyer, Simard, Chen & Kelton 2002):
 * streams 2¹²⁷ apart, substreams 2⁷⁶, antithetic numbers, numbers of two outputs, jumps ahead and back.
 */
function rngStreamsTest(): { readonly sum: number; readonly integers: number } {
  const streams = (seed: number): Stream[] =>
    [0n, 1n, 2n, 3n].map((k) => new Stream(skipAhead("mrg32k3a", new Array<number>(6).fill(seed), k << 127n)));
  const [g1, g2, g3] = streams(12345);
  let sum = g2.next() + g3.next();
  const add = (count: number, one: Stream): number => {
    let total = 0;
    for (let i = 0; i < count; i++) total += one.next();
    return total;
  };
  g1.jump(2n ** 5n + 3n);
  sum += g1.next();
  g1.restart();
  for (let i = 0; i < 35; i++) g1.jump(1n);
  sum += g1.next();
  g1.restart();
  let integers = 0;
  for (let i = 0; i < 35; i++) integers += 1 + Math.floor(g1.next() * 10);
  sum += integers / 100;
  sum += add(100, g3) / 10;
  g3.restart();
  sum += add(5, g3);
  for (let i = 0; i < 4; i++) g3.nextSubstream();
  sum += add(5, g3);
  g3.restartSubstream();
  sum += add(5, g3);
  g2.nextSubstream();
  sum += add(100_000, g2) / 10_000;
  g3.antithetic = true;
  sum += add(100_000, g3) / 10_000;
  const four = streams(1);
  for (const one of four) sum += one.next();
  four[2].jump(-(2n ** 127n));
  sum += four[2].next();
  four[2].nextSubstream();
  four[2].long = true;
  sum += add(100_000, four[2]) / 10_000;
  four[2].antithetic = true;
  sum += add(100_000, four[2]) / 10_000;
  four[2].antithetic = false;
  four[2].long = false;
  for (const one of four) sum += one.next();
  return { sum, integers };
}

class Stream {
  antithetic = false;
  long = false;
  readonly #start: readonly number[];
  #substream: readonly number[];
  #state: readonly number[];
  #words: Generator<number, never>;

  constructor(start: readonly number[]) {
    this.#start = start;
    this.#substream = start;
    this.#state = start;
    this.#words = stepped("mrg32k3a", start);
  }

  /** Numbers since the state that is known. */
  #drawn = 0;

  next(): number {
    const count = this.long ? 2 : 1;
    this.#drawn += count;
    const [first, second] = take(this.#words, count);
    if (!this.long) return this.antithetic ? 1 - mrg32k3aUniform(first) : mrg32k3aUniform(first);
    if (!this.antithetic) return mrg32k3aUniform53(first, second);
    const u = 1 - mrg32k3aUniform(first) - mrg32k3aUniform(second) * 2 ** -24;
    return u < 0 ? u + 1 : u;
  }

  jump(steps: bigint): void {
    this.#go(skipAhead("mrg32k3a", this.#state, BigInt(this.#drawn) + steps));
  }

  restart(): void {
    this.#substream = this.#start;
    this.#go(this.#start);
  }

  restartSubstream(): void {
    this.#go(this.#substream);
  }

  nextSubstream(): void {
    this.#substream = skipAhead("mrg32k3a", this.#substream, 2n ** 76n);
    this.#go(this.#substream);
  }

  #go(state: readonly number[]): void {
    this.#state = state;
    this.#drawn = 0;
    this.#words = stepped("mrg32k3a", state);
  }
}

describe("known answers", () => {
  test("Random123: philox4x32-10 of all ones", () => {
    // tests/kat_vectors of Random123, third line of philox4x32 10.
    const ones = 0xffffffff;
    const block = philox4x32({ counter: { x: ones, y: ones, z: ones, w: ones }, key: { x: ones, y: ones } });
    expect([block.x, block.y, block.z, block.w].map((word) => word.toString(16))).toEqual([
      "408f276d",
      "41c83b0e",
      "a20bc7c6",
      "6d5451fd",
    ]);
  });
});

test("uniforms of two outputs of mrg32k3a are their sum modulo 1, also where it exceeds 1", () => {
  const m1 = 4294967087;
  for (const [z1, z2] of [
    [m1, m1],
    [m1, 300],
    [m1, 1],
    [m1 - 1, m1],
    [m1 - 200, m1],
    [1, m1],
    [12345, 67890],
  ]) {
    // In units of 1/((m₁ + 1)·2²⁴).
    const one = BigInt(m1 + 1) << 24n;
    const sum = ((BigInt(z1) << 24n) + BigInt(z2)) % one;
    const got = mrg32k3aUniform53(z1, z2);
    expect(got).toBeGreaterThan(0);
    expect(Math.abs(got - Number(sum) / Number(one))).toBeLessThan(2 ** -52);
  }
});
