import { type FunctionSpec, type Kernel, shapeOf } from "../../kernel/index.ts";
import { LastUsed } from "../../last-used.ts";

/** Kernels that models share. */
const MAX_KERNELS = 64;
/** Longer ones than this are no memory's business; the device still compares what they lower to. */
const MAX_KEY = 2 ** 18;

/**
 * Returns one kernel for all descriptions that lower to the same code, whatever the literals of their functions are:
 * devices know kernels by identity. A pure function's memory.
 */
export function sharing<T, K extends Kernel>(make: (of: T) => K): (of: T) => K {
  const kernels = new LastUsed<string, K>(MAX_KERNELS);
  return (of) => {
    const key = keyOf(of);
    return key.length > MAX_KEY ? make(of) : kernels.getOrMake(key, () => make(of));
  };
}

/** A text that is equal for descriptions that lower to the same code. */
function keyOf(value: unknown): string {
  if (typeof value === "function") return shapeOf(value as unknown as FunctionSpec);
  if (typeof value !== "object" || value === null) return String(value);
  const parts = Object.entries(value).map(([name, part]) => `${name} ${keyOf(part)}`);
  return parts.map((part) => `${part.length} ${part}`).join("\n");
}
