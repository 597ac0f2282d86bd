/**
 * Passes over vectors, each fused with the sums that follow it. A workgroup takes rows at equal distances. After the
 * end of the iteration (`flags[0]`) a pass changes nothing, so that launches may be recorded ahead of what is known.
 */
import { i32, kernel, read, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { stateSlots, flagSlots, squareOrTiny } from "./recurrences.ts";
import { GROUP_SIZE, groupSums } from "./workspace.ts";

const common = { n: i32, flags: read(i32), state: read(real) } as const;
const env = { GROUP_SIZE, groupSums, ...stateSlots, ...flagSlots } as const;

/**
 * The kernel that computes r = b − A·x from A·x, copies r, and sums r·r and b·b, whatever the status is. 5 words per
 * row.
 */
export const residualPass = kernel({
  name: "residual",
  params: { n: i32, b: read(real), ax: read(real), r: write(real), copy: write(real), partials: write(real) },
  groupSize: GROUP_SIZE,
  env: { GROUP_SIZE, groupSums, squareOrTiny },
  *body({ n, b, ax, r, copy, partials }, gpu, { GROUP_SIZE, groupSums, squareOrTiny }) {
    const scratch = gpu.sharedReal(2 * GROUP_SIZE);
    let first = 0.0;
    let second = 0.0;
    for (let i = gpu.globalId(); i < n; i += GROUP_SIZE * gpu.groupCount()) {
      const rhs = b[i];
      const residual = rhs - ax[i];
      r[i] = residual;
      copy[i] = residual;
      first += squareOrTiny({ x: residual });
      second += squareOrTiny({ x: rhs });
    }
    yield* groupSums({ first, second, scratch, partials, slot: gpu.groupId() });
  },
});

/** The kernel that sums a·b and c·d. 4 words per row, or 2 if d is b and c is b. */
export const dotPass = kernel({
  name: "dots",
  params: { n: i32, a: read(real), b: read(real), c: read(real), d: read(real), partials: write(real) },
  groupSize: GROUP_SIZE,
  env: { GROUP_SIZE, groupSums },
  *body({ n, a, b, c, d, partials }, gpu, { GROUP_SIZE, groupSums }) {
    const scratch = gpu.sharedReal(2 * GROUP_SIZE);
    let first = 0.0;
    let second = 0.0;
    for (let i = gpu.globalId(); i < n; i += GROUP_SIZE * gpu.groupCount()) {
      first += a[i] * b[i];
      second += c[i] * d[i];
    }
    yield* groupSums({ first, second, scratch, partials, slot: gpu.groupId() });
  },
});

/** The kernel that computes bicgstab's direction, p = r + β·(p − ω·v). 4 words per row. */
export const bicgstabDirection = kernel({
  name: "stabilisedDirection",
  params: { ...common, r: read(real), v: read(real), p: write(real) },
  env: { ...stateSlots, ...flagSlots },
  body({ flags, state, r, v, p }, gpu, { STATUS, BETA, OMEGA }) {
    const i = gpu.globalId();
    // Not β·0: a vector that has not been written yet may hold anything after an earlier solution.
    if (flags[STATUS] === 0) p[i] = state[BETA] === 0 ? r[i] : r[i] + state[BETA] * (p[i] - state[OMEGA] * v[i]);
  },
});

/** The kernel of the first half of an iteration of bicgstab: s = r − α·v, which replaces r. 3 words per row. */
export const bicgstabHalfStep = kernel({
  name: "halfStep",
  params: { ...common, v: read(real), r: write(real) },
  env: { ...stateSlots, ...flagSlots },
  body({ flags, state, v, r }, gpu, { STATUS, ALPHA }) {
    const i = gpu.globalId();
    if (flags[STATUS] === 0) r[i] -= state[ALPHA] * v[i];
  },
});

interface Preconditioned {
  /** True with a preconditioner. Without one M⁻¹s is s, which is in the place of r; `sHat` is not read. */
  readonly preconditioned: boolean;
}

/**
 * Returns the kernel that ends an iteration of bicgstab: x += α·M⁻¹p + ω·M⁻¹s and r = s − ω·t. It also sums r̂·r and
 * r·r. 8 words per row.
 */
export const bicgstabUpdate = memoize(({ preconditioned }: Preconditioned) =>
  kernel({
    name: preconditioned ? "stabilisedUpdate" : "stabilisedUpdatePlain",
    params: {
      ...common,
      pHat: read(real),
      sHat: read(real),
      t: read(real),
      shadow: read(real),
      r: write(real),
      x: write(real),
      partials: write(real),
    },
    groupSize: GROUP_SIZE,
    env: { ...env, preconditioned },
    *body({ n, flags, state, pHat, sHat, t, shadow, r, x, partials }, gpu, env) {
      const { GROUP_SIZE, groupSums, preconditioned, STATUS, ALPHA, OMEGA } = env;
      const scratch = gpu.sharedReal(2 * GROUP_SIZE);
      const end = flags[STATUS] === 0 ? n : 0;
      let first = 0.0;
      let second = 0.0;
      for (let i = gpu.globalId(); i < end; i += GROUP_SIZE * gpu.groupCount()) {
        const s = r[i];
        x[i] = x[i] + state[ALPHA] * pHat[i] + state[OMEGA] * (preconditioned ? sHat[i] : s);
        const residual = s - state[OMEGA] * t[i];
        r[i] = residual;
        first += shadow[i] * residual;
        second += residual * residual;
      }
      yield* groupSums({ first, second, scratch, partials, slot: gpu.groupId() });
    },
  }),
);

/** The kernel that computes the directions of cgs, u = r + β·q and p = u + β·(q + β·p). 5 words per row. */
export const cgsDirection = kernel({
  name: "squaredDirection",
  params: { ...common, r: read(real), q: read(real), u: write(real), p: write(real) },
  env: { ...stateSlots, ...flagSlots },
  body({ flags, state, r, q, u, p }, gpu, { STATUS, BETA }) {
    const i = gpu.globalId();
    const beta = state[BETA];
    if (flags[STATUS] === 0) {
      const next = beta === 0 ? r[i] : r[i] + beta * q[i];
      u[i] = next;
      p[i] = beta === 0 ? next : next + beta * (q[i] + beta * p[i]);
    }
  },
});

/** The kernel that computes q = u − α·v for cgs, and u + q, which replaces u. 4 words per row. */
export const cgsHalfStep = kernel({
  name: "squaredStep",
  params: { ...common, v: read(real), u: write(real), q: write(real) },
  env: { ...stateSlots, ...flagSlots },
  body({ flags, state, v, u, q }, gpu, { STATUS, ALPHA }) {
    const i = gpu.globalId();
    if (flags[STATUS] === 0) {
      const next = u[i] - state[ALPHA] * v[i];
      q[i] = next;
      u[i] += next;
    }
  },
});

/**
 * Returns the kernel that updates the solution and the residual, x += α·d and r −= α·w, for cg and cgs. It also sums
 * r̂·r, with r̂ the shadow residual (cgs, `hasShadow`), or r·r (cg), and r·r. 7 words per row.
 */
export const solutionUpdate = memoize(({ hasShadow }: { readonly hasShadow: boolean }) =>
  kernel({
    name: hasShadow ? "stepUpdateWithShadow" : "stepUpdate",
    params: {
      ...common,
      d: read(real),
      w: read(real),
      shadow: read(real),
      r: write(real),
      x: write(real),
      partials: write(real),
    },
    groupSize: GROUP_SIZE,
    env: { ...env, hasShadow },
    *body({ n, flags, state, d, w, shadow, r, x, partials }, gpu, env) {
      const { GROUP_SIZE, groupSums, hasShadow, STATUS, ALPHA } = env;
      const scratch = gpu.sharedReal(2 * GROUP_SIZE);
      const end = flags[STATUS] === 0 ? n : 0;
      let first = 0.0;
      let second = 0.0;
      for (let i = gpu.globalId(); i < end; i += GROUP_SIZE * gpu.groupCount()) {
        x[i] += state[ALPHA] * d[i];
        const residual = r[i] - state[ALPHA] * w[i];
        r[i] = residual;
        first += (hasShadow ? shadow[i] : residual) * residual;
        second += residual * residual;
      }
      yield* groupSums({ first, second, scratch, partials, slot: gpu.groupId() });
    },
  }),
);

/** The kernel that computes cg's direction, p = z + β·p. 3 words per row. */
export const cgDirection = kernel({
  name: "conjugateDirection",
  params: { ...common, z: read(real), p: write(real) },
  env: { ...stateSlots, ...flagSlots },
  body({ flags, state, z, p }, gpu, { STATUS, BETA }) {
    const i = gpu.globalId();
    if (flags[STATUS] === 0) p[i] = state[BETA] === 0 ? z[i] : z[i] + state[BETA] * p[i];
  },
});

/** The kernel that sets the solution x to 0 if the right-hand side b is 0. */
export const zeroSolution = kernel({
  name: "zeroSolution",
  params: { flags: read(i32), zero: i32, x: write(real) },
  env: { ...flagSlots },
  body({ flags, zero, x }, gpu, { STATUS }) {
    if (flags[STATUS] === zero) x[gpu.globalId()] = 0;
  },
});
