/** Restarted gmres by launches over whole vectors. */
import type { DeviceBuffer } from "../../../device/index.ts";
import { i32, kernel, read, real, write } from "../../../kernel/index.ts";
import type { KrylovIteration, MethodInputs } from "./methods.ts";
import { residualPass } from "./passes.ts";
import { stateSlots, startCycle, flagSlots, hessenbergColumn, hessenbergSolve } from "./recurrences.ts";
import { GROUP_SIZE, groupSums } from "./workspace.ts";

/**
 * v = w/‖w‖, as column j of the basis and by itself. The norm is that of r at first, later that of w·w in `partials`.
 */
const normalise = kernel({
  name: "normalise",
  params: {
    n: i32,
    column: i32,
    flags: read(i32),
    state: read(real),
    squared: read(real),
    w: read(real),
    v: write(real),
    basis: write(real),
  },
  env: { ...stateSlots, ...flagSlots },
  body({ n, column, flags, state, squared, w, v, basis }, gpu, { STATUS, CYCLE, RESIDUAL }) {
    const i = gpu.globalId();
    if (flags[STATUS] === 0 && flags[CYCLE] === 0) {
      const norm = column === 0 ? state[RESIDUAL] : Math.sqrt(squared[0]);
      const value = w[i] / norm;
      v[i] = value;
      basis[column * n + i] = value;
    }
  },
});

/** Products of w with columns 0 … j of the basis: part g of column k by workgroup k·parts + g. */
const basisDots = kernel({
  name: "basisDots",
  params: { n: i32, parts: i32, basis: read(real), w: read(real), partials: write(real) },
  groupSize: GROUP_SIZE,
  env: { GROUP_SIZE, groupSums },
  *body({ n, parts, basis, w, partials }, gpu, { GROUP_SIZE, groupSums }) {
    const scratch = gpu.sharedReal(2 * GROUP_SIZE);
    const k = (gpu.groupId() / parts) | 0;
    const from = (gpu.groupId() - k * parts) * GROUP_SIZE + gpu.localId();
    let first = 0.0;
    for (let i = from; i < n; i += GROUP_SIZE * parts) first += basis[k * n + i] * w[i];
    yield* groupSums({ first, second: 0.0, scratch, partials, slot: gpu.groupId() });
  },
});

/** sums[from + k] = the parts of column k, in order. */
const addParts = kernel({
  name: "addParts",
  params: { parts: i32, from: i32, partials: read(real), sums: write(real) },
  body({ parts, from, partials, sums }, gpu) {
    const k = gpu.globalId();
    let sum = 0.0;
    for (let g = 0; g < parts; g++) sum += partials[2 * (k * parts + g)];
    sums[from + k] = sum;
  },
});

/** w −= Σ sums[from + k]·basis[k], k ≤ j; w·w. */
const subtractBasis = kernel({
  name: "subtractBasis",
  params: { n: i32, j: i32, from: i32, basis: read(real), sums: read(real), w: write(real), partials: write(real) },
  groupSize: GROUP_SIZE,
  env: { GROUP_SIZE, groupSums },
  *body({ n, j, from, basis, sums, w, partials }, gpu, { GROUP_SIZE, groupSums }) {
    const scratch = gpu.sharedReal(2 * GROUP_SIZE);
    let first = 0.0;
    for (let i = gpu.globalId(); i < n; i += GROUP_SIZE * gpu.groupCount()) {
      let value = w[i];
      for (let k = 0; k <= j; k++) value -= sums[from + k] * basis[k * n + i];
      w[i] = value;
      first += value * value;
    }
    yield* groupSums({ first, second: 0.0, scratch, partials, slot: gpu.groupId() });
  },
});

/** The new column of the Hessenberg matrix. One item. */
const takeColumn = kernel({
  name: "takeColumn",
  params: {
    j: i32,
    restart: i32,
    squared: read(real),
    sums: read(real),
    hessenberg: write(real),
    rotations: write(real),
    state: write(real),
    flags: write(i32),
  },
  env: { hessenbergColumn },
  body({ j, restart, squared, sums, hessenberg, rotations, state, flags }, _gpu, { hessenbergColumn }) {
    hessenbergColumn({
      of: { state, flags },
      matrix: { sums, h: hessenberg, rotations },
      j,
      restart,
      squared: squared[0],
    });
  },
});

const solveColumns = kernel({
  name: "solveColumns",
  params: { flags: read(i32), restart: i32, hessenberg: read(real), rotations: write(real) },
  env: { hessenbergSolve, ...flagSlots },
  body({ flags, restart, hessenberg, rotations }, _gpu, { hessenbergSolve, COLUMN }) {
    hessenbergSolve({ columns: flags[COLUMN], h: hessenberg, rotations, restart });
  },
});

/** u = Σ y[k]·basis[k]: the update of x before its preconditioner. */
const combine = kernel({
  name: "combine",
  params: { n: i32, g: i32, flags: read(i32), basis: read(real), rotations: read(real), u: write(real) },
  env: { ...flagSlots },
  body({ n, g, flags, basis, rotations, u }, gpu, { COLUMN }) {
    const i = gpu.globalId();
    let sum = 0.0;
    for (let k = 0; k < flags[COLUMN]; k++) sum += rotations[g + k] * basis[k * n + i];
    u[i] = sum;
  },
});

const addTo = kernel({
  name: "addTo",
  params: { u: read(real), x: write(real) },
  body({ u, x }, gpu) {
    x[gpu.globalId()] += u[gpu.globalId()];
  },
});

/**
 * Prepares the method gmres of Saad & Schultz (1986), preconditioned from the right (Saad 2003, section 9.3.2), with
 * cycles of `restart` iterations. Iteration j of a cycle moves 5·j words per row.
 */
export async function gmres(
  { work, operator, preconditioner, r, shadow }: MethodInputs,
  restart: number,
): Promise<KrylovIteration> {
  const { device, n, flags, state, groups } = work;
  const [v, z, w] = [work.buffer(), preconditioner === undefined ? undefined : work.buffer(), work.buffer()];
  const basis = work.buffer(n * (restart + 1));
  const sums = work.buffer(2 * (restart + 1));
  const squared = work.buffer(1);
  const hessenberg = work.buffer(restart * (restart + 1));
  const rotations = work.buffer(3 * restart + 1);
  const partials = work.buffer(2 * groups * (restart + 1));
  const scale = await work.compile(normalise);
  const dots = await work.compile(basisDots);
  const add = await work.compile(addParts);
  const subtract = await work.compile(subtractBasis);
  const take = await work.compile(takeColumn);
  const solve = await work.compile(solveColumns);
  const combined = await work.compile(combine);
  const addUpdate = await work.compile(addTo);
  const residual = await work.compile(residualPass);
  const again = await work.scalarStep(startCycle(true));
  let j = 0;
  const norm = (): void => device.launch(add, { parts: groups, from: 0, partials, sums: squared }, { items: 1 });
  const normaliseTo = (column: number, from: DeviceBuffer): void =>
    device.launch(scale, { n, column, flags, state, squared, w: from, v, basis }, { items: n });
  const orthogonalise = (from: number): void => {
    device.launch(dots, { n, parts: groups, basis, w, partials }, { groups: groups * (j + 1) });
    device.launch(add, { parts: groups, from, partials, sums }, { items: j + 1 });
    device.launch(subtract, { n, j, from, basis, sums, w, partials }, { groups });
  };
  const flush = (x: DeviceBuffer): void => {
    if (j === 0) return;
    j = 0;
    device.launch(solve, { flags, restart, hessenberg, rotations }, { items: 1 });
    device.launch(combined, { n, g: 2 * restart, flags, basis, rotations, u: w }, { items: n });
    if (z !== undefined) preconditioner?.apply(w, z);
    device.launch(addUpdate, { u: z ?? w, x }, { items: n });
  };
  return {
    start() {
      j = 0;
      normaliseTo(0, r);
    },
    iterate(x, b) {
      if (z !== undefined) preconditioner?.apply(v, z);
      operator.apply({ x: z ?? v, y: w });
      orthogonalise(0);
      orthogonalise(restart + 1);
      norm();
      device.launch(take, { j, restart, squared, sums, hessenberg, rotations, state, flags }, { items: 1 });
      j++;
      if (j < restart) {
        normaliseTo(j, w);
        return;
      }
      flush(x);
      operator.apply({ x, y: w });
      device.launch(residual, { n, b, ax: w, r, copy: shadow, partials: work.partials }, { groups });
      again();
      normaliseTo(0, r);
    },
    flush,
  };
}
