/** Dense matrices on any device: arrays, products. */
export { type ArrayOptions, DeviceArray, type Shape, type Strides } from "./array.ts";
export { Matmul, matmul, type MatmulArguments, type MatmulOptions } from "./matmul.ts";
export { type Implementation, matmulSpec, type MatmulSettings, type MatmulSpec, type Order } from "./matmul-spec.ts";
export type { Tile } from "./tile.ts";
