/**
 * BiCGStab and CGS by one workgroup, for rows that are divided by their diagonals. Each item has the rows item,
 * item + GROUP, …; the scalars are the same in all items, so that they stay in registers.
 */
import { bool, fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import { type GridVariant, neighboursOf, slot } from "./variant.ts";

/**
 * A linear system (I + N)·y = b, divided among the work items of a group. `own` holds the arrays of an item's own rows,
 * `pitch` apart. The vectors that items read at neighbouring rows are in `seen`: row r of array s is at seenBase +
 * s·seenPitch + r·GROUP + item. The distances from a row to its neighbours are in `distances` from index `offsets` on.
 */
export const LinearSystem = record({
  own: write(real),
  base: i32,
  pitch: i32,
  seen: write(real),
  seenBase: i32,
  seenPitch: i32,
  distances: read(i32),
  offsets: i32,
  rounds: i32,
  item: i32,
  scratch: write(real),
});

/**
 * The arrays of `seen`, by what is in them. Rows in registers are copied to workgroup memory to be seen: two arrays
 * do, as a vector is only overwritten there after a barrier behind its last reader.
 */
const seenSlots = ({ residentRows }: GridVariant) =>
  residentRows > 0 ? { SEEN_Y: 0, SEEN_P: 1, SEEN_R: 0, SEEN_T: 0 } : SLOTS_THEMSELVES;
const SLOTS_THEMSELVES = { SEEN_Y: slot.Y, SEEN_P: slot.P, SEEN_R: slot.R, SEEN_T: slot.T } as const;

/** Row r of array 0 in `own`. */
const cell = (variant: GridVariant) =>
  fn({
    name: "cell",
    params: { system: LinearSystem, r: i32 },
    env: { ROWS: variant.residentRows, GROUP: variant.groupSize },
    body: ({ system: { base, item }, r }, _gpu, { ROWS, GROUP }) => (ROWS > 0 ? r : base + r * GROUP + item),
  });

/** Shows a row of a vector to its neighbours. */
const show = (variant: GridVariant) =>
  fn({
    name: "show",
    params: { system: LinearSystem, to: i32, r: i32, value: real },
    env: { ROWS: variant.residentRows, GROUP: variant.groupSize },
    body({ system: { seen, seenBase, seenPitch, item }, to, r, value }, _gpu, { ROWS, GROUP }) {
      if (ROWS > 0) seen[seenBase + to * seenPitch + r * GROUP + item] = value;
    },
  });

/**
 * Returns the number of reals of workgroup memory for sums over the group. There are four alternating buffers, so that
 * a sum needs only one barrier.
 */
export const scratchReals = ({ groupSize, shuffles }: GridVariant): number =>
  4 * 2 * (shuffles ? groupSize / SUBGROUP_SIZE : groupSize);
/** The number of work items of a subgroup. */
export const SUBGROUP_SIZE = 32;

/**
 * Two sums over the workgroup, the same in all items: of subgroups by their own sums, otherwise as a tree; CPUs have
 * few items, which add them one after another. Two sums that follow each other have different places.
 */
const totals = ({ groupSize, shuffles }: GridVariant) =>
  fn({
    name: "totals",
    params: { scratch: write(real), slot: i32, item: i32, first: real, second: real },
    env: { GROUP: groupSize, SERIAL: groupSize <= 16, SHUFFLES: shuffles, PARTS: groupSize / SUBGROUP_SIZE },
    *body({ scratch, slot, item, first, second }, gpu, { GROUP, SERIAL, SHUFFLES, PARTS }) {
      let a = 0.0;
      let b = 0.0;
      if (SHUFFLES) {
        const from = 2 * PARTS * slot;
        const ownFirst: number = yield gpu.subgroupAdd(first);
        const ownSecond: number = yield gpu.subgroupAdd(second);
        if (gpu.subgroupLane() === 0) {
          scratch[from + 2 * (item >> 5)] = ownFirst;
          scratch[from + 2 * (item >> 5) + 1] = ownSecond;
        }
        yield;
        for (let k = 0; k < PARTS; k++) {
          a += scratch[from + 2 * k];
          b += scratch[from + 2 * k + 1];
        }
      } else {
        const from = 2 * GROUP * slot;
        scratch[from + item] = first;
        scratch[from + GROUP + item] = second;
        yield;
        if (SERIAL) {
          for (let k = 0; k < GROUP; k++) {
            a += scratch[from + k];
            b += scratch[from + GROUP + k];
          }
        } else {
          for (let distance = GROUP >> 1; distance > 0; distance = distance >> 1) {
            if (item < distance) {
              scratch[from + item] += scratch[from + item + distance];
              scratch[from + GROUP + item] += scratch[from + GROUP + item + distance];
            }
            yield;
          }
          a = scratch[from];
          b = scratch[from + GROUP];
        }
      }
      return { a, b };
    },
  });

/** Row r of (I + N)·x, x array `from` of `seen`. Words moved: two a neighbour, one for the row itself. */
const product = (variant: GridVariant) =>
  fn({
    name: "product",
    params: { system: LinearSystem, from: i32, r: i32 },
    env: {
      neighbours: neighboursOf(variant),
      MATRIX: slot.MATRIX,
      GROUP: variant.groupSize,
      cell: cell(variant),
    },
    body({ system, from, r }, _gpu, { neighbours, MATRIX, GROUP, cell }) {
      const { own, pitch, seen, seenBase, seenPitch, distances, offsets, item } = system;
      const x = seenBase + from * seenPitch + r * GROUP + item;
      const matrix = MATRIX * pitch + cell({ system, r });
      let sum = seen[x];
      for (let k = 0; k < neighbours; k++) sum += own[matrix + k * pitch] * seen[x + distances[offsets + k]];
      return sum;
    },
  });

/** The parts that each step of an iteration is compiled for. */
const parts = (variant: GridVariant) => ({
  ROWS: variant.residentRows,
  product: product(variant),
  totals: totals(variant),
  cell: cell(variant),
  show: show(variant),
  ...slot,
  ...seenSlots(variant),
});

/** The right-hand side of a stage, the first guess, and what becomes of the solution. */
const Stage = record({ fromU: real, fromV: real, advance: real, extrapolation: real, keeps: bool });

/** r = b − A·y for the guess y = u + advance·rate; r·r and b·b. */
const beginSystem = (variant: GridVariant) =>
  fn({
    name: "beginSystem",
    params: { system: LinearSystem, stage: Stage },
    env: parts(variant),
    *body({ system, stage: { fromU, fromV, advance } }, _gpu, env) {
      const { own, pitch, rounds, item, scratch } = system;
      const count = env.ROWS > 0 ? env.ROWS : rounds;
      const { cell, show, U, V, Y, R, SHADOW, P, RATE, INVERSE, SOURCE } = env;
      for (let r = 0; r < count; r++) {
        const i = cell({ system, r });
        const guess = own[U * pitch + i] + advance * own[RATE * pitch + i];
        own[Y * pitch + i] = guess;
        show({ system, to: env.SEEN_Y, r, value: guess });
      }
      yield;
      let rr = 0.0;
      let bb = 0.0;
      for (let r = 0; r < count; r++) {
        const i = cell({ system, r });
        let before = fromU * own[U * pitch + i];
        if (fromV !== 0) before += fromV * own[V * pitch + i];
        const b = own[INVERSE * pitch + i] * before + own[SOURCE * pitch + i];
        const residual = b - env.product({ system, from: env.SEEN_Y, r });
        own[R * pitch + i] = residual;
        own[SHADOW * pitch + i] = residual;
        own[P * pitch + i] = residual;
        show({ system, to: env.SEEN_P, r, value: residual });
        rr += residual * residual;
        bb += b * b;
      }
      const sums = yield* env.totals({ scratch, slot: 0, item, first: rr, second: bb });
      return { rr: sums.a, bb: sums.b };
    },
  });

const iterated = { system: LinearSystem, rr: real, threshold: real, maxIterations: i32 } as const;

/**
 * van der Vorst (1992): until r·r ≤ threshold. Where a division would give nothing (breakdown) it starts again with the
 * residual as its shadow. Words an iteration and row: 2·(2·neighbours + 1) for the products and 20 for the vectors.
 */
const bicgstab = (variant: GridVariant) =>
  fn({
    name: "bicgstab",
    params: iterated,
    env: parts(variant),
    *body({ system, rr, threshold, maxIterations }, _gpu, env) {
      const { own, pitch, rounds, item, scratch } = system;
      const count = env.ROWS > 0 ? env.ROWS : rounds;
      const { cell, show, Y, R, SHADOW, P, Q, T } = env;
      let iterations = 0;
      let residual = rr;
      let rho = rr;
      while (residual > threshold && iterations < maxIterations) {
        let sum = 0.0;
        for (let r = 0; r < count; r++) {
          const i = cell({ system, r });
          const q = env.product({ system, from: env.SEEN_P, r });
          own[Q * pitch + i] = q;
          sum += own[SHADOW * pitch + i] * q;
        }
        const shadowed = yield* env.totals({ scratch, slot: 1, item, first: sum, second: 0.0 });
        const alpha = shadowed.a === 0 ? 0.0 : rho / shadowed.a;
        for (let r = 0; r < count; r++) {
          const i = cell({ system, r });
          const s = own[R * pitch + i] - alpha * own[Q * pitch + i];
          own[R * pitch + i] = s;
          show({ system, to: env.SEEN_R, r, value: s });
        }
        yield;
        let ts = 0.0;
        let tt = 0.0;
        for (let r = 0; r < count; r++) {
          const i = cell({ system, r });
          const t = env.product({ system, from: env.SEEN_R, r });
          own[T * pitch + i] = t;
          ts += t * own[R * pitch + i];
          tt += t * t;
        }
        const minimal = yield* env.totals({ scratch, slot: 2, item, first: ts, second: tt });
        const omega = minimal.b === 0 ? 0.0 : minimal.a / minimal.b;
        let shadow = 0.0;
        let next = 0.0;
        for (let r = 0; r < count; r++) {
          const i = cell({ system, r });
          const s = own[R * pitch + i];
          own[Y * pitch + i] += alpha * own[P * pitch + i] + omega * s;
          const rest = s - omega * own[T * pitch + i];
          own[R * pitch + i] = rest;
          shadow += own[SHADOW * pitch + i] * rest;
          next += rest * rest;
        }
        const end = yield* env.totals({ scratch, slot: 3, item, first: shadow, second: next });
        residual = end.b;
        iterations++;
        if (residual > threshold) {
          const beta = (end.a / rho) * (alpha / omega);
          const isGood = Number.isFinite(beta) && beta !== 0;
          rho = isGood ? end.a : residual;
          for (let r = 0; r < count; r++) {
            const i = cell({ system, r });
            const rest = own[R * pitch + i];
            let p = rest;
            if (isGood) p = rest + beta * (own[P * pitch + i] - omega * own[Q * pitch + i]);
            else own[SHADOW * pitch + i] = rest;
            own[P * pitch + i] = p;
            show({ system, to: env.SEEN_P, r, value: p });
          }
          yield;
        }
      }
      return { residual, iterations };
    },
  });

/** Sonneveld (1989): otherwise as `bicgstab`. */
const cgs = (variant: GridVariant) =>
  fn({
    name: "cgs",
    params: iterated,
    env: parts(variant),
    *body({ system, rr, threshold, maxIterations }, _gpu, env) {
      const { own, pitch, rounds, item, scratch } = system;
      const count = env.ROWS > 0 ? env.ROWS : rounds;
      const { cell, show, Y, R, SHADOW, P, Q, T, EXTRA } = env;
      let iterations = 0;
      let residual = rr;
      let rho = rr;
      for (let r = 0; r < count; r++) {
        const i = cell({ system, r });
        own[EXTRA * pitch + i] = own[R * pitch + i];
      }
      yield;
      while (residual > threshold && iterations < maxIterations) {
        let sum = 0.0;
        for (let r = 0; r < count; r++) {
          const i = cell({ system, r });
          const v = env.product({ system, from: env.SEEN_P, r });
          own[Q * pitch + i] = v;
          sum += own[SHADOW * pitch + i] * v;
        }
        const shadowed = yield* env.totals({ scratch, slot: 1, item, first: sum, second: 0.0 });
        const alpha = shadowed.a === 0 ? 0.0 : rho / shadowed.a;
        // u is in EXTRA; q = u − αv takes the place of v, and u + q is in T.
        for (let r = 0; r < count; r++) {
          const i = cell({ system, r });
          const u = own[EXTRA * pitch + i];
          const q = u - alpha * own[Q * pitch + i];
          own[Q * pitch + i] = q;
          own[T * pitch + i] = u + q;
          show({ system, to: env.SEEN_T, r, value: u + q });
        }
        yield;
        let shadow = 0.0;
        let next = 0.0;
        for (let r = 0; r < count; r++) {
          const i = cell({ system, r });
          const rest = own[R * pitch + i] - alpha * env.product({ system, from: env.SEEN_T, r });
          own[R * pitch + i] = rest;
          own[Y * pitch + i] += alpha * own[T * pitch + i];
          shadow += own[SHADOW * pitch + i] * rest;
          next += rest * rest;
        }
        const end = yield* env.totals({ scratch, slot: 2, item, first: shadow, second: next });
        residual = end.b;
        iterations++;
        if (residual > threshold) {
          const beta = end.a / rho;
          const isGood = Number.isFinite(beta) && beta !== 0 && alpha !== 0;
          rho = isGood ? end.a : residual;
          for (let r = 0; r < count; r++) {
            const i = cell({ system, r });
            const rest = own[R * pitch + i];
            let u = rest;
            let p = rest;
            if (isGood) {
              const q = own[Q * pitch + i];
              u = rest + beta * q;
              p = u + beta * (q + beta * own[P * pitch + i]);
            } else own[SHADOW * pitch + i] = rest;
            own[EXTRA * pitch + i] = u;
            own[P * pitch + i] = p;
            show({ system, to: env.SEEN_P, r, value: p });
          }
          yield;
        }
      }
      return { residual, iterations };
    },
  });

const iterate = (variant: GridVariant) => (variant.method === "cgs" ? cgs(variant) : bicgstab(variant));

/** u after a stage, and the rate of change for the next guess. */
const endStage = (variant: GridVariant) =>
  fn({
    name: "endStage",
    params: { system: LinearSystem, stage: Stage },
    env: parts(variant),
    body({ system, stage: { advance, extrapolation, keeps } }, _gpu, { ROWS, cell, U, V, Y, RATE }) {
      const { own, pitch, rounds } = system;
      const count = ROWS > 0 ? ROWS : rounds;
      for (let r = 0; r < count; r++) {
        const i = cell({ system, r });
        const u = own[U * pitch + i];
        const change = own[Y * pitch + i] - u;
        if (keeps) own[V * pitch + i] = u;
        own[RATE * pitch + i] = change / advance;
        own[U * pitch + i] = u + extrapolation * change;
      }
    },
  });

/**
 * Returns the function that solves the linear system of an implicit stage of a time step, (I + N)·y = b, where −N is
 * the discretised operator times the stage's share of the step. It iterates until the residual r has
 * ‖r‖ ≤ relative·‖b‖, and replaces the solution u by the stage's result.
 */
export const solveStage = (variant: GridVariant) =>
  fn({
    name: "solveStage",
    params: { system: LinearSystem, stage: Stage, relative: real, maxIterations: i32 },
    env: { beginSystem: beginSystem(variant), iterate: iterate(variant), endStage: endStage(variant) },
    *body({ system, stage, relative, maxIterations }, _gpu, { beginSystem, iterate, endStage }) {
      const { rr, bb } = yield* beginSystem({ system, stage });
      const threshold = relative * relative * bb;
      const { residual, iterations } = yield* iterate({ system, rr, threshold, maxIterations });
      endStage({ system, stage });
      return { iterations, isSolved: residual <= threshold };
    },
  });
