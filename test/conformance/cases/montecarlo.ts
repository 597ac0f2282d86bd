/** Tables, paths and their moments, Sobol' points through bridges, and the kernels of early exercise. */
import { asian, blackScholes, european, geometricBrownian, heston, lookback } from "../../../src/montecarlo/index.ts";
import { backwardKernel, backwardLengths } from "../../../src/montecarlo/paths/backwards.ts";
import { keepKernel, type KeptShape } from "../../../src/montecarlo/paths/keep.ts";
import { prepareKernel } from "../../../src/montecarlo/paths/prepare.ts";
import type { PathShape } from "../../../src/montecarlo/paths/shape.ts";
import { rowsOf } from "../../../src/montecarlo/paths/shape.ts";
import { bridgeKernel } from "../../../src/montecarlo/paths/sobol.ts";
import { mergeKernel, walkKernel } from "../../../src/montecarlo/paths/walk.ts";
import { measuresOf, momentsOf, type WalkShape } from "../../../src/montecarlo/paths/walk-shape.ts";
import { basisOf } from "../../../src/montecarlo/stopping/basis.ts";
import { solveKernel, sumsOf, sweepKernel } from "../../../src/montecarlo/stopping/regression.ts";
import type { StoppingShape } from "../../../src/montecarlo/stopping/rule.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import { type ConformanceCase, range, uniforms } from "../case.ts";

/** Where normal numbers are the same bits: not in WGSL. */
const EXACT: readonly Precision[] = ["f64"];
const COLUMNS = 3;
const STEPS = 4;

const spot = blackScholes({ spot: 100, volatility: 0.2 });
const average = asian({ payoff: "call", strike: 100 });
const shapes: Readonly<Record<string, PathShape>> = {
  "average with control": {
    model: spot,
    product: average,
    control: asian({ payoff: "call", strike: 100, average: "geometric" }),
    substeps: 2,
    sampling: "philox",
  },
  "Heston, lookback": {
    model: heston({ spot: 100, v0: 0.04, kappa: 1, theta: 0.04, sigma: 0.5, rho: -0.5 }),
    product: lookback({ payoff: "put", strike: "floating" }),
    control: undefined,
    substeps: 2,
    sampling: "philox",
  },
  "two assets": {
    model: geometricBrownian({
      spots: [100, 90],
      volatilities: [0.2, 0.3],
      correlation: [
        [1, 0.3],
        [0.3, 1],
      ],
    }),
    product: european({ payoff: "put", strike: 95 }),
    control: undefined,
    substeps: 2,
    sampling: "philox",
  },
};

/** All parameters as scalars, in one buffer each. */
function valuesOf(parameters: object): { readonly values: number[]; readonly layout: Int32Array } {
  const values = Object.values(parameters) as number[];
  return { values: values.length === 0 ? [0] : values, layout: Int32Array.from(values.flatMap((_, j) => [j, 0, 0])) };
}

const tables = Object.entries(shapes).map(([name, shape]): ConformanceCase => {
  const rows = rowsOf(shape);
  const model = valuesOf(shape.model.parameters);
  const ends = range(STEPS).map((n) => 0.25 * (n + 1));
  const layout = Int32Array.from([...model.layout, model.values.length, 1, 0]);
  const [product, control] = [valuesOf(shape.product.parameters), valuesOf(shape.control?.parameters ?? {})];
  return {
    name: `table of paths: ${name}`,
    kernel: prepareKernel(shape),
    size: { items: COLUMNS },
    args: ({ real, zeros }) => ({
      steps: STEPS,
      columns: COLUMNS,
      modelValues: real([...model.values, ...ends]),
      modelLayout: layout,
      productValues: real(product.values),
      productLayout: product.layout,
      controlValues: real(control.values),
      controlLayout: control.layout.length === 0 ? new Int32Array(3) : control.layout,
      table: zeros(COLUMNS * (rows.head + rows.step * STEPS)),
    }),
    precisions: EXACT,
    fma: "exact",
  };
});

const two = shapes["two assets"];
const twoBasis = basisOf({ kind: "monomials", degree: 2 }, two.model, two.product);
const plain = { variants: 1, measures: 1 };
const walked: readonly (readonly [string, Partial<WalkShape> & PathShape])[] = [
  ...Object.entries(shapes).map(([name, shape]) => [name, { ...shape, ...plain }] as const),
  ["derivatives along the path", { ...shapes["average with control"], ...plain, slopes: 2 }],
  [
    "copies of the payoff alone",
    { ...shapes["average with control"], variants: 2, sharing: 1, measures: 2, slopes: 1 },
  ],
  ["shifted normal numbers", { ...shapes["average with control"], ...plain, isShifted: true }],
  ["a rule of exercise, and copies that follow it", { ...two, variants: 2, measures: 2, basis: twoBasis }],
];

const walks = walked.map(([name, base]): ConformanceCase => {
  const rest = { antithetic: true, sharing: 0, slopes: 0, scores: 0, scramblings: 1, single: false };
  const shape: WalkShape = { ...rest, variants: 1, measures: 1, ...base };
  const { variants, measures, slopes } = shape;
  const rows = rowsOf(shape);
  const tableStride = variants * COLUMNS * (rows.head + rows.step * STEPS);
  const items = 2 * COLUMNS;
  return {
    name: `paths: ${name}`,
    kernel: walkKernel(shape),
    size: { items },
    args: ({ real, zeros }) => ({
      seedLow: 7,
      seedHigh: 0,
      firstBlock: 1,
      firstPoint: 0,
      dates: 2,
      instances: COLUMNS,
      table: real(uniforms(tableStride * (1 + slopes), 0.1, 0.4)),
      tableStride,
      streams: Uint32Array.from(range(COLUMNS)),
      slots: Int32Array.from(range(COLUMNS)),
      slotCount: COLUMNS,
      betas: real(uniforms(2 * (shape.basis?.count ?? 1) * COLUMNS, -0.2, 0.3)),
      scales: real(uniforms(2 * 2 * (shape.basis?.variables ?? 1) * COLUMNS, 0.5, 1)),
      weights: real(uniforms(measures * variants * COLUMNS, 0.5, 1)),
      points: real([0]),
      pointStride: 1,
      variants: shape.variants - shape.sharing,
      moments: zeros(measuresOf(shape) * momentsOf(shape) * items),
      itemCount: items,
    }),
    precisions: EXACT,
    fma: "exact",
    ...(slopes > 0 && { notJavaScript: "derivatives are called from kernels alone, but for tests" }),
    javaScript: { relative: 1e-9, absolute: 1e-9, because: "64 paths of JavaScript's own exponentials and logarithms" },
  };
});

const BLOCKS = 2;
const kept: KeptShape = { ...shapes["Heston, lookback"], antithetic: true };
const lengths = backwardLengths(kept, STEPS, true);
const keptRows = rowsOf(kept);
const keptTable = uniforms(keptRows.head + keptRows.step * STEPS, 0.1, 0.4);

const keeping: ConformanceCase = {
  name: "paths that are kept",
  kernel: keepKernel(kept),
  size: { items: 128 * BLOCKS },
  args: ({ real, zeros }) => ({
    seedLow: 7,
    seedHigh: 0,
    stream: 3,
    firstBlock: 1,
    blocks: BLOCKS,
    steps: STEPS,
    table: real(keptTable),
    kept: zeros(lengths.kept * BLOCKS),
    pays: zeros(lengths.pays * BLOCKS),
  }),
  precisions: EXACT,
  fma: "exact",
  javaScript: { relative: 1e-9, absolute: 1e-9, because: "JavaScript's own exponentials and logarithms" },
};

const backwards = (["blocks", "paths", "steps"] as const).map((part): ConformanceCase => ({
  name: `kept paths taken back by ${part}`,
  kernel: backwardKernel(kept, part),
  size: { items: { blocks: 1, paths: 128, steps: STEPS }[part] * BLOCKS },
  args: ({ real, zeros }) => ({
    steps: STEPS,
    blocks: BLOCKS,
    table: real(keptTable),
    kept: real(uniforms(lengths.kept * BLOCKS, 0.1, 0.9)),
    adjoints: real(uniforms(lengths.adjoints * BLOCKS)),
    rows: zeros(lengths.rows * BLOCKS),
  }),
  precisions: EXACT,
  fma: "exact",
  notJavaScript: "derivatives are called from kernels alone, but for tests",
}));

const merged: ConformanceCase = {
  name: "merged moments",
  kernel: mergeKernel(5, 2, 64),
  size: { items: 2 * 3 },
  args: ({ real, zeros }) => ({
    series: 3,
    blocks: 70,
    itemCount: 210,
    mergedCount: 6,
    from: real(uniforms(5 * 2 * 210)),
    merged: zeros(5 * 2 * 6),
  }),
  precisions: EXACT,
  fma: "exact",
};

const bridged: ConformanceCase = {
  name: "bridged increments",
  kernel: bridgeKernel(2, 3),
  size: { items: 2 * 5 },
  args: ({ real, zeros }) => ({
    steps: 3,
    stride: 5,
    places: Int32Array.of(2, 2, 2, 1, 2, 2, 0, 1, 1),
    weights: real([0, 0, 1, 0, 0.5, 0.5, 0, 0.25, 0.75]),
    roots: real([1, 2, 0.5]),
    normals: real(uniforms(2 * 3 * 5, -1, 1)),
    out: zeros(3 * 3 * 5),
  }),
  precisions: EXACT,
  fma: "exact",
};

const stopping: StoppingShape = {
  ...two,
  basis: twoBasis,
  single: false,
};
const FUNCTIONS = stopping.basis.count;

const sweep: ConformanceCase = {
  name: "exercise and normal equations",
  kernel: sweepKernel(stopping),
  size: { items: 2 * 2 },
  args: ({ real, zeros }) => ({
    date: 1,
    isLast: false,
    isFirst: false,
    blocks: 2,
    instances: 2,
    record: real(uniforms(2 * 3 * 64 * 4, -0.5, 1)),
    betas: real(uniforms(2 * FUNCTIONS * 2, -0.2, 0.3)),
    scales: real(uniforms(2 * 2 * 2 * 2, 0.5, 1)),
    cash: real(uniforms(64 * 4)),
    sums: zeros(sumsOf(FUNCTIONS) * 4),
  }),
  precisions: EXACT,
  fma: "exact",
  notJavaScript: "the basis is made from text",
};

/** Of each instance the normal equations of 1, x, x² at four points. */
const equations = [0, 1, 2, 3]
  .map((x) => [1, x, x * x])
  .reduce<number[]>(
    (sums, [a, b, c]) =>
      [a * a, b * a, b * b, c * a, c * b, c * c, a, b * b, c, 1].map((one, q) => one + (sums[q] ?? 0)),
    [],
  );

const solved: ConformanceCase = {
  name: "coefficients of a regression",
  kernel: solveKernel(3),
  size: { items: 2 },
  args: ({ real, zeros }) => ({
    date: 0,
    groups: 1,
    instances: 2,
    tiny: 1e-11,
    added: real(equations.flatMap((one) => [one, one])),
    betas: zeros(3 * 2),
    conditions: zeros(2),
  }),
  precisions: EXACT,
  fma: "exact",
};

export const montecarloCases: readonly ConformanceCase[] = [
  ...tables,
  ...walks,
  keeping,
  ...backwards,
  merged,
  bridged,
  sweep,
  solved,
];
