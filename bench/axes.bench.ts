/** Equations on two and three axes: Heston options, one by one and by the thousand, and large grids. */
import { type Device, openDevice } from "../src/device/index.ts";
import { type AxesSolution, type SchemeChoice, solve } from "../src/pde/fdm/index.ts";
import type { Precision } from "../src/kernel/index.ts";
import { DeviceUnavailableError } from "../src/base/errors.ts";
import { gridFor, type HestonPut, hestonMesh, hestonValue, SIX_PUTS } from "./axes/heston.ts";
import { type Benchmark, clockGHz, type Context, median } from "./harness.ts";
import { openQuantLib } from "./peers/quantlib.ts";

/** In 't Hout & Foulon (2010), the first set; a put at the money for one year. */
const MODEL = { spot: 100, v0: 0.0625, rate: 0.025, yield: 0, kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.9 };
const STRIKE = 100;

const SCHEMES = ["douglas", "craig-sneyd", "modified-craig-sneyd", "hundsdorfer-verwer"] as const;

interface Grid {
  readonly S: number;
  readonly v: number;
  readonly steps: number;
}

/** `count` puts whose correlations differ by as little as does not change the work; `at`: where they are wanted. */
async function puts(
  device: Device,
  kind: (typeof SCHEMES)[number],
  { S, v, steps }: Grid,
  count: number,
  precision: Precision,
  at?: { readonly S: number; readonly v: number },
): Promise<AxesSolution<"S" | "v">> {
  return solve(
    {
      axes: {
        // Three deviations of ln S below the strike and two above, nearly uniform.
        S: {
          from: "K*exp(-0.68)",
          to: "K*exp(0.5)",
          coordinate: "log",
          points: [{ at: "K", align: "midway" }],
          nodes: S,
          width: 1.1,
        },
        v: { from: 0, to: 0.21, points: [{ at: MODEL.v0, align: "none" }], nodes: v, width: 0.01 },
      },
      parameters: {
        K: STRIKE,
        r: MODEL.rate,
        kappa: MODEL.kappa,
        theta: MODEL.theta,
        sigma: MODEL.sigma,
        rho: Array.from({ length: count }, (_, k) => MODEL.rho + k * 1e-9),
      },
      equation: ({ S, v, r, kappa, theta, sigma, rho }) => ({
        SS: 0.5 * v * S * S,
        Sv: rho * sigma * v * S,
        vv: 0.5 * sigma * sigma * v,
        S: r * S,
        v: kappa * (theta - v),
        V: -r,
      }),
      terminal: ({ S, K }) => Math.max(K - S, 0),
      expiry: 1,
      scheme: { kind, rannacherSteps: 0 },
      steps,
      precision,
      ...(at === undefined ? {} : { at }),
    },
    { device },
  );
}

/** A function of three axes with all mixed derivatives, which Giles' prototype was made for. */
async function cube(device: Device, nodes: number, steps: number, scheme: SchemeChoice, precision: Precision) {
  const axis = {
    from: 20,
    to: 500,
    coordinate: "log",
    nodes,
    points: [{ at: 100, align: "none" }],
    width: 0.5,
  } as const;
  return solve(
    {
      axes: { X: axis, Y: axis, Z: axis },
      parameters: { r: 0.03 },
      equation: ({ X, Y, Z, r }) => ({
        XX: 0.02 * X * X,
        YY: 0.045 * Y * Y,
        ZZ: 0.03 * Z * Z,
        XY: 0.03 * X * Y,
        XZ: 0.01 * X * Z,
        YZ: 0.02 * Y * Z,
        X: r * X,
        Y: r * Y,
        Z: r * Z,
        V: -r,
      }),
      terminal: ({ X, Y, Z }) => Math.max(100 - (X + Y + Z) / 3, 0),
      expiry: 1,
      scheme,
      steps,
      precision,
      // To read 128 MiB back takes longer than ten steps.
      at: { X: 100, Y: 100, Z: 100 },
    },
    { device },
  );
}

/** Median seconds of what is repeated, after one run that compiles. */
async function seconds(times: number, run: () => Promise<unknown>): Promise<number> {
  await run();
  const all: number[] = [];
  for (let k = 0; k < times; k++) {
    const start = performance.now();
    await run();
    all.push((performance.now() - start) / 1e3);
  }
  return median(all);
}

const nameOf = (kind: string, { S, v, steps }: Grid): string => `Heston put, ${S} × ${v} × ${steps}, ${kind}`;

/** A device that adds up the milliseconds spent in launches: on one thread they are run at once. */
function timed(device: Device): { readonly device: Device; readonly launched: () => number } {
  let total = 0;
  const launch: Device["launch"] = (kernel, args, size) => {
    const start = performance.now();
    device.launch(kernel, args, size);
    total += performance.now() - start;
  };
  const own = new Proxy(device, {
    get: (of, name) => {
      if (name === "launch") return launch;
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(of) : value;
    },
  });
  return {
    device: own,
    launched: () => {
      const spent = total;
      total = 0;
      return spent;
    },
  };
}

/**
 * Flops of a node and step with a mixed derivative: the explicit part 28, a solution along an axis 5, the update 1; the
 * second sweep takes 31 and its solutions. A core of today does at most four vector operations of two lanes a cycle.
 */
const FLOPS = { douglas: 39, "craig-sneyd": 65, "modified-craig-sneyd": 84, "hundsdorfer-verwer": 81 } as const;
const FLOPS_PER_CYCLE = 8;

/** One core: a batch of options, and one alone, in turns with QuantLib's engine on as many nodes and steps. */
async function onCore(context: Context): Promise<void> {
  using opened = await openDevice({ backend: "cpu", threads: 1 });
  using quantLib = openQuantLib((text) => {
    context.note(text);
  });
  const { device, launched } = timed(opened);
  const grid: Grid = { S: 100, v: 50, steps: 100 };
  const job = { type: "put", exercise: "european", strike: STRIKE, maturity: 1, ...MODEL } as const;
  const exact = (await quantLib?.price([{ ...job, engine: "heston-analytic", repetitions: 0 }]))?.[0].price;
  const batch = context.quick ? 4 : 20;
  const [rounds, each] = context.quick ? [2, 2] : [8, 10];
  for (const kind of SCHEMES) {
    const times = { many: [] as number[], one: [] as number[], kernel: [] as number[], peer: [] as number[] };
    await puts(device, kind, grid, batch, "f64");
    let peerPrice = NaN;
    for (let round = 0; round < rounds; round++) {
      times.many.push(await seconds(1, () => puts(device, kind, grid, batch, "f64")));
      for (let k = 0; k < each; k++) {
        launched();
        const start = performance.now();
        await puts(device, kind, grid, 1, "f64");
        times.one.push((performance.now() - start) / 1e3);
        times.kernel.push(launched() / 1e3);
      }
      const peer = await quantLib?.price([
        { ...job, engine: "heston-fd", scheme: kind, tgrid: 100, xgrid: 100, vgrid: 50, repetitions: 5 },
      ]);
      if (peer === undefined) continue;
      times.peer.push(peer[0].seconds);
      peerPrice = peer[0].price;
    }
    const { value } = (await puts(device, kind, grid, 1, "f64")).entries[0].at({ S: MODEL.spot, v: MODEL.v0 });
    const common = { device: `${context.cpu}, 1 thread`, precision: "f64", unit: "ms" } as const;
    const compared =
      exact === undefined
        ? {}
        : {
            error: Math.abs(value - exact),
            peers: {
              [`QuantLib FdHestonVanillaEngine, error ${Math.abs(peerPrice - exact).toExponential(1)}`]:
                1e3 * median(times.peer),
            },
          };
    const floor = (1e-6 * grid.S * grid.v * grid.steps * FLOPS[kind]) / FLOPS_PER_CYCLE / clockGHz();
    const rows = { [`of ${batch}`]: times.many.map((t) => t / batch), "one solve": times.one, kernel: times.kernel };
    for (const [name, all] of Object.entries(rows))
      context.report({
        ...common,
        case: `${nameOf(kind, grid)}, ${name}`,
        figure: 1e3 * median(all),
        floor,
        ...compared,
      });
    const minima = [times.one, times.kernel, times.peer].map((all) => (1e3 * Math.min(...all)).toFixed(2));
    context.note(`${kind}: minima of a solve, its kernel, and QuantLib: ${minima.join(", ")} ms`);
  }
}

/** Accuracy beside time: Papadopoulos' puts on meshes that fit them, from the problem to the value. */
async function sixPuts(context: Context): Promise<void> {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  for (const accuracy of [1e-4, 1e-5] as const)
    for (const [k, option] of SIX_PUTS.entries()) {
      const exact = hestonValue(option);
      let value = NaN;
      const time = await seconds(context.quick ? 3 : 25, async () => (value = await fitted(device, option, accuracy)));
      const { S, v, steps } = gridFor(accuracy);
      context.report({
        device: `${context.cpu}, 1 thread`,
        precision: "f64",
        case: `Papadopoulos' put ${k + 1}, ${S} × ${v} × ${steps}, part of spot`,
        figure: 1e3 * time,
        unit: "ms",
        error: Math.abs(value - exact) / option.strike,
      });
    }
}

/** The value at the money, by modified Craig–Sneyd without damping. */
async function fitted(device: Device, option: HestonPut, accuracy: 1e-4 | 1e-5): Promise<number> {
  const { kappa, theta, sigma, rho, rate, strike, v0, expiry } = option;
  const grid = gridFor(accuracy);
  const { S, v } = hestonMesh(option);
  const { entries } = await solve(
    {
      axes: {
        S: { ...S, coordinate: "log", points: [strike], nodes: grid.S },
        v: { ...v, points: [{ at: v.from, align: "none" }], nodes: grid.v },
      },
      parameters: { K: strike, r: rate, q: option.yield, kappa, theta, sigma, rho },
      equation: ({ S, v, r, q, kappa, theta, sigma, rho }) => ({
        SS: 0.5 * v * S * S,
        Sv: rho * sigma * v * S,
        vv: 0.5 * sigma * sigma * v,
        S: (r - q) * S,
        v: kappa * (theta - v),
        V: -r,
      }),
      terminal: ({ S, K }) => Math.max(K - S, 0),
      expiry,
      scheme: { kind: "modified-craig-sneyd", rannacherSteps: 0 },
      steps: grid.steps,
    },
    { device },
  );
  return entries[0].at({ S: strike, v: v0 }).value;
}

/** A GPU: options from problems to values, and a step of a large grid by the difference of two numbers of steps. */
async function onGpu(device: Device, precision: Precision, context: Context): Promise<void> {
  const grid: Grid = { S: 100, v: 50, steps: 50 };
  const common = { device: device.name, precision } as const;
  const count = context.quick ? 64 : 4096;
  const point = { S: MODEL.spot, v: MODEL.v0 };
  for (const kind of ["douglas", "hundsdorfer-verwer"] as const)
    for (const at of [point, undefined]) {
      const time = await seconds(context.quick ? 1 : 5, async () => {
        const solution = await puts(device, kind, grid, count, precision, at);
        return at === undefined ? solution.entries.map((entry) => entry.at(point).value) : solution.columns();
      });
      context.report({
        ...common,
        case: `${nameOf(kind, grid)}, ${count} at once, ${at === undefined ? "all nodes" : "at a point"}`,
        figure: count / time,
        unit: "options/s",
      });
    }
  const nodes = context.quick ? 33 : 256;
  for (const kind of ["douglas", "hundsdorfer-verwer"] as const) {
    const [few, many] = context.quick ? [4, 8] : [10, 110];
    const loop = async (steps: number): Promise<number> =>
      seconds(3, () => cube(device, nodes, steps, { kind, rannacherSteps: 0 }, precision));
    const step = (1e6 * ((await loop(many)) - (await loop(few)))) / (many - few);
    // Words that four passes (Douglas), or nine, read and write once each, at the speed of a copy on an H200.
    const floor = ((kind === "douglas" ? 4 : 9) * nodes ** 3 * (precision === "f32" ? 4 : 8)) / 4.28e6;
    context.report({
      ...common,
      case: `${nodes}³, all mixed derivatives, ${kind}, a step`,
      figure: Math.max(step, 1e-3),
      unit: "µs",
      ...(context.quick ? {} : { floor }),
    });
  }
}

async function onGpus(context: Context): Promise<void> {
  for (const backend of ["cuda", "webgpu"] as const) {
    try {
      using device = await openDevice({ backend });
      for (const precision of ["f64", "f32"] as const)
        if (device.precisions.includes(precision)) await onGpu(device, precision, context);
    } catch (error) {
      if (!(error instanceof DeviceUnavailableError)) throw error;
      context.note(`${backend}: ${error.message}`);
    }
  }
}

export const benchmark: Benchmark = {
  name: "axes",
  description: "equations on two and three axes by alternating directions, on one core and on GPUs",
  run: async (context) => {
    await onCore(context);
    await sixPuts(context);
    await onGpus(context);
  },
};

/** What a GPU machine without QuantLib runs. */
export const deviceBenchmark: Benchmark = {
  name: "device-axes",
  description: "equations on two and three axes by alternating directions, on GPUs",
  run: onGpus,
};
