import type { Kernel, Params } from "../../kernel/index.ts";

/** A function that makes each kernel once, so that devices find it by its identity. `shape` is plain data. */
export function once<S extends object, P extends Params>(make: (shape: S) => Kernel<P>): (shape: S) => Kernel<P> {
  const made = new Map<string, Kernel<P>>();
  return (shape) => {
    const key = Object.values(shape).join();
    const known = made.get(key) ?? make(shape);
    made.set(key, known);
    return known;
  };
}
