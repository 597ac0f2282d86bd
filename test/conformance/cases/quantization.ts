/** Searches, walks along chains, sums of cells, and steps of dynamic programming. */
import {
  layersKernel,
  LAYER_GROUP_SIZE,
  gridTransitionCountKernel,
} from "../../../src/quadrature/quantization/tree/walk-grid.ts";
import {
  autoregressiveStep,
  standardisedParameters,
  meanRevertingFactors,
} from "../../../src/quadrature/quantization/tree/chain.ts";
import { rowKernels } from "../../../src/quadrature/quantization/tree/rows.ts";
import { clearKernel } from "../../../src/quadrature/quantization/tree/counter.ts";
import { transitionCountKernel } from "../../../src/quadrature/quantization/tree/walk.ts";
import { assignKernel } from "../../../src/quadrature/quantization/normal/lloyd.ts";
import { decideKernel, expectationKernel } from "../../../src/quadrature/quantization/control/whole-swings.ts";
import {
  decideKernel as decideOnGrid,
  weightedSumKernel,
  exponentialKernel,
  weightsKernel,
} from "../../../src/quadrature/quantization/convolution/kernels.ts";
import { stencilOf } from "../../../src/quadrature/quantization/convolution/steps.ts";
import { rollbackKernel } from "../../../src/quadrature/quantization/control/stopping.ts";
import { nearestKernel, searcherOf } from "../../../src/quadrature/quantization/search/nearest.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import { type ConformanceCase, range, uniforms, words } from "../case.ts";

/**
 * Eighths in [−2, 2): their squared distances are exact in f32, so that everybody finds the same neighbours and ties.
 */
const eighths = (count: number, seed: number): Float64Array =>
  Float64Array.from(words(count, seed), (word) => ((word >>> 8) % 32) / 8 - 2);

const DIMENSION = 2;
const SIZE = 21;
const points = eighths(SIZE * DIMENSION, 11);

const searches = (["brute-force", "kd-tree", "bins"] as const).map((method): ConformanceCase => {
  const { nearest, plan } = searcherOf(method, DIMENSION);
  const { table, geometry } = plan(points);
  const count = 201;
  const queries = eighths(count * DIMENSION, 5).map((x, k) => (k < 12 ? 8 * x : x));
  return {
    name: `nearest neighbours: ${method}`,
    kernel: nearestKernel(DIMENSION, nearest),
    size: { items: count },
    args: ({ real }) => ({
      points: real(points),
      size: SIZE,
      table,
      geometry: real(geometry),
      queries: real(queries),
      nearest: new Int32Array(count),
    }),
    precisions: ["f32", "f64"],
  };
});

const correlation = [
  [1, -0.5],
  [-0.5, 1],
];
const TIMES = [0, 0.25, 0.5, 1];
const chain = standardisedParameters(meanRevertingFactors({ times: TIMES, meanReversion: [0.5, 4], correlation }));
/** Where normal numbers are the same bits: not in WGSL. */
const EXACT: readonly Precision[] = ["f64"];

const gridTables = searcherOf("bins", DIMENSION).plan(points);

const walks = (["serial", "paths"] as const).map((by): ConformanceCase => {
  const { nearest, plan } = searcherOf("bins", DIMENSION);
  const { table, geometry } = plan(points);
  const step = autoregressiveStep(DIMENSION);
  const rounds = by === "serial" ? 20 : 1;
  const starts = [0, 0, SIZE, SIZE + SIZE * SIZE];
  return {
    name: `transitions, ${by}`,
    kernel: transitionCountKernel({ dimension: DIMENSION, step, nearest, by, abreast: by === "serial" ? 1 : 3 }),
    size: { items: by === "serial" ? 1 : 30 },
    args: ({ real }) => ({
      seedLow: 7,
      seedHigh: 0,
      firstPath: 5,
      rounds,
      layers: TIMES.length,
      initial: real([0, 0]),
      parameters: real(chain.parameters),
      layout: Int32Array.from(starts.flatMap((start, k) => [k === 0 ? 1 : SIZE, 0, 0, 0, start])),
      points: real(points),
      table,
      geometry: real(geometry),
      counters: new Uint32Array(SIZE + 2 * SIZE * SIZE),
    }),
    precisions: EXACT,
  };
});

const byGrid: ConformanceCase = {
  name: "transitions, by paths, grid in workgroup memory",
  kernel: gridTransitionCountKernel({
    dimension: DIMENSION,
    size: SIZE,
    tableLength: gridTables.table.length,
    step: autoregressiveStep(DIMENSION),
    nearest: searcherOf("bins", DIMENSION).nearestIn(gridTables.table),
    sharesTable: true,
    groupSize: 32,
  }),
  size: { groups: 2 },
  args: ({ real }) => ({
    seedLow: 7,
    seedHigh: 0,
    firstPath: 5,
    endPath: 5 + 40,
    layers: TIMES.length,
    initial: real([0, 0]),
    parameters: real(chain.parameters),
    points: real(points),
    table: gridTables.table,
    geometry: real(gridTables.geometry),
    counters: new Uint32Array(SIZE + 2 * SIZE * SIZE),
  }),
  precisions: EXACT,
  notJavaScript: "a workgroup shares memory",
};

const byLayers = [true, false].map((shares): ConformanceCase => {
  const { nearest, plan } = searcherOf("bins", DIMENSION);
  const { table, geometry } = plan(points);
  const step = autoregressiveStep(DIMENSION);
  const shape = { dimension: DIMENSION, size: SIZE, tableLength: table.length, step, nearest };
  return {
    name: `transitions, by layers, counters in ${shares ? "workgroup" : "device"} memory`,
    kernel: layersKernel({ ...shape, sharesCounters: shares, sharesTable: shares }),
    size: { groups: 6 },
    args: ({ real }) => ({
      seedLow: 7,
      seedHigh: 0,
      pairs: TIMES.length - 1,
      paths: LAYER_GROUP_SIZE + 70,
      length: LAYER_GROUP_SIZE - 40,
      parameters: real(chain.parameters),
      points: real(points),
      table,
      geometry: real(geometry),
      counters: new Uint32Array(SIZE + 2 * SIZE * SIZE),
    }),
    precisions: EXACT,
    notJavaScript: "a workgroup shares memory",
  };
});

const assignment: ConformanceCase = {
  name: "samples to cells: sums of 64 bits",
  kernel: assignKernel(DIMENSION),
  size: { items: 301 },
  args: ({ real }) => ({
    isNormal: false,
    seedLow: 0,
    seedHigh: 0,
    firstSample: 0,
    samples: real(eighths(602, 3)),
    size: SIZE,
    inverse: 1,
    points: real(points),
    none: new Int32Array(1),
    counts: new Uint32Array(SIZE),
    sums: new Uint32Array(2 * SIZE * (DIMENSION + 2)),
  }),
  precisions: ["f32", "f64"],
  notJavaScript: "a function adds to what other items add to",
};

const ROWS = 30;
const WIDTH = 12;
const counters = Uint32Array.from(words(ROWS * WIDTH, 9), (word) => (word % 3 === 0 ? word % 50 : 0));
const rowArguments = {
  rows: ROWS,
  widest: WIDTH,
  starts: Int32Array.from(range(ROWS), (row) => row * WIDTH),
  widths: Int32Array.from(range(ROWS), (row) => (row === 4 ? 0 : WIDTH)),
  counters,
};
const QUOTIENTS = { ulps: 4, because: "WGSL divides to 2.5 ulp" };

const clearing: ConformanceCase = {
  name: "counters to zero, several by an item",
  kernel: clearKernel(4),
  size: { items: 51 },
  args: () => ({ counters: Uint32Array.from(words(205, 8)), length: 203, items: 51 }),
  precisions: ["f32"],
};

const totals = Uint32Array.from(range(ROWS), (row) =>
  row === 4 ? 0 : counters.subarray(row * WIDTH, (row + 1) * WIDTH).reduce((sum, count) => sum + count, 0),
);

const rows = (["items", "tiles"] as const).flatMap((by): readonly ConformanceCase[] => [
  {
    name: `sums of rows of counters and the longest row, by ${by}`,
    kernel: rowKernels[by].lengths,
    size: by === "items" ? { items: ROWS } : { groups: 1 },
    args: () => ({ ...rowArguments, totals: new Uint32Array(ROWS), most: new Int32Array(1) }),
    precisions: by === "tiles" ? EXACT : ["f32"],
    ...(by === "tiles" ? { notJavaScript: "a workgroup shares memory" } : {}),
  },
  {
    name: `counters to probabilities, by ${by}`,
    kernel: rowKernels[by].probabilities,
    size: by === "items" ? { items: ROWS } : { groups: 1 },
    args: ({ zeros }) => ({
      ...rowArguments,
      totals,
      columns: new Int32Array(WIDTH * ROWS),
      probabilities: zeros(WIDTH * ROWS),
    }),
    // Tiles are for CUDA: see `byTiles`.
    precisions: by === "tiles" ? EXACT : ["f32", "f64"],
    webgpu: QUOTIENTS,
    ...(by === "tiles" ? { notJavaScript: "a workgroup shares memory" } : {}),
  },
]);

const SLOTS = 4;
const transitions = {
  slots: SLOTS,
  totalRows: ROWS,
  columns: Int32Array.from(words(SLOTS * ROWS, 4), (word) => (word >>> 4) % 10),
};
const SUMS = { ulps: 16, absolute: 1e-6, because: "sums of products may be contracted" };

const control: readonly ConformanceCase[] = [
  ...[true, false].map((isExercised): ConformanceCase => ({
    name: `optimal stopping: a layer, ${isExercised ? "with" : "without"} exercise`,
    kernel: rollbackKernel,
    size: { items: 10 },
    args: ({ real }) => ({
      ...transitions,
      firstRow: 10,
      nextRow: 20,
      isExercised,
      probabilities: real(uniforms(SLOTS * ROWS)),
      payoff: real(uniforms(ROWS, 0, 2)),
      values: real(uniforms(ROWS)),
    }),
    webgpu: SUMS,
  })),
  ...(["parts", "rows"] as const).map((by): ConformanceCase => ({
    name: `swing options: expectations by ${by}`,
    kernel: expectationKernel(by),
    size: { items: by === "rows" ? 10 * 7 : 7 },
    args: ({ real, zeros }) => ({
      ...transitions,
      firstRow: 10,
      rows: 10,
      width: 7,
      probabilities: real(uniforms(SLOTS * ROWS)),
      next: real(uniforms(70)),
      expectations: zeros(70),
    }),
    webgpu: SUMS,
  })),
  {
    name: "swing options: decisions at the bounds",
    kernel: decideKernel,
    size: { items: 70 },
    args: ({ real, zeros }) => ({
      firstRow: 3,
      width: 7,
      swings: 2,
      left: 2,
      // Two swings side by side, of up to 3 and up to 2 units.
      owners: Int32Array.of(0, 0, 0, 0, 1, 1, 1),
      units: Int32Array.of(0, 1, 2, 3, 0, 1, 2),
      least: Int32Array.of(3, 0),
      most: Int32Array.of(3, 2),
      payoff: real(uniforms(26, -1, 1)),
      expectations: real(uniforms(70)),
      values: zeros(70),
    }),
    webgpu: SUMS,
  },
];

const [GRID_ROWS, GRID_COLUMNS, UNITS] = [5, 7, 8];
const GRID = GRID_ROWS * GRID_COLUMNS;
const stencil = stencilOf(0.7);
const bases = Int32Array.from(words(GRID, 6), (word) => ((word >>> 4) % 9) - 4);

/** Swings on a grid: two swings of up to three units side by side. */
const convolutions: readonly ConformanceCase[] = [
  {
    name: "convolution: the spot at the nodes",
    kernel: exponentialKernel,
    size: { items: GRID },
    args: ({ zeros }) => ({
      columns: GRID_COLUMNS,
      firstAxis: 1,
      start: -1.5,
      spacing: 0.5,
      c1: 0.25,
      c2: -0.5,
      half: 0.125,
      growth: zeros(GRID),
    }),
    webgpu: { ulps: 16, absolute: 1e-6, because: "WGSL's exp is less exact" },
  },
  {
    name: "convolution: weights of a step",
    kernel: weightsKernel,
    size: { items: GRID },
    args: ({ real, zeros }) => ({
      columns: GRID_COLUMNS,
      taps: stencil.taps,
      before: stencil.before,
      p0: 0.3125,
      p1: -0.25,
      p2: 0.875,
      limit: 40,
      table: real(stencil.table),
      bases: new Int32Array(GRID),
      weights: zeros(GRID * stencil.taps),
    }),
    webgpu: SUMS,
  },
  ...(["instances", "nodes"] as const).flatMap((by): readonly ConformanceCase[] => [
    {
      name: `convolution: expectations along an axis, by ${by}`,
      kernel: weightedSumKernel(by),
      size: { items: by === "nodes" ? GRID * 6 : 6 },
      args: ({ real, zeros }) => ({
        nodes: GRID,
        columns: GRID_COLUMNS,
        width: UNITS,
        first: 2,
        active: 6,
        taps: 5,
        lineI: 0,
        lineJ: 1,
        along: GRID_COLUMNS,
        length: GRID_ROWS,
        bases,
        weights: real(uniforms(GRID * 5)),
        values: real(uniforms(GRID * UNITS)),
        out: zeros(GRID * UNITS),
      }),
      webgpu: SUMS,
    },
    {
      name: `convolution: decisions, by ${by}`,
      kernel: decideOnGrid(by),
      size: { items: by === "nodes" ? GRID * UNITS : UNITS },
      args: ({ real, zeros }) => ({
        nodes: GRID,
        rows: GRID_ROWS,
        columns: GRID_COLUMNS,
        width: UNITS,
        first: 0,
        active: UNITS,
        swings: 2,
        left: 2,
        date: 1,
        least: Int32Array.of(3, 0),
        most: Int32Array.of(3, 2),
        slopes: real(uniforms(6, 0.5, 1.5)),
        fixed: real(uniforms(6, 0.5, 1.5)),
        growth: real(uniforms(GRID, 0.5, 1.5)),
        continuation: real(uniforms(GRID * UNITS)),
        values: zeros(GRID * UNITS),
      }),
      webgpu: SUMS,
    },
  ]),
];

export const quantizationCases: readonly ConformanceCase[] = [
  ...searches,
  ...walks,
  byGrid,
  ...byLayers,
  assignment,
  clearing,
  ...rows,
  ...control,
  ...convolutions,
];
