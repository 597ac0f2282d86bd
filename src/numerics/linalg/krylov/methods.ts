/** bicgstab, cgs and cg by launches over whole vectors. */
import type { DeviceBuffer } from "../../../device/index.ts";
import type { SparseOperator } from "../sparse/index.ts";
import {
  cgDirection,
  dotPass,
  bicgstabHalfStep,
  cgsDirection,
  cgsHalfStep,
  bicgstabDirection,
  bicgstabUpdate,
  solutionUpdate,
} from "./passes.ts";
import type { Preconditioner } from "./factor-parts.ts";
import { cgStart, cgBeta, cgAlpha, bicgstabOmega, shadowBeta, shadowAlpha } from "./recurrences.ts";
import type { Workspace } from "./workspace.ts";

/** The inputs of an iterative method. */
export interface MethodInputs {
  readonly work: Workspace;
  readonly operator: SparseOperator;
  readonly preconditioner: Preconditioner | undefined;
  /** The residual b − A·x at the start, which the method changes; `shadow` is an unchanged copy. */
  readonly r: DeviceBuffer;
  readonly shadow: DeviceBuffer;
}

/** An iterative method prepared for one system; its functions record launches. */
export interface KrylovIteration {
  /** Records what precedes the first iteration; the residual and its sums have been computed. */
  start?(): void;
  /** Records one iteration. */
  iterate(x: DeviceBuffer, b: DeviceBuffer): void;
  /** Brings x up to date before it is used. Only gmres needs it. */
  flush?(x: DeviceBuffer): void;
}

/**
 * Prepares the method bicgstab of van der Vorst (1992), preconditioned from the right (Saad 2003, section 9.3.2). An
 * iteration moves 27 words per row.
 */
export async function bicgstab({ work, operator, preconditioner, r, shadow }: MethodInputs): Promise<KrylovIteration> {
  const { device, n, flags, state, partials, groups } = work;
  const [p, v, t] = [work.buffer(), work.buffer(), work.buffer()];
  const [pHat, sHat] = preconditioner === undefined ? [p, p] : [work.buffer(), work.buffer()];
  const direction = await work.compile(bicgstabDirection);
  const half = await work.compile(bicgstabHalfStep);
  const dots = await work.compile(dotPass);
  const update = await work.compile(bicgstabUpdate({ preconditioned: preconditioner !== undefined }));
  const first = await work.scalarStep(shadowAlpha);
  const second = await work.scalarStep(bicgstabOmega);
  const end = await work.scalarStep(shadowBeta(true));
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
export async function cgs({ work, operator, preconditioner, r, shadow }: MethodInputs): Promise<KrylovIteration> {
  const { device, n, flags, state, partials, groups } = work;
  const [p, q, u, v] = [work.buffer(), work.buffer(), work.buffer(), work.buffer()];
  const hat = preconditioner === undefined ? undefined : work.buffer();
  const direction = await work.compile(cgsDirection);
  const step = await work.compile(cgsHalfStep);
  const dots = await work.compile(dotPass);
  const update = await work.compile(solutionUpdate({ hasShadow: true }));
  const first = await work.scalarStep(shadowAlpha);
  const end = await work.scalarStep(shadowBeta(false));
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
export async function cg({ work, operator, preconditioner, r }: MethodInputs): Promise<KrylovIteration> {
  const { device, n, flags, state, partials, groups } = work;
  const [p, w] = [work.buffer(), work.buffer()];
  const z = preconditioner === undefined ? r : work.buffer();
  const direction = await work.compile(cgDirection);
  const dots = await work.compile(dotPass);
  const update = await work.compile(solutionUpdate({ hasShadow: false }));
  const step = await work.scalarStep(cgAlpha);
  const began = await work.scalarStep(cgStart);
  const end = await work.scalarStep(cgBeta);
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
