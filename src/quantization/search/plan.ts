/** The tables that a search has computed beforehand, on the host. */
export interface SearchPlan {
  /** The integers for the kernel function of the method. */
  readonly table: Int32Array;
  /** The reals for it. */
  readonly geometry: Float64Array;
}
