// Everything of the package once, as a user's program: bundled and minified it must give the same numbers, to the bit.
import { explainBook, openDevice, parseBook, priceBook, solve } from "feynkac";
import { affineDividends } from "feynkac/fdm";
import { bool, fn, i32, kernel, read, real, record, u32, write } from "feynkac/kernel";
import * as linalg from "feynkac/linalg";
import * as montecarlo from "feynkac/montecarlo";
import * as quantization from "feynkac/quantization";
import * as random from "feynkac/random";
import * as sparsegrid from "feynkac/sparsegrid";

/** @returns what each part gave, by name: a part that fails is its error's message */
export async function cover(backend = "cpu") {
  const device = await openDevice({ backend });
  const results = {};
  for (const [group, parts] of Object.entries({
    ...books(),
    ...problems(),
    ...kernels(),
    ...algebra(),
    ...numbers(),
    ...trees(),
    ...paths(),
    ...grids(),
  }))
    for (const [name, run] of Object.entries(parts))
      results[`${group}: ${name}`] = await Promise.resolve(run(device)).catch((error) => `failed: ${error.message}`);
  device[Symbol.dispose]();
  return results;
}

// Books

const TRADE = { underlying: "A", payoff: "put", strike: 100, expiry: 0.5 };
const BARRIER = { type: "down-and-out", level: 80 };
const [LATER, LATEST] = ["2027-01-15", "2027-03-15"];

/** Trades by id, over TRADE. */
const TRADES = {
  european: {},
  american: { exercise: "american" },
  call: { payoff: "call", exercise: "american", underlying: "Paying" },
  bermudan: { exercise: [LATER, LATEST], expiry: "2027-05-20" },
  bermudanWithDividends: { exercise: [LATER, LATEST], underlying: "Paying" },
  dividends: { exercise: "american", underlying: "Paying" },
  digital: { payoff: { digital: "call", cash: 10 } },
  americanDigital: { payoff: { digital: "put", cash: 10 }, exercise: "american" },
  expression: { payoff: { expression: "S > 90 && S < 110 ? S - 90 : 0", kinks: [90, 110] }, strike: undefined },
  knockOut: { barriers: [BARRIER] },
  rebate: { barriers: [{ ...BARRIER, rebate: 2, rebateAt: "expiry" }], exercise: "american" },
  double: { barriers: [BARRIER, { type: "up-and-out", level: 130, rebate: 1 }], payoff: "call" },
  onDates: { barriers: [{ ...BARRIER, monitoring: [LATER, LATEST] }], underlying: "Paying" },
  window: { barriers: [{ ...BARRIER, from: LATER, to: LATEST }] },
  knockIn: { barriers: [{ type: "down-and-in", level: 85, rebate: 1 }] },
  americanKnockIn: { barriers: [{ type: "up-and-in", level: 115 }], exercise: "american" },
  knockInAndOut: {
    barriers: [
      { type: "down-and-in", level: 85 },
      { type: "up-and-out", level: 140 },
    ],
  },
  oneTouch: { payoff: { expression: "0" }, strike: undefined, barriers: [{ ...BARRIER, rebate: 10 }] },
  displaced: { volatility: { displaced: { sigma: 0.15, shift: 30 } }, exercise: "american" },
  cev: { volatility: { cev: { sigma: 2, beta: 0.5 } } },
  local: { volatility: { local: "S < 100 ? 0.2 + 0.1*exp(-S/100) : 0.25 - 0.02*t" }, exercise: "american" },
  termStructure: { underlying: "Curved", exercise: "american" },
  surface: { underlying: "Surface", exercise: "american" },
  surfaceKnockIn: { underlying: "Surface", barriers: [{ type: "down-and-in", level: 85 }] },
  today: { expiry: "2026-11-20T16:00:00Z" },
};

const UNDERLYING = { spot: 100, currency: "EUR", volatility: 0.2 };
const RATES = [
  { date: "2027-02-20", zero: 0.03 },
  { date: "2027-11-20", zero: 0.035 },
];
const MARKET = {
  rates: { EUR: 0.04, USD: RATES },
  underlyings: {
    A: UNDERLYING,
    Paying: {
      ...UNDERLYING,
      dividends: {
        yield: 0.01,
        discrete: [
          { date: LATER, cash: 2 },
          { date: LATEST, cash: 1, proportional: 0.01 },
        ],
      },
    },
    Curved: {
      ...UNDERLYING,
      currency: "USD",
      volatility: {
        termStructure: [
          { date: "2027-02-20", volatility: 0.2 },
          { date: "2027-11-20", volatility: 0.25 },
        ],
      },
    },
    Surface: {
      ...UNDERLYING,
      volatility: {
        surface: {
          times: [0, 1],
          spots: [80, 100, 120],
          volatility: [
            [0.3, 0.2, 0.18],
            [0.28, 0.22, 0.2],
          ],
        },
      },
    },
  },
};
const SCENARIOS = { time: [0, 0.1], spot: [-0.1, 0], volatility: [0, 0.02], rate: [0, 0.01] };

const bookOf = (trades, rest = {}) => {
  const listed = Object.entries(trades).map(([id, trade]) => ({ id, ...TRADE, ...trade }));
  return parseBook(JSON.stringify({ asOf: "2026-11-20T16:00:00Z", market: MARKET, trades: listed, ...rest }));
};

function books() {
  const { european, american, dividends, knockIn, local } = TRADES;
  const some = { european, american, dividends, knockIn, local };
  const later = { asOf: "2026-12-20T16:00:00Z", market: { ...MARKET, rates: { EUR: 0.041, USD: RATES } } };
  const dated = { american: { ...american, expiry: "2027-05-20" }, dividends: { ...dividends, expiry: "2027-05-20" } };
  return {
    trades: Object.fromEntries(
      Object.keys(TRADES).map((id) => [
        id,
        (device) => priced(bookOf({ [id]: TRADES[id] }), { device, accuracy: { relative: 1e-4 } }),
      ]),
    ),
    book: {
      together: (device) => priced(bookOf(TRADES), { device, accuracy: { relative: 1e-3 } }),
      scenarios: (device) => priced(bookOf(some, { scenarios: SCENARIOS }), { device, accuracy: { relative: 1e-3 } }),
      "in f32": (device) => priced(bookOf(some), { device, accuracy: { relative: 1e-3 }, precision: "f32" }),
      "by finite differences": (device) =>
        priced(bookOf(some), { device, accuracy: { relative: 1e-3 }, method: "fdm" }),
      explained: async (device) => (await explainBook(bookOf(dated), bookOf(dated, later), { device })).results,
    },
  };
}

async function priced(book, options) {
  const { results } = await priceBook(book, { greeks: "all", ...options });
  return results.map(({ id, status, value, delta, gamma, vega, theta, rho, errorEstimate, method, scenarios }) => {
    return { id, status, value, delta, gamma, vega, theta, rho, errorEstimate, method, scenarios };
  });
}

// Equations

const PUT = {
  axes: { S: { from: 0, to: 400, nodes: 101, points: ["K"] } },
  parameters: { K: 100, r: 0.05, sigma: [0.1, 0.2] },
  equation: ({ S, r, sigma }) => ({ SS: 0.5 * sigma ** 2 * S ** 2, S: r * S, V: -r }),
  terminal: ({ S, K }) => Math.max(K - S, 0),
  expiry: 1,
  steps: 40,
};
const payoff = ({ S, K }) => Math.max(K - S, 0);

/** Problems by name, over PUT. */
const PROBLEMS = {
  plain: {},
  log: { axes: { S: { from: 10, to: 400, coordinate: "log", nodes: 101 } } },
  penalty: { conditions: [{ kind: "exercise", payoff }] },
  "brennan-schwartz": { conditions: [{ kind: "exercise", method: "brennan-schwartz", payoff }] },
  "brennan-schwartz, high": {
    terminal: ({ S, K }) => Math.max(S - K, 0),
    conditions: [{ kind: "exercise", method: "brennan-schwartz", payoff: ({ S, K }) => Math.max(S - K, 0) }],
  },
  "operator-splitting": { conditions: [{ kind: "exercise", method: "operator-splitting", payoff }] },
  bermudan: { conditions: [{ kind: "exercise", payoff, at: [0.25, 0.5] }] },
  "knock-out": { conditions: [{ kind: "knock-out", below: 80, value: 1 }] },
  "knock-out in time": { conditions: [{ kind: "knock-out", above: ({ t }) => 120 + 10 * t, from: 0.2, until: 0.8 }] },
  dates: {
    conditions: [
      { kind: "knock-out", below: 80, above: "150", at: [0.5] },
      { kind: "jump", at: [0.3, 0.6], to: ({ S }) => Math.max(S - 3, 0) },
      { kind: "jump", at: [0.3], to: ({ S }) => (S > 100 ? 0.99 * S : S) },
    ],
  },
  "tr-bdf2, both": { scheme: { kind: "tr-bdf2" }, extrapolate: "both", errorEstimate: true },
  "implicit euler": { scheme: { kind: "implicit-euler" }, extrapolate: "time" },
  theta: { scheme: { kind: "theta", theta: 0.6 }, errorEstimate: true, grading: 4 },
  dirichlet: {
    boundaries: {
      S: {
        low: { kind: "dirichlet", value: ({ K, r, t }) => K * Math.exp(-r * (1 - t)) },
        high: { kind: "neumann", slope: 0 },
      },
    },
  },
  "neumann in time": {
    boundaries: {
      S: { low: { kind: "neumann", slope: ({ t }) => (t > 0.5 ? -1 : -0.9) }, high: { kind: "zero-curvature" } },
    },
  },
  f32: { precision: "f32" },
  formulas: { equation: { SS: "0.5*sigma^2*S^2", S: "r*S", V: "-r" }, terminal: "max(K - S, 0)" },
  central: {
    convection: "central",
    equation: ({ S, r, sigma, t }) => ({
      SS: 0.5 * (sigma * S) ** 2,
      S: t < 0.5 ? r * S : 0,
      V: -r,
      source: t > 0.5 ? 1 : 0,
    }),
  },
  // What minifiers rewrite most.
  ordinary: {
    equation: ({ S, r, sigma }) => {
      let high = false;
      if (S > 120) high = true;
      high = high || S < 20;
      const near = S > 90 && S < 110 ? 1 : 0;
      const far = high ? 0 : 1;
      let volatility = sigma;
      if (near) {
        volatility = volatility * 1.1;
      } else if (high) {
        volatility = volatility * 0.9;
      }
      if (S > 300) return { SS: 0.5 * sigma ** 2 * S ** 2, S: r * S, V: -r, source: 0 };
      return { SS: 0.5 * volatility ** 2 * S ** 2, S: r * S * (far ? 1 : 0.99), V: -r, source: high ? 0.01 : 0 };
    },
    terminal: ({ S, K }) => {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum = sum + Math.max(K + 1e1 * k - S, 0);
      let n = 0;
      while (n < 3) {
        sum += S > K ? 0.5 : 0;
        n++;
      }
      return S > K ? (sum > 1000 ? 1000 : sum) : sum;
    },
  },
};

function problems() {
  return {
    solve: Object.fromEntries(
      Object.entries(PROBLEMS).map(([name, problem]) => [name, (device) => solved({ ...PUT, ...problem }, device)]),
    ),
    affine: { put: (device) => solved(affineProblem(), device, 1) },
  };
}

function affineProblem() {
  const x = affineDividends({
    spot: 100,
    rate: 0.03,
    dividends: [
      { time: 0.25, cash: 2 },
      { time: 0.75, cash: 2, proportional: 0.01 },
    ],
  });
  return {
    axes: { x: { from: x.lowest, to: 4, nodes: 101, points: [x.coordinateAt(1, "K")] } },
    parameters: { K: [90, 100], r: 0.03 },
    equation: { xx: x.diffusion("0.2 + 0.1*exp(-S/100)"), V: "-r" },
    terminal: x.inSpot("max(K - S, 0)"),
    expiry: 1,
    steps: 40,
    conditions: [...x.dates(1, "K", "early"), { kind: "exercise", payoff: x.inSpot("max(K - S, 0)") }],
  };
}

async function solved(problem, device, at = 100) {
  const { entries } = await solve(problem, { device });
  return entries.map((entry) => {
    if (entry.error) throw entry.error;
    return [entry.at(at), [...entry.values], entry.warnings];
  });
}

// Kernels

const weigh = fn({
  name: "weigh",
  params: [read(real), i32],
  body([from, i]) {
    return i % 2 === 0 ? from[i] : 0.5 * from[i];
  },
});
const classify = fn({
  name: "classify",
  params: [real, bool],
  body([x, wide]) {
    if (x < 0) return { inside: 0, weight: 1 };
    if (x > 2 || (wide && x > 1)) return { inside: 1, weight: 0.5 };
    return { inside: 0, weight: 0 };
  },
});
const mixed = kernel({
  name: "mixed",
  params: { n: i32, wide: bool, u: read(real), v: read(real), out: write(real), counts: write(i32), words: write(u32) },
  env: { weigh, classify, LIMIT: 3, SHARP: true },
  body({ n, wide, u, v, out, counts, words }, gpu, { weigh, classify, LIMIT, SHARP }) {
    const i = gpu.globalId();
    if (i >= n) return;
    let x;
    if (i > LIMIT) x = weigh(u, i);
    else x = weigh(v, i);
    let found = false;
    for (let k = 0; k < 8; k++) {
      if (k === i % 5) continue;
      if (u[k] > x) found = true;
    }
    found = found || x > 1.5;
    const { inside, weight } = classify(x, wide);
    out[i] = (found ? 1 : 0) * x + inside * weight + (SHARP ? 2 ** -3 : 0);
    counts[i] = (((i / 3) | 0) & 3) + (found ? 1 : 0) + ((i & 1) !== 0 && wide ? 4 : 0);
    let hash = (i + 1) >>> 0;
    for (let k = 0; k < 3; k++) hash = (Math.imul(hash ^ (hash >>> 3), 0x9e3779b1) + k) >>> 0;
    words[i] = hash;
    if (x < 0) {
      out[i] = -1;
      return;
    }
    counts[i] = counts[i] + 1;
  },
});
const sums = kernel({
  name: "sums",
  params: { x: read(real), y: read(real), first: bool, count: i32, out: write(real) },
  groupSize: 64,
  *body({ x, y, first, count, out }, gpu) {
    const shared = gpu.sharedReal(64);
    const lane = gpu.localId();
    const i = gpu.globalId();
    shared[lane] = i < count ? (first ? x[i] : y[i]) : 0;
    yield;
    for (let width = 32; width > 0; width = width >> 1) {
      if (lane < width) shared[lane] += shared[lane + width];
      yield;
    }
    if (lane === 0) out[gpu.groupId()] = shared[0];
  },
});

const Ends = record({ low: real, high: real });

const readEnds = fn({
  name: "readEnds",
  params: { of: record({ x: read(real), i: i32 }), ends: Ends },
  body({ of, ends }) {
    if (of.x[of.i] > ends.high) return { low: ends.low, high: of.x[of.i] };
    return { low: Math.min(ends.low, of.x[of.i]), high: ends.high };
  },
});

const records = kernel({
  name: "records",
  params: { x: read(real), out: write(real) },
  env: { readEnds, absent: undefined },
  body({ x, out }, gpu, { readEnds, absent }) {
    const i = gpu.globalId();
    let ends = { low: x[i], high: x[i] };
    const first = ends;
    for (let k = 0; k < x.length; k++) ends = readEnds({ of: { x, i: k }, ends });
    const width = { value: ends.high - ends.low, of: first };
    if (absent === undefined) width.value += 1;
    if (i % 2 === 0) width.value *= 0.5;
    out[i] = width.value + width.of.low;
  },
});

function kernels() {
  const reals = (n, k) => Float64Array.from({ length: n }, (_, i) => ((i * k) % 17) / 5 - 0.6);
  return {
    kernel: {
      mixed: (device) =>
        launched(
          device,
          mixed,
          { n: 30, wide: true },
          {
            u: reals(30, 7),
            v: reals(30, 5),
            out: new Float64Array(30),
            counts: new Int32Array(30),
            words: new Uint32Array(30),
          },
          { items: 32 },
        ),
      sums: (device) =>
        launched(
          device,
          sums,
          { first: false, count: 100 },
          { x: reals(128, 3), y: reals(128, 11), out: new Float64Array(2) },
          { groups: 2 },
        ),
      records: (device) => launched(device, records, {}, { x: reals(19, 7), out: new Float64Array(19) }, { items: 19 }),
    },
  };
}

const ELEMENTS = { Float64Array: "f64", Float32Array: "f32", Int32Array: "i32", Uint32Array: "u32" };

/** What a launch leaves in its arrays. */
async function launched(device, spec, scalars, arrays, size) {
  const compiled = await device.compile(spec, { precision: "f64" });
  const buffers = {};
  for (const [name, values] of Object.entries(arrays)) {
    buffers[name] = device.createBuffer(ELEMENTS[Object.prototype.toString.call(values).slice(8, -1)], values.length);
    device.write(buffers[name], values);
  }
  device.launch(compiled, { ...scalars, ...buffers }, size);
  const results = {};
  for (const [name, buffer] of Object.entries(buffers)) {
    results[name] = [...(await device.read(buffer))];
    buffer[Symbol.dispose]();
  }
  return results;
}

// Random numbers

function numbers() {
  const range = { seed: 42, streams: 3, count: 101, offset: 5 };
  const generators = ["drand48", "mrg32k3a", "xorwow", "philox", "sobol"];
  const part = (generator, distribution) => async (device) => [
    ...(await random.randomNumbers({ device, ...range, generator, distribution })),
  ];
  const covariance = [
    [1, 0.6],
    [0.6, 1],
  ];
  return {
    random: {
      exports: () => Object.keys(random).length,
      ...Object.fromEntries(
        generators.flatMap((name) =>
          ["bits", "uniform", "normal"].map((kind) => [`${name} ${kind}`, part(name, kind)]),
        ),
      ),
      boxMuller: async (device) => [
        ...(await random.randomNumbers({
          device,
          ...range,
          generator: "philox",
          distribution: "normal",
          method: "box-muller",
        })),
      ],
      correlated: async (device) => {
        const normals = await random.CorrelatedNormals.create(device, { generator: "xorwow", seed: 1, covariance });
        const rows = [...(await normals.generate({ count: 9 }))];
        normals[Symbol.dispose]();
        return rows;
      },
      bridge: () => {
        const path = new Float64Array(3);
        const { places, weights } = random.bridgePlan([1, 2, 4]);
        const normals = Float64Array.of(1, -1, 0.5);
        random.bridgePath({ bridge: { steps: 3, places, weights }, normals, path, start: 0, stride: 1 });
        return [...path];
      },
      skipAhead: () => random.skipAhead("xorwow", random.MARSAGLIA_XORWOW, 2n ** 67n),
    },
  };
}

// Quantization

function trees() {
  const { meanRevertingFactors, NearestSearch, normalQuantizer, optimalStopping, QuantizationTree } = quantization;
  const times = [0, 0.5, 1];
  const line = meanRevertingFactors({ times, meanReversion: [0] });
  const plane = meanRevertingFactors({ times, meanReversion: [1, 2] });
  const step = fn({
    params: quantization.stepFunctionParams,
    body({ state, normals, parameters }) {
      state[0] = parameters[0] * state[0] + normals[0];
    },
  });
  const search = (method) => async (device) => {
    const { points } = await normalQuantizer({ size: 30, dimension: 2, cache: false });
    const found = await NearestSearch.create(device, { points, dimension: 2, method });
    const nearest = [...(await found.find(points.map((x) => 0.9 * x + 0.01)))];
    found[Symbol.dispose]();
    return nearest;
  };
  const rows = (settings) => async (device) => {
    const tree = await QuantizationTree.create(device, { size: 7, paths: 500, ...settings });
    const found = [...(await tree.transitions(1))];
    tree[Symbol.dispose]();
    return found;
  };
  return {
    quantization: {
      exports: () => Object.keys(quantization).length,
      line: () => [...quantization.optimalNormalLine(9).points],
      space: async (device) => [
        ...(await normalQuantizer({ size: 4, dimension: 3, device, samples: 500, cache: false })).points,
      ],
      ...Object.fromEntries(["bins", "kd-tree", "brute-force"].map((method) => [method, search(method)])),
      exact: rows({ chain: line }),
      ...Object.fromEntries(["serial", "paths", "layers"].map((by) => [by, rows({ chain: plane, transitions: by })])),
      stepped: rows({ chain: quantization.steppedChain({ times, initial: [1], step, parameters: [0.5] }) }),
      stopping: async (device) => {
        const tree = await QuantizationTree.create(device, { chain: line, size: 9 });
        const { value } = await optimalStopping(tree, { payoff: ([x], t) => x + t * t });
        const swing = await quantization.swingOption(tree, { payoff: ([x]) => x, global: [1, 1.5] });
        tree[Symbol.dispose]();
        return [value, swing.value];
      },
    },
  };
}

// Monte Carlo

function paths() {
  const { asian, basket, blackScholes, european, geometricBrownian, heston, hullWhite, localVolatility } = montecarlo;
  const { gaussianFactors, longstaffSchwartz, lookback, monteCarlo, pathProduct, productParams, withBarriers } =
    montecarlo;
  const spot = blackScholes({ spot: [90, 110], rate: 0.05, volatility: 0.2 });
  const call = european({ payoff: "call", strike: 100 });
  const price = (settings) => async (device) => {
    const { value, standardError, sensitivities } = await monteCarlo({
      device,
      dates: [0.5, 1],
      paths: 64,
      ...settings,
    });
    return [...value, ...standardError, ...Object.values(sensitivities).flatMap(({ value }) => [...value])];
  };
  const variance = { v0: 0.04, kappa: 1, theta: 0.05, sigma: 0.4, rho: -0.5 };
  const two = geometricBrownian({
    spots: [100, 90],
    volatilities: [0.2, 0.3],
    correlation: [
      [1, 0.5],
      [0.5, 1],
    ],
  });
  const largest = pathProduct({
    name: "largest",
    running: 1,
    parameters: {},
    update: fn({
      params: productParams.update,
      body({ running, spots }) {
        running[0] = Math.max(running[0], spots[0]);
      },
    }),
    payoff: fn({ params: productParams.payoff, body: ({ running }) => running[0] }),
  });
  return {
    montecarlo: {
      exports: () => Object.keys(montecarlo).length,
      asian: price({ model: spot, product: asian({ payoff: "put", strike: 100 }), sensitivities: ["delta", "gamma"] }),
      sobol: price({
        model: spot,
        product: lookback({ payoff: "call", strike: 100 }),
        sampling: "sobol",
        scramblings: 8,
      }),
      scores: price({
        model: spot,
        product: call,
        sensitivityMethod: "likelihood-ratio",
        sensitivities: ["vega"],
        antithetic: true,
      }),
      basket: price({ model: two, product: basket({ payoff: "put", kind: "worst-of", strike: 90, weights: [1, 1] }) }),
      barrier: price({
        model: heston({ spot: 100, ...variance }),
        product: withBarriers({ product: call, barriers: [{ type: "up-and-out", level: 130 }], rebate: 1 }),
      }),
      local: price({ model: localVolatility({ spot: 100, volatility: ({ S }) => 0.1 + 10 / S }), product: call }),
      factors: price({
        model: gaussianFactors({ spot: 100, alpha: [0, 2], sigma: [0.2, 0.3], rho: 0.1 }),
        product: largest,
      }),
      rate: price({ model: hullWhite({ forward: 0.03, meanReversion: 0.1, volatility: 0.01 }), product: largest }),
      stopping: async (device) => {
        const product = european({ payoff: "put", strike: 100 });
        const settings = { model: spot, product, dates: [0.5, 1], paths: 64, regressionPaths: 64 };
        const { value, upper } = await longstaffSchwartz({ device, ...settings, upper: { outer: 4, inner: 4 } });
        return [...value, ...upper.value];
      },
    },
  };
}

// Linear algebra

const ALGORITHMS = ["thomas", "pivoting", "cr", "pcr", "cr-pcr", "register-hybrid", "partition"];

function grids() {
  const asset = { from: 45, to: 200, coordinate: "log", points: [100] };
  const problem = {
    axes: { A: asset, B: asset },
    equation: ({ A, B }) => ({ AA: 0.02 * A ** 2, AB: 0.01 * A * B, BB: 0.02 * B ** 2, V: -0.03 }),
    terminal: ({ A, B }) => Math.max(Math.max(A, B) - 100, 0),
    expiry: 1,
    boundaries: { A: { high: { kind: "dirichlet", value: 0 } } },
  };
  const point = { A: 100, B: 100 };
  const solved = (settings) => async (device) => {
    const { entries } = await sparsegrid.solveOnSparseGrid({ ...problem, ...settings }, { device });
    return entries[0].at(point);
  };
  return {
    "sparse grids": {
      exports: () => Object.keys(sparsegrid).length,
      combination: () => sparsegrid.combinationGrids({ axes: 3, initialLevel: 1, level: 2 }),
      level: solved({ level: 2, errorEstimate: true }),
      cgs: solved({ level: 1, solver: { method: "cgs" }, scheme: { kind: "tr-bdf2" } }),
      accuracy: solved({ accuracy: { at: point, relative: 1e-2 } }),
      exercise: solved({ level: 1, conditions: [{ kind: "exercise", payoff: ({ A }) => A - 100, at: [0.5] }] }),
    },
  };
}

function algebra() {
  const {
    Cholesky,
    choleskySpec,
    DeviceArray,
    Matmul,
    matmul,
    matmulSpec,
    nearestCorrelation,
    solveTridiagonal,
    TridiagonalSolver,
    tridiagonalSpec,
  } = linalg;
  const values = (n) => Array.from({ length: n }, (_, i) => ((i * 7) % 11) / 4 - 1);
  const system = { lower: [0, 1, 1, 2], diagonal: [4, 4, 4, 5], upper: [1, 1, 2, 0], rhs: [5.5, 6.5, 5.5, 1] };
  const positive = [4, 1, 0.5, 1, 3, 0.25, 0.5, 0.25, 2];
  const tridiagonal = async (device, given) => {
    const rows = 65;
    const spec = tridiagonalSpec({ rows, batch: 3, precision: "f64", ...given });
    const solver = await TridiagonalSolver.create(device, spec);
    const length = rows * 3;
    const buffers = [-1, 4, -1.5, 1].map((value, k) => {
      const buffer = device.createBuffer("f64", length);
      device.write(
        buffer,
        Float64Array.from({ length }, (_, i) => value + (((i * (k + 3)) % 7) - 3) / 20),
      );
      return buffer;
    });
    const [lower, diagonal, upper, rhs] = buffers;
    solver.solveInPlace({ lower, diagonal, upper, rhs });
    const x = [...(await device.read(rhs))];
    const failures = await solver.failures();
    for (const resource of [solver, ...buffers]) resource[Symbol.dispose]();
    return [x, failures];
  };
  return {
    linalg: {
      exports: () => Object.keys(linalg).length,
      matmul: async (device) => {
        const a = await DeviceArray.create(device, [20, 33], { values: values(660) });
        const b = await DeviceArray.create(device, [17, 33], { values: values(561) });
        const c = await matmul(a, b.transpose());
        const product = [c.shape, [...(await c.download())]];
        for (const array of [a, b, c]) array[Symbol.dispose]();
        return product;
      },
      "Matmul, many times": async (device) => {
        const product = await Matmul.create(
          device,
          matmulSpec({ rows: 20, inner: 33, columns: 17, b: "column-major" }),
        );
        const a = await DeviceArray.create(device, [20, 33], { values: values(660) });
        const b = await DeviceArray.create(device, [17, 33], { values: values(561) });
        const c = await DeviceArray.create(device, [20, 17], { values: values(340) });
        product.run({ a, b: b.transpose(), c, alpha: 0.5, beta: 1 });
        const contents = [...(await c.download())];
        for (const resource of [product, a, b, c]) resource[Symbol.dispose]();
        return contents;
      },
      cholesky: async (device) => {
        const a = await DeviceArray.create(device, [3, 3], { values: positive });
        const factor = await Cholesky.create(device, choleskySpec({ size: 3 }));
        await factor.factor(a);
        const contents = [...(await a.download())];
        for (const resource of [factor, a]) resource[Symbol.dispose]();
        return contents;
      },
      correlation: () => [...nearestCorrelation([1, 1, 0, 1, 1, 1, 0, 1, 1], { minEigenvalue: 1e-8 }).values],
      dgtsv: async (device) => {
        const { x, failures } = await solveTridiagonal(system, { device });
        return [[...x], failures];
      },
      contiguous: (device) => tridiagonal(device, {}),
      interleaved: (device) => tridiagonal(device, { layout: "interleaved" }),
      periodic: (device) => tridiagonal(device, { periodic: true }),
      ...Object.fromEntries(ALGORITHMS.map((algorithm) => [algorithm, (device) => tridiagonal(device, { algorithm })])),
    },
  };
}
