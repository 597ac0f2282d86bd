import type { Kernel } from "../../kernel/index.ts";

/** A function that makes each kernel once, so that devices find it by its identity. `shape` is plain data. */
export function once<S extends object>(make: (shape: S) => Kernel<any>): (shape: S) => Kernel<any> {
  const made = new Map<string, Kernel<any>>();
  return (shape) => {
    const key = Object.values(shape).join();
    const known = made.get(key) ?? make(shape);
    made.set(key, known);
    return known;
  };
}
