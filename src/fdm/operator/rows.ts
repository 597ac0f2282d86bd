/**
 * A writer of an instance's coefficient rows, `stride` apart: into a separate array, or directly into a launch's table.
 */
export class Rows {
  private readonly values: Float64Array | Float32Array;
  private readonly stride: number;
  private at = 0;

  constructor(values: Float64Array | Float32Array, stride = 1) {
    this.values = values;
    this.stride = stride;
  }

  /** The next row is at index `first`. */
  from(first: number): this {
    this.at = first;
    return this;
  }

  put(value: number): void {
    this.values[this.at] = value;
    this.at += this.stride;
  }
}
