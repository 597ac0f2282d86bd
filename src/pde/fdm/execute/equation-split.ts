import { type Device, privateSizes } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { type Kernel, type Precision, sharing } from "../../../kernel/index.ts";
import { type EquationVariant, privateArrays } from "../operator/equation-row.ts";
import { equationKernel } from "./equation/kernel.ts";
import { fittingCapacity, preferredSplits, type Split, teamOf } from "./split.ts";
import { equationBytes } from "./equation/memory.ts";
import type { Team } from "./team/team.ts";

/** The number of work items that solve an instance: one item, a subgroup, or a workgroup. */
export type EquationSplit = Exclude<Split, "half-subgroup">;

/**
 * The executor of an equation: which work items solve an instance, and the number of nodes for which its kernel is
 * made.
 */
export interface EquationExecutor {
  readonly split: EquationSplit;
  /** The variant of the kernel, with its `capacity` of nodes. */
  readonly variant: EquationVariant;
}

type Uncapped = Omit<EquationVariant, "capacity">;

/**
 * Returns the executor of an equation on a device, for meshes of up to `nodes` nodes. It is the first of these that
 * fits into the device's workgroup memory:
 *
 *   subgroup    on GPUs whose subgroups have 32 lanes, up to 544 nodes
 *   workgroup   on GPUs, up to 576 nodes; not in f32x2, which takes minutes to compile
 *   item        otherwise: on CPUs and software adapters (`preferredSplits`), for more nodes, and with `convection:
 *               "central"`, whose rows may have negative entries (`equationKernel`)
 *
 * Tests may choose the `split`.
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

/** Returns the executor with one work item for each instance. @throws SpecError too many nodes for the device */
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

/** Returns the kernel of an executor; executors whose kernels lower to the same code share one. */
export const sharedKernelOf = sharing(kernelOf);
