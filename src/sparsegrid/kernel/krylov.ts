/**
 * BiCGStab and CGS by one workgroup, for rows that are divided by their diagonals. Each item has the rows item,
 * item + GROUP, …; the scalars are the same in all items, so that they stay in registers.
 */
import { fn, i32, read, real, record, write } from "../../kernel/index.ts";
import { type GridVariant, neighboursOf, slot } from "./variant.ts";

/** A system: (I + N)·y = b, with the entries of N from `matrix` on and where its neighbours are in `table`. */
export const System = record({
  work: write(real),
  table: read(i32),
  base: i32,
  pitch: i32,
  offsets: i32,
  rounds: i32,
  item: i32,
  scratch: write(real),
});

/** Two sums over the workgroup, the same in all items; CPUs have few items, which add them one after another. */
const totals = (groupSize: number) =>
  fn({
    name: "totals",
    params: { scratch: write(real), item: i32, first: real, second: real },
    env: { GROUP: groupSize, SERIAL: groupSize <= 16 },
    *body({ scratch, item, first, second }, _gpu, { GROUP, SERIAL }) {
      scratch[item] = first;
      scratch[GROUP + item] = second;
      yield;
      let a = 0.0;
      let b = 0.0;
      if (SERIAL) {
        for (let k = 0; k < GROUP; k++) {
          a += scratch[k];
          b += scratch[GROUP + k];
        }
      } else {
        for (let distance = GROUP >> 1; distance > 0; distance = distance >> 1) {
          if (item < distance) {
            scratch[item] += scratch[item + distance];
            scratch[GROUP + item] += scratch[GROUP + item + distance];
          }
          yield;
        }
        a = scratch[0];
        b = scratch[GROUP];
      }
      yield;
      return { a, b };
    },
  });

/** Row i of (I + N)·x, x array `from`. Words moved: two a neighbour, one for the row itself. */
const product = (variant: GridVariant) =>
  fn({
    name: "product",
    params: { system: System, from: i32, i: i32 },
    env: { neighbours: neighboursOf(variant), MATRIX: slot.MATRIX },
    body({ system: { work, table, base, pitch, offsets }, from, i }, _gpu, { neighbours, MATRIX }) {
      const x = base + from * pitch;
      const matrix = base + MATRIX * pitch;
      let sum = work[x + i];
      for (let k = 0; k < neighbours; k++) sum += work[matrix + k * pitch + i] * work[x + table[offsets + k] + i];
      return sum;
    },
  });

/** The right-hand side of a stage and the first guess. */
const Stage = record({ fromU: real, fromV: real, advance: real });

/** r = b − A·y for the guess y = u + advance·rate; r·r and b·b. */
export const beginSystem = (variant: GridVariant) =>
  fn({
    name: "beginSystem",
    params: { system: System, stage: Stage },
    env: { GROUP: variant.groupSize, product: product(variant), totals: totals(variant.groupSize), ...slot },
    *body({ system, stage: { fromU, fromV, advance } }, _gpu, env) {
      const { work, base, pitch, rounds, item, scratch } = system;
      const { GROUP, U, V, Y, R, SHADOW, P, RATE, INVERSE, SOURCE } = env;
      for (let r = 0; r < rounds; r++) {
        const i = base + r * GROUP + item;
        work[Y * pitch + i] = work[U * pitch + i] + advance * work[RATE * pitch + i];
      }
      yield;
      let rr = 0.0;
      let bb = 0.0;
      for (let r = 0; r < rounds; r++) {
        const i = base + r * GROUP + item;
        let before = fromU * work[U * pitch + i];
        if (fromV !== 0) before += fromV * work[V * pitch + i];
        const b = work[INVERSE * pitch + i] * before + work[SOURCE * pitch + i];
        const residual = b - env.product({ system, from: Y, i: r * GROUP + item });
        work[R * pitch + i] = residual;
        work[SHADOW * pitch + i] = residual;
        work[P * pitch + i] = residual;
        rr += residual * residual;
        bb += b * b;
      }
      const sums = yield* env.totals({ scratch, item, first: rr, second: bb });
      return { rr: sums.a, bb: sums.b };
    },
  });

const iterated = { system: System, rr: real, threshold: real, maxIterations: i32 } as const;

/**
 * van der Vorst (1992): until r·r ≤ threshold. Where a division would give nothing (breakdown) it starts again with the
 * residual as its shadow. Words an iteration and row: 2·(2·neighbours + 1) for the products and 20 for the vectors.
 */
const bicgstab = (variant: GridVariant) =>
  fn({
    name: "bicgstab",
    params: iterated,
    env: { GROUP: variant.groupSize, product: product(variant), totals: totals(variant.groupSize), ...slot },
    *body({ system, rr, threshold, maxIterations }, _gpu, env) {
      const { work, base, pitch, rounds, item, scratch } = system;
      const { GROUP, Y, R, SHADOW, P, Q, T } = env;
      let iterations = 0;
      let residual = rr;
      let rho = rr;
      while (residual > threshold && iterations < maxIterations) {
        let sum = 0.0;
        for (let r = 0; r < rounds; r++) {
          const i = base + r * GROUP + item;
          const q = env.product({ system, from: P, i: r * GROUP + item });
          work[Q * pitch + i] = q;
          sum += work[SHADOW * pitch + i] * q;
        }
        const shadowed = yield* env.totals({ scratch, item, first: sum, second: 0.0 });
        const alpha = shadowed.a === 0 ? 0.0 : rho / shadowed.a;
        for (let r = 0; r < rounds; r++) {
          const i = base + r * GROUP + item;
          work[R * pitch + i] -= alpha * work[Q * pitch + i];
        }
        yield;
        let ts = 0.0;
        let tt = 0.0;
        for (let r = 0; r < rounds; r++) {
          const i = base + r * GROUP + item;
          const t = env.product({ system, from: R, i: r * GROUP + item });
          work[T * pitch + i] = t;
          ts += t * work[R * pitch + i];
          tt += t * t;
        }
        const minimal = yield* env.totals({ scratch, item, first: ts, second: tt });
        const omega = minimal.b === 0 ? 0.0 : minimal.a / minimal.b;
        let shadow = 0.0;
        let next = 0.0;
        for (let r = 0; r < rounds; r++) {
          const i = base + r * GROUP + item;
          const s = work[R * pitch + i];
          work[Y * pitch + i] += alpha * work[P * pitch + i] + omega * s;
          const rest = s - omega * work[T * pitch + i];
          work[R * pitch + i] = rest;
          shadow += work[SHADOW * pitch + i] * rest;
          next += rest * rest;
        }
        const end = yield* env.totals({ scratch, item, first: shadow, second: next });
        residual = end.b;
        iterations++;
        if (residual > threshold) {
          const beta = (end.a / rho) * (alpha / omega);
          const isGood = Number.isFinite(beta) && beta !== 0;
          rho = isGood ? end.a : residual;
          for (let r = 0; r < rounds; r++) {
            const i = base + r * GROUP + item;
            const rest = work[R * pitch + i];
            if (isGood) work[P * pitch + i] = rest + beta * (work[P * pitch + i] - omega * work[Q * pitch + i]);
            else {
              work[P * pitch + i] = rest;
              work[SHADOW * pitch + i] = rest;
            }
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
    env: { GROUP: variant.groupSize, product: product(variant), totals: totals(variant.groupSize), ...slot },
    *body({ system, rr, threshold, maxIterations }, _gpu, env) {
      const { work, base, pitch, rounds, item, scratch } = system;
      const { GROUP, Y, R, SHADOW, P, Q, T, EXTRA } = env;
      let iterations = 0;
      let residual = rr;
      let rho = rr;
      for (let r = 0; r < rounds; r++) {
        const i = base + r * GROUP + item;
        work[EXTRA * pitch + i] = work[R * pitch + i];
      }
      yield;
      while (residual > threshold && iterations < maxIterations) {
        let sum = 0.0;
        for (let r = 0; r < rounds; r++) {
          const i = base + r * GROUP + item;
          const v = env.product({ system, from: P, i: r * GROUP + item });
          work[Q * pitch + i] = v;
          sum += work[SHADOW * pitch + i] * v;
        }
        const shadowed = yield* env.totals({ scratch, item, first: sum, second: 0.0 });
        const alpha = shadowed.a === 0 ? 0.0 : rho / shadowed.a;
        // u is in EXTRA; q = u − αv takes the place of v, and u + q is in T.
        for (let r = 0; r < rounds; r++) {
          const i = base + r * GROUP + item;
          const u = work[EXTRA * pitch + i];
          const q = u - alpha * work[Q * pitch + i];
          work[Q * pitch + i] = q;
          work[T * pitch + i] = u + q;
        }
        yield;
        let shadow = 0.0;
        let next = 0.0;
        for (let r = 0; r < rounds; r++) {
          const i = base + r * GROUP + item;
          const rest = work[R * pitch + i] - alpha * env.product({ system, from: T, i: r * GROUP + item });
          work[R * pitch + i] = rest;
          work[Y * pitch + i] += alpha * work[T * pitch + i];
          shadow += work[SHADOW * pitch + i] * rest;
          next += rest * rest;
        }
        const end = yield* env.totals({ scratch, item, first: shadow, second: next });
        residual = end.b;
        iterations++;
        if (residual > threshold) {
          const beta = end.a / rho;
          const isGood = Number.isFinite(beta) && beta !== 0 && alpha !== 0;
          rho = isGood ? end.a : residual;
          for (let r = 0; r < rounds; r++) {
            const i = base + r * GROUP + item;
            const rest = work[R * pitch + i];
            if (isGood) {
              const q = work[Q * pitch + i];
              const u = rest + beta * q;
              work[EXTRA * pitch + i] = u;
              work[P * pitch + i] = u + beta * (q + beta * work[P * pitch + i]);
            } else {
              work[EXTRA * pitch + i] = rest;
              work[P * pitch + i] = rest;
              work[SHADOW * pitch + i] = rest;
            }
          }
          yield;
        }
      }
      return { residual, iterations };
    },
  });

/** Solves the system that `beginSystem` has begun. */
export const iterate = (variant: GridVariant) => (variant.method === "cgs" ? cgs(variant) : bicgstab(variant));
