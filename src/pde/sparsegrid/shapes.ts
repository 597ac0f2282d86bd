/** The numbers of items that solve a grid, and the places of its rows. */
import { type Device, firstThatFits, isGpu } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import { type GridVariant, neighboursOf } from "./kernel/variant.ts";

/** The size of a kernel's workgroups, and where their rows are stored. */
export type GridShape = Pick<GridVariant, "groupSize" | "shuffles" | "residentRows">;

/**
 * Returns the largest number of unknowns that a workgroup of a shape can solve; it is also the largest distance between
 * neighbours.
 */
export const capacityOf = ({ groupSize, residentRows }: GridShape): number =>
  residentRows > 0 ? residentRows * groupSize : Infinity;

/** The size of a group on a CPU: the lanes of its vectors. */
const CPU_GROUP = 8;
const GPU_GROUP = 256;
/** Grids of more unknowns have larger workgroups, which hide more of the way to memory. */
const MANY_UNKNOWNS = 1024;
const LARGE_GROUP = 512;
/** Rows of an item that may stay in registers: few kernels for grids of many sizes. */
const RESIDENT_ROWS = [1, 3, 5] as const;
/**
 * The number of words of 32 bits that rows may take of an item's 255 registers; of a row there are ten numbers beside
 * its entries. nvcc puts five rows of six neighbours in f64 into 254 registers and spills none.
 */
const RESIDENT_REALS = 160;
const NUMBERS_OF_A_ROW = 10;

/**
 * Returns the workgroup shape for grids of up to a number of unknowns. Small grids stay in registers for all time steps
 * on devices whose compiler unrolls loops on request, as on CUDA.
 */
export function shapeFor(
  device: Device,
  variant: Omit<GridVariant, keyof GridShape>,
  precision: Precision,
  unknowns: number,
): GridShape {
  if (!isGpu(device)) return { groupSize: CPU_GROUP, shuffles: false, residentRows: 0 };
  const { maxGroupSize, subgroupSize } = device.limits;
  const shuffles = subgroupSize === 32;
  const words = (NUMBERS_OF_A_ROW + neighboursOf(variant)) * (precision === "f32" ? 1 : 2);
  const mayStay = device.backend === "cuda" && variant.obstacle === undefined;
  const resident = RESIDENT_ROWS.filter((rows) => mayStay && rows * words <= RESIDENT_REALS);
  const groupSize = Math.min(unknowns > MANY_UNKNOWNS ? LARGE_GROUP : GPU_GROUP, maxGroupSize);
  const shapes: readonly GridShape[] = [
    ...resident.map((residentRows) => ({ groupSize: GPU_GROUP, shuffles, residentRows })),
    { groupSize, shuffles, residentRows: 0 },
  ];
  const enough = shapes.filter((shape) => capacityOf(shape) >= unknowns);
  return firstThatFits(device, enough, ({ groupSize: items }) => ({ items }))!;
}
