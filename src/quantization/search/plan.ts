/** The tables that a search has computed beforehand, on the host. */
export interface SearchPlan {
  /** Integers for the kernel function of the method. */
  readonly table: Int32Array;
  /** Reals for it. */
  readonly geometry: Float64Array;
}
