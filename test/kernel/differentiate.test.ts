/**
 * Derivatives of kernel functions: forward and reverse mode against each other and against differences in 50 digits,
 * over random functions; by rule where functions declare a derivative; of derivatives; on devices; what is refused.
 */
import { describe, expect, test } from "vitest";
import { openDevice } from "../../src/device/index.ts";
import { fn, gradient, i32, kernel, read, real, record, tangent, userFunction, write } from "../../src/kernel/index.ts";
import { counted } from "../support/extent.ts";
import { exactSlope, randomFunction } from "./differentiate-random.ts";

const COUNT = counted("FEYNKAC_FUZZ", 25, 10_000);

const blackScholes = fn({
  params: { S: real, K: real, sigma: real, r: real, t: real },
  body({ S, K, sigma, r, t }, gpu) {
    const s = sigma * Math.sqrt(t);
    const d1 = (Math.log(S / K) + (r + 0.5 * sigma ** 2) * t) / s;
    return S * gpu.normalCdf(d1) - K * Math.exp(-r * t) * gpu.normalCdf(d1 - s);
  },
});
const at = { S: 100, K: 95, sigma: 0.2, r: 0.03, t: 0.7 };
const closed = (() => {
  const { S, K, sigma, r, t } = at;
  const d1 = (Math.log(S / K) + (r + sigma ** 2 / 2) * t) / (sigma * Math.sqrt(t));
  const pdf = Math.exp((-d1 * d1) / 2) / Math.sqrt(2 * Math.PI);
  return { vega: S * pdf * Math.sqrt(t), gamma: pdf / (S * sigma * Math.sqrt(t)) };
})();

test("random functions: both modes, and differences in 50 digits", () => {
  for (let seed = 1; seed <= COUNT; seed++) {
    const random = randomFunction(seed);
    const x = [0.37 + (seed % 7) * 0.1, -0.61 + (seed % 5) * 0.13, 1.13 - (seed % 11) * 0.07] as [
      number,
      number,
      number,
    ];
    const forward = tangent(random.f, { of: [0, 1, 2] })(...x);
    const back = gradient(random.f, { of: [0, 1, 2] });
    const reverse = { a: back(...x, { adjoint: { a: 1, b: 0 } }), b: back(...x, { adjoint: { a: 0, b: 1 } }) };
    for (let k = 0; k < 3; k++) {
      const exact = exactSlope(random, x, k);
      for (const result of ["a", "b"] as const) {
        const scale = 1e-10 * Math.max(1, Math.abs(exact[result]));
        for (const slope of [forward.d[`x${k}`][result], reverse[result].d[`x${k}`]])
          expect(Math.abs(slope - exact[result]), `${result} by x${k} of\n${random.source}`).toBeLessThan(scale);
      }
    }
  }
});

describe("closed forms", () => {
  test("derivatives of derivatives, in both modes", () => {
    const delta = tangent(blackScholes, { of: ["S"] });
    const { value, d } = tangent(delta, { of: ["S", "sigma"] })(at);
    expect(d.S.d.S).toBeCloseTo(closed.gamma, 14);
    expect(d.sigma.value).toBeCloseTo(closed.vega, 11);
    const greeks = tangent(gradient(blackScholes, { of: ["S", "sigma"] }), { of: ["S"], directions: ["up"] });
    expect(greeks({ ...at, up: { S: 2 } }).d.up.d.S).toBeCloseTo(2 * closed.gamma, 13);
    expect(gradient(delta, { of: ["S"] })({ ...at, adjoint: { value: 0, d: { S: 1 } } }).d.S).toBeCloseTo(
      closed.gamma,
      14,
    );
    expect(value.d.S).toBeCloseTo(gradient(blackScholes, { of: ["S"] })(at).d.S, 14);
  });

  test("a step's tangents and adjoints go through a sequence of steps", () => {
    const State = record({ S: real, v: real });
    const step = fn({
      params: { state: State, kappa: real, z: real },
      body({ state: { S, v }, kappa, z }) {
        return { S: S * (1 + Math.sqrt(v) * z), v: v + kappa * (0.04 - v) };
      },
    });
    const forward = tangent(step, { of: ["state", "kappa"], directions: ["byKappa"] });
    const back = gradient(step, { of: ["state", "kappa"] });
    const z = [0.3, -0.2, 0.5, 0.1];
    let state = { S: 100, v: 0.09 };
    let moved = { S: 0, v: 0 };
    const states = [state];
    for (const one of z) {
      const { value, d } = forward({ state, kappa: 0.5, z: one, byKappa: { state: moved, kappa: 1 } });
      [state, moved] = [value, d.byKappa];
      states.push(state);
    }
    let adjoint = { S: 1, v: 0 };
    let kappa = 0;
    for (let k = z.length - 1; k >= 0; k--) {
      const { d } = back({ state: states[k], kappa: 0.5, z: z[k], adjoint });
      adjoint = d.state;
      kappa += d.kappa;
    }
    expect(kappa).toBeCloseTo(moved.S, 12);
    const run = (k: number): number => z.reduce((s, one) => step({ state: s, kappa: k, z: one }), states[0]).S;
    expect(moved.S).toBeCloseTo((run(0.5 + 1e-6) - run(0.5 - 1e-6)) / 2e-6, 6);
  });

  test("slopes at the edge of a function's domain are numbers where the value is smooth", () => {
    const truncated = fn({ params: [real], body: ([v]) => Math.sqrt(Math.max(v, 0)) * 2 + v });
    expect(tangent(truncated, { of: [0] })(-0.1).d.x0).toBe(1);
    expect(gradient(truncated, { of: [0] })(-0.1).d.x0).toBe(1);
    const power = fn({ params: [real, real], body: ([x, y]) => x ** y });
    expect(tangent(power, { of: [0, 1] })(0, 2).d).toEqual({ x0: 0, x1: 0 });
    // Far in the money, d₁ is infinite: the price is the forward's.
    expect(tangent(blackScholes, { of: ["S", "K"] })({ ...at, K: 0 }).d).toEqual({
      S: 1,
      K: expect.any(Number) as number,
    });
  });
});

describe("what is differentiated by rule", () => {
  test("a declared derivative takes the place of the body's", () => {
    // A table look-up: its own slope is zero everywhere.
    const rounded = fn({
      params: { x: real, n: i32 },
      body: ({ x }) => Math.floor(x * 1024) / 1024,
      derivative: { x: fn({ params: { x: real, n: i32, result: real }, body: ({ n }, gpu) => gpu.real(n) }) },
    });
    const outer = fn({
      params: [real],
      env: { rounded },
      body: ([x], _gpu, { rounded }) => rounded({ x: x * x, n: 3 }),
    });
    expect(tangent(outer, { of: [0] })(2).d.x0).toBe(12);
    expect(gradient(outer, { of: [0] })(2).d.x0).toBe(12);
  });

  test("a user's plain function, by the names of its arguments", () => {
    const plain = userFunction(["S", "t"], ({ S, t }) => S * S * t);
    expect(tangent(plain, { of: ["S"] })(3, 2).d).toEqual({ S: 12 });
    expect(gradient(plain, { of: ["t", "S"] })(3, 2).d).toEqual({ t: 9, S: 12 });
  });

  test("arrays move by arrays", () => {
    const smooth = fn({
      params: { x: real, u: write(real), n: i32 },
      body({ x, u, n }, gpu) {
        const kept = gpu.privateReal(4);
        for (let i = 0; i < n; i++) kept[i] = x * u[i];
        for (let i = 0; i < n; i++) u[i] = kept[n - 1 - i] ** 2;
        return u[0] + Math.floor(u[1]);
      },
    });
    const moved = tangent(smooth, { of: ["x", "u"], directions: ["a", "b"] });
    const u = Float64Array.of(1, 2, 3);
    const [byX, byU] = [new Float64Array(3), Float64Array.of(0, 0, 1)];
    const { value, d } = moved({ x: 2, u, n: 3, a: { x: 1, u: byX }, b: { x: 0, u: byU } });
    expect([value, ...u]).toEqual([36 + 16, 36, 16, 4]);
    expect([d.a, ...byX]).toEqual([36, 36, 16, 4]); // ∂(x·u)²/∂x = 2·x·u²
    expect([d.b, ...byU]).toEqual([24, 24, 0, 0]);
  });
});

test.each(["f64", "f32"] as const)(
  "on a device in %s: a kernel with the values and slopes of many points",
  async (precision) => {
    const of = ["S", "sigma"] as const;
    const [forward, back] = [tangent(blackScholes, { of }), gradient(blackScholes, { of })];
    const slopes = kernel({
      params: { S: read(real), out: write(real) },
      env: { forward, back },
      body({ S, out }, gpu, { forward, back }) {
        const i = gpu.globalId();
        const point = { S: S[i], K: 95, sigma: 0.2, r: 0.03, t: 0.7 };
        const a = forward(point);
        const b = back(point);
        out[4 * i] = a.d.S;
        out[4 * i + 1] = b.d.S;
        out[4 * i + 2] = a.d.sigma;
        out[4 * i + 3] = b.d.sigma;
      },
    });
    using device = await openDevice({ backend: "cpu", threads: 1 });
    const spots = Array.from({ length: 37 }, (_, k) => 60 + 2 * k);
    const [S, out] = [device.createBuffer(precision, 37), device.createBuffer(precision, 4 * 37)];
    device.write(S, precision === "f64" ? Float64Array.from(spots) : Float32Array.from(spots));
    device.launch(await device.compile(slopes, { precision }), { S, out }, { items: 37 });
    const got = await device.read(out);
    const tolerance = precision === "f64" ? 1e-12 : 2e-5;
    for (const [k, spot] of spots.entries()) {
      const { d } = back({ ...at, S: spot });
      for (const j of [0, 1]) expect(Math.abs(got[4 * k + j] - d.S)).toBeLessThan(tolerance);
      for (const j of [2, 3]) expect(Math.abs(got[4 * k + j] - d.sigma)).toBeLessThan(100 * tolerance);
    }
  },
);

describe("what is refused, with its place and remedy", () => {
  const sum = fn({
    params: { x: real, n: i32, flag: real, u: read(real), out: write(real) },
    body({ x, n, u, out }) {
      let total = 0;
      for (let i = 0; i < n; i++) total += x * u[i];
      out[0] = total;
      return total;
    },
  });
  const found = fn({
    params: { x: real },
    body({ x }) {
      let y = x;
      for (let i = 0; i < 50; i++) {
        y = y * x;
        if (y > 3) break;
      }
      return y;
    },
  });
  const args = { x: 1, n: 1, flag: 0, u: Float64Array.of(1), out: new Float64Array(1) };
  test.each([
    ["no such input", () => tangent(sum, { of: ["y" as "x"] }), "no parameter y; there are x, n, flag, u, out"],
    ["an integer", () => tangent(sum, { of: ["n"] }), "parameter n is not real"],
    ["an array without directions", () => tangent(sum, { of: ["u"] }), "use tangent(…) with directions"],
    ["no input at all", () => gradient(found, { of: [] }), "name at least one parameter"],
    ["a direction with a parameter's name", () => tangent(found, { of: ["x"], directions: ["x"] }), "rename it"],
    ["a store of what has no tangent array", () => tangent(sum, { of: ["x"] })(args), "name it in `of`, too"],
    ["a store, in reverse", () => gradient(sum, { of: ["x"] })(args), "use tangent(…)"],
    ["a loop that is left early, in reverse", () => gradient(found, { of: ["x"] })({ x: 1 }), "use tangent(…)"],
    [
      "a derivative of something else",
      () => fn({ params: [real], body: ([x]) => x, derivative: [fn({ params: [real], body: ([x]) => x })] }),
      "expected fn({ … }) of the function's arguments and then its result",
    ],
  ])("%s", (_, run, message) => {
    expect(run).toThrow(message);
  });
});
