import type { Device } from "../device/index.ts";
import type { Precision } from "../kernel/index.ts";
import { WORKGROUP_ITEMS, workgroupWords } from "./solver/index.ts";

/** How a launch is shared out: one work item an option, or one workgroup an option. */
export type Split = "item" | "workgroup";

/** Node capacities of the workgroup split: 2, 3, 5 and 9 nodes an item. */
const CAPACITIES = [128, 192, 320, 576];

/** The capacity that a lane's kernel gets in the workgroup split; undefined where the device has no room for it. */
export function workgroupCapacity({ limits }: Device, precision: Precision, nodes: number): number | undefined {
  const bytes = precision === "f32" ? 4 : 8;
  if (limits.maxGroupSize < WORKGROUP_ITEMS) return undefined;
  return CAPACITIES.find((size) => size >= nodes && workgroupWords(size) * bytes <= limits.maxWorkgroupBytes);
}

/** A GPU holds at least so many items at once; an adapter with fewer is a CPU that poses as one. */
const LEAST_GPU = 8192;

/**
 * A CPU is full with a few hundred options, one a SIMD lane: one item an option, always. So is a software adapter, to which a barrier is
 * 64 changes of thread: SwiftShader takes 5 to 100 times as long for the workgroup split.
 *
 * On a GPU a workgroup's steps are shorter by some twelve times: a run of 3 nodes four times over and 14 barriers, instead of 161 nodes
 * twice. Measured on an H200 (design/two-splits.md) it is 2 to 12 times as fast for 16 to 1,024 options and still ahead at 65,536, half of
 * `parallelism`; larger launches have not been measured and take the items, which then fill the GPU.
 */
export function preferredSplit({ backend, parallelism }: Device, lanes: number): Split {
  if (backend === "cpu" || parallelism < LEAST_GPU) return "item";
  return lanes <= parallelism / 2 ? "workgroup" : "item";
}
