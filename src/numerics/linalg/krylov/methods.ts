/** bicgstab, cgs and cg by launches over whole vectors. */
import type { DeviceBuffer } from "../../../device/index.ts";
import type { SparseOperator } from "../sparse/index.ts";
import {
  conjugateDirection,
  dotPass,
  halfStep,
  squaredDirection,
  squaredStep,
  stabilisedDirection,
  stabilisedUpdate,
  stepUpdate,
} from "./passes.ts";
import type { Preconditioner } from "./factor-parts.ts";
import { conjugateBegin, conjugateEnd, conjugateStep, minimalStep, shadowEnd, shadowStep } from "./recurrences.ts";
import type { Workspace } from "./workspace.ts";

/** The inputs of an iterative method. */
export interface Parts {
  readonly work: Workspace;
  readonly operator: SparseOperator;
  readonly preconditioner: Preconditioner | undefined;
  /** The residual b − A·x at the start, which the method changes; `shadow` is an unchanged copy. */
  readonly r: DeviceBuffer;
  readonly shadow: DeviceBuffer;
}

/** An iterative method prepared for one system; its functions record launches. */
export interface Method {
  /** Records the start, after the residual and its sums. */
  start?(): void;
  /** Records one iteration. */
  iterate(x: DeviceBuffer, b: DeviceBuffer): void;
  /** Brings x up to date before it is used; needed for gmres. */
  flush?(x: DeviceBuffer): void;
}

/**
 * Prepares the method bicgstab of van der Vorst (1992), preconditioned from the right (Saad 2003, section 9.3.2). An
 * iteration moves 27 words per row.
 */
export async function bicgstab({ work, operator, preconditioner, r, shadow }: Parts): Promise<Method> {
  const { device, n, flags, state, partials, groups } = work;
  const [p, v, t] = [work.buffer(), work.buffer(), work.buffer()];
  const [pHat, sHat] = preconditioner === undefined ? [p, p] : [work.buffer(), work.buffer()];
  const direction = await work.compile(stabilisedDirection);
  const half = await work.compile(halfStep);
  const dots = await work.compile(dotPass);
  const update = await work.compile(stabilisedUpdate({ preconditioned: preconditioner !== undefined }));
  const first = await work.conclude(shadowStep);
  const second = await work.conclude(minimalStep);
  const end = await work.conclude(shadowEnd(true));
  return {
    iterate(x) {
      device.launch(direction, { n, flags, state, r, v, p }, { items: n });
      preconditioner?.apply(p, pHat);
      operator.apply({ x: pHat, y: v });
      device.launch(dots, { n, a: shadow, b: v, c: v, d: v, partials }, { groups });
      first();
      device.launch(half, { n, flags, state, v, r }, { items: n });
      preconditioner?.apply(r, sHat);
      operator.apply({ x: preconditioner === undefined ? r : sHat, y: t });
      device.launch(dots, { n, a: t, b: r, c: t, d: t, partials }, { groups });
      second();
      device.launch(update, { n, flags, state, pHat, sHat, t, shadow, r, x, partials }, { groups });
      end();
    },
  };
}

/** Prepares the method cgs of Sonneveld (1989), preconditioned from the right. */
export async function cgs({ work, operator, preconditioner, r, shadow }: Parts): Promise<Method> {
  const { device, n, flags, state, partials, groups } = work;
  const [p, q, u, v] = [work.buffer(), work.buffer(), work.buffer(), work.buffer()];
  const hat = preconditioner === undefined ? undefined : work.buffer();
  const direction = await work.compile(squaredDirection);
  const step = await work.compile(squaredStep);
  const dots = await work.compile(dotPass);
  const update = await work.compile(stepUpdate({ hasShadow: true }));
  const first = await work.conclude(shadowStep);
  const end = await work.conclude(shadowEnd(false));
  return {
    iterate(x) {
      device.launch(direction, { n, flags, state, r, q, u, p }, { items: n });
      if (hat !== undefined) preconditioner?.apply(p, hat);
      operator.apply({ x: hat ?? p, y: v });
      device.launch(dots, { n, a: shadow, b: v, c: v, d: v, partials }, { groups });
      first();
      device.launch(step, { n, flags, state, v, u, q }, { items: n });
      if (hat !== undefined) preconditioner?.apply(u, hat);
      operator.apply({ x: hat ?? u, y: v });
      device.launch(update, { n, flags, state, d: hat ?? u, w: v, shadow, r, x, partials }, { groups });
      end();
    },
  };
}

/** Prepares the method cg of Hestenes & Stiefel (1952), preconditioned (Saad 2003, section 9.2). */
export async function cg({ work, operator, preconditioner, r }: Parts): Promise<Method> {
  const { device, n, flags, state, partials, groups } = work;
  const [p, w] = [work.buffer(), work.buffer()];
  const z = preconditioner === undefined ? r : work.buffer();
  const direction = await work.compile(conjugateDirection);
  const dots = await work.compile(dotPass);
  const update = await work.compile(stepUpdate({ hasShadow: false }));
  const step = await work.conclude(conjugateStep);
  const began = await work.conclude(conjugateBegin);
  const end = await work.conclude(conjugateEnd);
  const precondition = (): void => {
    preconditioner?.apply(r, z);
    device.launch(dots, { n, a: r, b: z, c: r, d: r, partials }, { groups });
  };
  return {
    start() {
      precondition();
      began();
    },
    iterate(x) {
      device.launch(direction, { n, flags, state, z, p }, { items: n });
      operator.apply({ x: p, y: w });
      device.launch(dots, { n, a: p, b: w, c: p, d: w, partials }, { groups });
      step();
      device.launch(update, { n, flags, state, d: p, w, shadow: w, r, x, partials }, { groups });
      if (preconditioner !== undefined) precondition();
      end();
    },
  };
}
