/** Dense matrices on any device: arrays, products, Cholesky factors; the nearest correlation matrix. */
export { type ArrayOptions, DeviceArray, type Shape, type Strides } from "./array.ts";
export { Cholesky, choleskySpec, type CholeskySpec } from "./cholesky.ts";
export {
  isPositiveSemidefinite,
  nearestCorrelation,
  type NearestCorrelation,
  type NearestOptions,
} from "./correlation.ts";
export { symmetricEigen, type Eigen } from "./eigen.ts";
export { Matmul, matmul, type MatmulArguments, type MatmulOptions } from "./matmul.ts";
export { type Implementation, matmulSpec, type MatmulSettings, type MatmulSpec, type Order } from "./matmul-spec.ts";
export type { Tile } from "./tile.ts";
export type { Matrix } from "./small.ts";
