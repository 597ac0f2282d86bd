/** The tables of a search, computed on the host. @experimental */
export interface SearchPlan {
  /** The integers for the kernel function of the method. */
  readonly table: Int32Array;
  /** The reals for the kernel function of the method. */
  readonly geometry: Float64Array;
}
