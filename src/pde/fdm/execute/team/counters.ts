/**
 * Whole numbers over the workgroup, the same for all items to the compiler too: loops that are collective may end by
 * them.
 */
import { fn, i32, write } from "../../../../kernel/index.ts";

/**
 * `counter` is a word that is 0 before and after, `result` one that nobody else writes. Cost: an atomic operation an
 * item, two barriers.
 */
const overGroup = (name: string, operation: "add" | "max") =>
  fn({
    name,
    params: [i32, write(i32), write(i32)],
    env: { operation },
    *body([mine, counter, result], gpu, { operation }) {
      if (operation === "add") gpu.atomicAdd(counter, 0, mine);
      else gpu.atomicMax(counter, 0, mine);
      yield;
      if (gpu.localId() === 0) {
        result[0] = gpu.atomicLoad(counter, 0);
        gpu.atomicStore(counter, 0, 0);
      }
      yield;
      return result[0];
    },
  });

/** Returns the sum of a number over the work items of a group. */
export const total = overGroup("total", "add");

/**
 * Returns the largest of nonnegative numbers over the work items of a group. It uses atomics, because a subgroup
 * maximum would depend on which items execute together (design/splits.md, "Reductions").
 */
export const largest = overGroup("largest", "max");
