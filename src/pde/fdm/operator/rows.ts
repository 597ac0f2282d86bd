/**
 * A writer of successive coefficients of one instance, `stride` apart: into an array of its own, or into its column of
 * a launch's table.
 */
export class Rows {
  private readonly values: Float64Array | Float32Array;
  private readonly stride: number;
  private at = 0;

  constructor(values: Float64Array | Float32Array, stride = 1) {
    this.values = values;
    this.stride = stride;
  }

  /** Sets the index at which the next coefficient is written. */
  from(first: number): this {
    this.at = first;
    return this;
  }

  /** Writes the next coefficient. */
  put(value: number): void {
    this.values[this.at] = value;
    this.at += this.stride;
  }
}
