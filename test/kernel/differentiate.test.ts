/**
 * Derivatives of kernel functions: forward and reverse mode against each other and against differences in 50 digits,
 * over random functions; by rule where functions declare a derivative; of derivatives; on devices; what is refused.
 */
import { describe, expect, test } from "vitest";
import { openDevice } from "../../src/device/index.ts";
import {
  fn,
  functionFromSource,
  type FunctionSpec,
  gradient,
  i32,
  type Kernel,
  kernel,
  type KernelFunction,
  lower,
  read,
  real,
  record,
  codeKeyOf,
  specificationText,
  tangent,
  userFunction,
  write,
} from "../../src/kernel/index.ts";
import { counted } from "../support/extent.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";
import { exactSlope, randomFunction } from "./differentiate-random.ts";

const COUNT = counted("FEYNKAC_FUZZ", 11, 10_000);

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

const zero = { value: 0, d: { x0: 0 } };
const one = { value: 0, d: { x0: 1 } };

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

test("random functions on arrays that they change in place: adjoints and tangents", () => {
  for (let seed = 1; seed <= COUNT; seed += 5) {
    const random = randomFunction(seed);
    const step = fn({
      params: { u: write(real), c: read(real), at: i32 },
      env: { f: random.f },
      body({ u, c, at }, gpu, { f }) {
        const kept = gpu.privateReal(3);
        for (let i = 0; i < 3; i++) kept[i] = 0.1;
        let k = at;
        for (let i = 0; i < 34; i++) {
          const one = f(u[0], u[1], c[k]);
          kept[i % 3] = i < 33 ? one.a : 0.5;
          u[2] = Math.sin(u[2] * kept[(i + 1) % 3] + one.b);
          if (u[2] > c[i % 3]) u[k] = u[2] * 0.3;
          else u[(k + 1) % 3] = Math.cos(kept[i % 3]);
          k = (k + 2) % 3;
        }
        k = 0;
        return u[0] * kept[2];
      },
    });
    const names = ["u0", "u1", "u2", "c0", "c1", "c2"] as const;
    const forward = tangent(step, { of: ["u", "c"], directions: names });
    const along = (name: string, of: string) =>
      Float64Array.from({ length: 3 }, (_, k) => (name === `${of}${k}` ? 1 : 0));
    const moves = Object.fromEntries(names.map((name) => [name, { u: along(name, "u"), c: along(name, "c") }]));
    const start = [0.37, -0.61 + (seed % 5) * 0.13, 0.8];
    const c = Float64Array.of(0.21, 1.13 - (seed % 11) * 0.07, -0.4);
    const { value, d } = forward({ u: Float64Array.from(start), c, at: 1, ...moves } as never);
    const adjoints = { u: Float64Array.of(0.7, -1.1, 0.4), c: Float64Array.of(5, 0, 0) };
    const back = gradient(step, { of: ["u", "c"] })({ u: Float64Array.from(start), c, at: 1, adjoints });
    expect(back.value).toBe(value);
    const found = [...adjoints.u, adjoints.c[0] - 5, adjoints.c[1], adjoints.c[2]];
    names.forEach((name, k) => {
      const [x, y, z] = moves[name].u;
      const exact = d[name] + 0.7 * x - 1.1 * y + 0.4 * z;
      // Slopes multiply up over 34 rounds, with the rounding of each.
      expect(Math.abs(found[k] - exact), `${name} of\n${random.source}`).toBeLessThan(
        1e-10 * Math.max(1, Math.abs(exact)),
      );
    });
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

  // Where a change is zero, its own derivative need not be.
  test.each<[string, KernelFunction<readonly [typeof real], number>, number]>([
    ["√(1 + x²)", fn({ params: [real], body: ([x]) => Math.sqrt(1 + x * x) }), 1],
    ["exp(x²)", fn({ params: [real], body: ([x]) => Math.exp(x * x) }), 2],
    ["cos² x", fn({ params: [real], body: ([x]) => Math.cos(x) * Math.cos(x) }), -2],
    ["1/(1 + x²)", fn({ params: [real], body: ([x]) => 1 / (1 + x * x) }), -2],
    ["N(x²)", fn({ params: [real], body: ([x], gpu) => gpu.normalCdf(x * x) }), Math.sqrt(2 / Math.PI)],
    ["x^p", fn({ params: [real], env: { p: 2.5 }, body: ([x], _gpu, { p }) => 3 + Math.abs(x) ** p * 2 + x ** 2 }), 2],
    ["x^y", fn({ params: [real], body: ([x]) => x ** (2 + Math.floor(x)) }), 2],
  ])("the second derivative of %s at a stationary point", (_, f, second) => {
    const [forward, back] = [tangent(f, { of: [0] }), gradient(f, { of: [0] })];
    const adjoint = { adjoint: { value: 0, d: { x0: 1 } } };
    expect(tangent(forward, { of: [0] })(0).d.x0.d.x0).toBeCloseTo(second, 14);
    expect(tangent(back, { of: [0] })(0).d.x0.d.x0).toBeCloseTo(second, 14);
    expect(gradient(forward, { of: [0] })(0, adjoint).d.x0).toBeCloseTo(second, 14);
    expect(gradient(back, { of: [0] })(0, adjoint).d.x0).toBeCloseTo(second, 14);
  });

  test("three levels, where the first two vanish", () => {
    const f = fn({ params: [real], body: ([x]) => Math.exp(x * x * x) });
    const second = tangent(gradient(f, { of: [0] }), { of: [0] });
    expect(tangent(second, { of: [0] })(0).d.x0.d.x0.d.x0).toBe(6);
    expect(gradient(second, { of: [0] })(0, { adjoint: { value: zero, d: { x0: one } } }).d.x0).toBe(6);
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
    const logistic = fn({ params: [real], body: ([x]) => 1 / (1 + Math.exp(-x)) });
    expect(Math.abs(tangent(logistic, { of: [0] })(-800).d.x0)).toBe(0);
    expect(Math.abs(gradient(logistic, { of: [0] })(-800).d.x0)).toBe(0);
    const power = fn({ params: [real, real], body: ([x, y]) => x ** y });
    expect(tangent(power, { of: [0, 1] })(0, 2).d).toEqual({ x0: 0, x1: 0 });
    // Far in the money, d₁ is infinite: the price is the forward's.
    expect(tangent(blackScholes, { of: ["S", "K"] })({ ...at, K: 0 }).d).toEqual({
      S: 1,
      K: expect.any(Number) as number,
    });
  });
});

describe("what is not chosen has no part in a derivative", () => {
  const slopes = (f: KernelFunction<readonly [typeof real], number>, x: number): readonly number[] => [
    tangent(f, { of: [0] })(x).d.x0,
    gradient(f, { of: [0] })(x).d.x0,
  ];

  test("where its slope is infinite", () => {
    expect(slopes(fn({ params: [real], body: ([x]) => (x === 0 ? 2 : 5 / x) + x }), 0)).toEqual([1, 1]);
    const bounded = fn({
      params: [real],
      body([x]) {
        const inverse = 1 / x;
        return Math.min(inverse, 5) + 2 * x;
      },
    });
    expect(slopes(bounded, 0)).toEqual([2, 2]);
  });

  test("where it reads beyond the end of an array, and what it chose by has changed since", () => {
    const read3 = fn({
      params: [real, i32, read(real)],
      body([x, n, u], gpu) {
        let k = n;
        let sum = 0;
        for (let i = 0; i < 40; i++) {
          sum += k < 3 ? (k > 1 ? Math.sqrt(u[k] * x) * u[k - 1] : u[k] * x * x) : x;
          k = (k + 5) & 7;
        }
        k = 9;
        return sum + u[0] * gpu.real(k);
      },
    });
    const u = Float64Array.of(2, 3, 5);
    const exact = 5 * ((3 * Math.sqrt(5 / 1.7)) / 2 + (2 + 3) * 2 * 1.7 + 5);
    expect(tangent(read3, { of: [0] })(1.7, 1, u).d.x0).toBeCloseTo(exact, 11);
    expect(gradient(read3, { of: [0] })(1.7, 1, u).d.x0).toBeCloseTo(exact, 11);
  });
});

test("a loop whose update depends on the inputs", () => {
  const f = fn({
    params: [real],
    body([x]) {
      let sum = 0;
      for (let i = 0, h = 1; i < 35; i++, h = h * x) sum += h;
      return sum;
    },
  });
  const exact = Array.from({ length: 35 }, (_, k) => k * 0.9 ** (k - 1)).reduce((total, term) => total + term);
  expect(tangent(f, { of: [0] })(0.9).d.x0).toBeCloseTo(exact, 10);
});

test("a variable that is reassigned in nested loops, on the way back", () => {
  const f = fn({
    params: [real],
    body([x]) {
      let power = x;
      let sum = 0;
      for (let k = 0; k < 35; k++)
        for (let i = 0; i < 40; i++) {
          power = power * x;
          sum += power;
        }
      return sum;
    },
  });
  const x = 0.995;
  const terms = Array.from({ length: 35 * 40 }, (_, k) => (k + 2) * x ** (k + 1));
  const exact = terms.reduce((total, term) => total + term);
  expect(gradient(f, { of: [0] })(x).d.x0 / exact).toBeCloseTo(1, 12);
});

test.each<[string, KernelFunction<readonly [typeof real], number>, number, number]>([
  ["remainder", fn({ params: [real], body: ([x]) => (7 + x) % (2 * x) }), 1.5, -3],
  ["ldexp", fn({ params: [real], body: ([x], gpu) => gpu.ldexp(x * x, 3) }), 2, 32],
  ["copysign", fn({ params: [real], body: ([x], gpu) => gpu.copysign(x, -2) }), 3, -1],
  ["significand", fn({ params: [real], body: ([x], gpu) => gpu.significand(x) }), 12, 0.125],
  ["reciprocal", fn({ params: [real], body: ([x], gpu) => gpu.reciprocal(x) }), 4, -0.0625],
  ["positivePart", fn({ params: [real], body: ([x], gpu) => gpu.positivePart(x) * x }), 3, 6],
  ["abs", fn({ params: [real], body: ([x]) => Math.abs(x) }), -3, -1],
  ["atan2 of its first argument", fn({ params: [real], body: ([x]) => Math.atan2(x, 2) }), 1, 0.4],
  ["atan2 of its second", fn({ params: [real], body: ([x]) => Math.atan2(2, x) }), 1, -0.4],
  ["the power 0", fn({ params: [real], body: ([x]) => x ** Math.floor(x) }), 0, 0],
])("the slope of %s, in both modes", (_, f, x, slope) => {
  expect(tangent(f, { of: [0] })(x).d.x0).toBeCloseTo(slope, 14);
  expect(gradient(f, { of: [0] })(x).d.x0).toBeCloseTo(slope, 14);
});

test("expressions do not double with each operation around them", () => {
  const around = (text: string): string => `Math.abs(gpu.copysign(Math.sqrt(1 + 1 / (1 + ${text})), 1))`;
  let text = "x";
  for (let k = 0; k < 14; k++) text = around(text);
  const source = `([x], gpu) => ${text}`;
  const f = functionFromSource({ name: "f", params: [real], source }) as KernelFunction<readonly [typeof real], number>;
  const [forward, back] = [tangent(f, { of: [0] })(1).d.x0, gradient(f, { of: [0] })(1).d.x0];
  expect(forward).toBeGreaterThan(0);
  expect(back / forward).toBeCloseTo(1, 10);
  expect(tangent(tangent(f, { of: [0] }), { of: [0] })(1).d.x0.d.x0).toBeLessThan(0);
});

test("functions with derivatives share compiled code only if their derivatives are the same", () => {
  const of = (scale: number) => {
    const f = fn({ params: [real, real], env: { scale }, body: ([x, y], _gpu, { scale }) => scale * x * x * y });
    const rule = fn({ params: [real, real], env: { scale }, body: ([x], _gpu, { scale }) => scale * x });
    const ruled = fn({ params: [real], body: ([x]) => x, derivative: [rule] });
    const inner = [tangent(f, { of: [0] }), tangent(f, { of: [1] }), tangent(f, { of: [0, 1] }), ruled];
    return [...inner, gradient(f, { of: [0] }), tangent(f, { of: [0], directions: ["up"] })];
  };
  const functions = [...of(1), ...of(2)];
  const calling = (f: FunctionSpec): Kernel =>
    kernel({ params: { out: write(real) }, env: { f }, body: ({ out }) => void (out[0] = 1) });
  expect(new Set(functions.map(codeKeyOf)).size).toBe(functions.length);
  expect(new Set(functions.map((f) => specificationText(calling(f)))).size).toBe(functions.length);
  expect(of(1).map(codeKeyOf)).toEqual(functions.slice(0, 6).map(codeKeyOf));
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

  test("a rule's own rule, in a loop, by an argument that the rule's body does not use", () => {
    const second = fn({ params: [real, real, real], body: ([x]) => 3 * x });
    const none = fn({ params: [real, real, real], body: () => 0 });
    const first = fn({ params: [real, real], body: () => 2, derivative: [second, none] });
    const f = fn({ params: [real], body: ([x]) => 2 * x, derivative: [first] });
    const looped = fn({
      params: [real],
      env: { f },
      body([x], _gpu, { f }) {
        let step = x;
        let sum = 0;
        for (let i = 0; i < 40; i++) {
          sum += f(step);
          step *= 0.5;
        }
        return sum;
      },
    });
    const exact = (3 * 0.7) / (1 - 0.125); // Σ 3·s·(ds/dx)² with s = x/2ᵏ
    expect(tangent(tangent(looped, { of: [0] }), { of: [0] })(0.7).d.x0.d.x0).toBeCloseTo(exact, 12);
    expect(tangent(gradient(looped, { of: [0] }), { of: [0] })(0.7).d.x0.d.x0).toBeCloseTo(exact, 12);
  });

  test("a user's plain function, by the names of its arguments", () => {
    const plain = userFunction(["S", "t"], ({ S, t }) => S * S * t);
    expect(tangent(plain, { of: ["S"] })(3, 2).d).toEqual({ S: 12 });
    expect(gradient(plain, { of: ["t", "S"] })(3, 2).d).toEqual({ t: 9, S: 12 });
  });

  test("directions that are constants, in as many directions as there may be, and results that are not real", () => {
    const f = fn({ params: { x: real, n: i32 }, body: ({ x, n }) => ({ y: x * x, isUp: x > 1, inner: { n } }) });
    const moved = tangent(f, { of: ["x"], directions: ["up", "none"] });
    const outer = fn({
      params: [real],
      env: { moved },
      body([x], _gpu, { moved }) {
        const { value, d } = moved({ x, n: 7, up: { x: 3 }, none: { x: 0 } });
        return { isUp: value.isUp, n: value.inner.n, slope: d.up.y + d.none.y };
      },
    });
    expect(tangent(outer, { of: [0] })(2)).toEqual({ value: { isUp: true, n: 7, slope: 12 }, d: { x0: { slope: 6 } } });
    const names = Array.from({ length: 32 }, (_, k) => `d${k}`);
    const all = tangent(fn({ params: [real], body: ([x]) => x * x }), { of: [0], directions: names });
    const given = Object.fromEntries(names.map((name, k) => [name, { x0: k }]));
    expect(Object.values(all(3, given).d)).toEqual(names.map((_, k) => 6 * k));
    const tooMany = [...names, "d32"];
    expect(() => tangent(blackScholes, { of: ["S"], directions: tooMany })).toThrow("33 directions, at most 32");
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

test("tangents in parts of the same buffer, for loads and stores", () => {
  const scaled = fn({
    params: { u: write(real), i: i32 },
    body({ u, i }) {
      u[i + 1] = u[i] * u[i];
      return 3 * u[i + 1];
    },
  });
  const moved = tangent(scaled, { of: ["u"], directions: ["a", "b"] });
  const k = kernel({
    params: { u: write(real), n: i32, out: write(real) },
    env: { moved },
    body({ u, n, out }, gpu, { moved }) {
      const own = gpu.part(u, 1);
      const { value, d } = moved({ u: own, i: 0, a: { u: gpu.part(u, n) }, b: { u: gpu.part(u, 2 * n) } });
      out[0] = value;
      out[1] = d.a;
      out[2] = d.b;
      out[3] = gpu.real(gpu.part(u, n).length);
    },
  });
  const [u, out] = [Float64Array.of(9, 5, 9, 1, 0, 9, 2, 0, 9), new Float64Array(4)];
  interpret(lower(k, "f64"), { u, n: 3, out }, { items: 1 });
  expect([...out]).toEqual([75, 30, 60, 6]); // 3·u², 6·u·u̇
  expect([...u]).toEqual([9, 5, 25, 1, 10, 9, 2, 20, 9]);
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
    ["no input at all", () => gradient(found, { of: [] }), "name at least one"],
    ["no options", () => tangent(found, undefined as never), "expected options, { of: […], directions: […] }"],
    ["an unknown option", () => gradient(found, { of: ["x"], directions: [] } as never), "no option directions"],
    ["no list of inputs", () => tangent(found, { of: null as never }), "of: expected a list of names"],
    ["an input twice", () => tangent(found, { of: ["x", "x"] }), `"x" is named twice`],
    ["what is no kernel function", () => tangent(Math.sin as never, { of: ["x"] }), "declare it with fn({ … })"],
    [
      "a record with an integer",
      () => tangent(fn({ params: { r: record({ n: i32, a: real }) }, body: ({ r }) => r.a }), { of: ["r"] }),
      "has fields that are not real",
    ],
    ["a missing argument", () => tangent(found, { of: ["x"], directions: ["up"] })({ x: 1 } as never), "argument up.x"],
    [
      "an array for two inputs with two arrays of derivatives",
      () => {
        const product = fn({ params: [read(real), read(real)], body: ([u, v]) => u[0] * v[0] });
        const moved = tangent(product, { of: [0, 1], directions: ["up"] });
        const twice = fn({
          params: [read(real), read(real), read(real)],
          env: { moved },
          body: ([u, byU, byV], _gpu, { moved }) => moved(u, u, { up: { x0: byU, x1: byV } }).d.up,
        });
        lower(
          kernel({
            params: { u: read(real), v: read(real), w: read(real), out: write(real) },
            env: { twice },
            body: ({ u, v, w, out }, _gpu, { twice }) => void (out[0] = twice(u, v, w)),
          }),
          "f64",
        );
      },
      "two arrays of derivatives",
    ],
    [
      "a rule that gives an integer",
      () => {
        const rule = fn({ params: [real, real], body: ([x], gpu) => gpu.i32(x) });
        tangent(fn({ params: [real], body: ([x]) => x, derivative: [rule] }), { of: [0] })(2);
      },
      "expected real, got i32",
    ],
    ["a direction with a parameter's name", () => tangent(found, { of: ["x"], directions: ["x"] }), "rename it"],
    ["a store of what has no tangent array", () => tangent(sum, { of: ["x"] })(args), "name it in `of`, too"],
    [
      "a store of what has no adjoint array",
      () => gradient(sum, { of: ["x"] })(args),
      "the array out is given values that depend on the inputs",
    ],
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
