import { type Device, privateSizes } from "../../device/index.ts";
import { SpecError } from "../../errors.ts";
import { type Kernel, type Precision, sharing } from "../../kernel/index.ts";
import { type EquationVariant, privateArrays } from "../operator/equation-variant.ts";
import { equationKernel } from "./equation/kernel.ts";
import { fittingCapacity, preferredSplits, type Split, teamOf } from "./split.ts";
import { equationBytes } from "./equation/plan.ts";
import type { Team } from "./team/team.ts";

/** The way in which an equation's nodes are divided: one work item an instance, a subgroup, or a workgroup. */
export type EquationSplit = Exclude<Split, "half-subgroup">;

/** The executor of an equation: a split of its nodes, and the number of nodes that its kernel has room for. */
export interface EquationExecutor {
  readonly split: EquationSplit;
  /** The variant, with its capacity, from which the kernel is made. */
  readonly variant: EquationVariant;
}

type Uncapped = Omit<EquationVariant, "capacity">;

/**
 * The executor of an equation on a device, for meshes of up to `nodes` nodes: the first of
 *
 *   subgroup    on GPUs whose subgroups have 32 lanes, up to 544 nodes
 *   workgroup   on GPUs, up to 576 nodes; not in f32x2, which takes minutes to compile
 *   item        elsewhere: CPUs and software adapters (`preferredSplits`), more nodes, `convection: "central"`, whose
 *               rows may have negative entries (`equationKernel`)
 *
 * that the device has room for in workgroup memory. Tests say `split`.
 * @throws SpecError (too many nodes for the device)
 */
export function executorFor(
  device: Device,
  variant: Uncapped,
  axis: { readonly name: string; readonly nodes: number },
  precision: Precision,
  split?: EquationSplit,
): EquationExecutor {
  const splits = split === undefined ? preferredSplits(device) : [split];
  for (const each of splits) {
    if (each !== "subgroup" && each !== "workgroup") continue;
    if (!variant.fitted || (each === "workgroup" && precision === "f32x2" && split === undefined)) continue;
    const bytesOf = (team: Team, size: number): number =>
      equationBytes(team, { ...variant, capacity: size }, precision);
    const capacity = fittingCapacity(device, axis.nodes, each, bytesOf);
    if (capacity !== undefined) return { split: each, variant: { ...variant, capacity } };
  }
  if (split !== undefined && split !== "item")
    throw new SpecError(`axes.${axis.name}.nodes: ${axis.nodes}, or the device, is not for the split ${split}`);
  return itemExecutor(device, variant, axis, precision);
}

/** Node capacities that kernels of items are compiled for: few, since each is a compilation. */
const ITEM_CAPACITIES = [65, 129, 257, 513, 1025, 2049];

/** Returns the executor with one work item an instance. @throws SpecError */
export function itemExecutor(
  device: Device,
  variant: Uncapped,
  { name, nodes }: { readonly name: string; readonly nodes: number },
  precision: Precision,
): EquationExecutor {
  const bytes = privateArrays({ ...variant, capacity: nodes }) * (precision === "f64" ? 8 : 4);
  const capacities = privateSizes(device, ITEM_CAPACITIES, bytes, 64);
  const capacity = capacities.find((size) => size >= nodes);
  if (capacity === undefined)
    throw new SpecError(
      `axes.${name}.nodes: ${nodes}, at most ${capacities.at(-1)} on ${device.name} in ${precision} ` +
        "with these conditions",
    );
  return { split: "item", variant: { ...variant, capacity } };
}

/** Returns the kernel of an executor. */
export const kernelOf = ({ split, variant }: EquationExecutor): Kernel => equationKernel(variant, teamOf(split));

/** Returns the kernel of an executor, shared by all executors whose kernels lower to the same code. */
export const sharedKernelOf = sharing(kernelOf);
