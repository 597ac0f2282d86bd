/** Transition probabilities of autoregressive chains in one dimension, by quadrature instead of paths. */
import { i32, kernel, read, real, write } from "../../../kernel/index.ts";
import { gaussLegendre } from "../../../numerics/linalg/index.ts";

/** The number of standard deviations beyond which the normal distribution is negligible in f64. */
export const MAX_DEVIATIONS = 8.5;
const NODES = 10;

/** Returns the nodes and weights of the quadrature rule for the kernel. */
export function ruleNumbers(): Float64Array {
  const { nodes, weights } = gaussLegendre(NODES);
  return Float64Array.from([...nodes, ...weights]);
}

/**
 * The kernel that computes, row by row, P(Yₖ₊₁ ∈ Cⱼ | Yₖ ∈ Cᵢ) of Yₖ₊₁ = a·Yₖ + b·Z, Yₖ ~ N(0, 1), for the columns from
 * `columns` on:
 *
 *   ∫ over Cᵢ of φ(x)·(Φ((eⱼ₊₁ − a·x)/b) − Φ((eⱼ − a·x)/b)) dx / P(Cᵢ)
 *
 * by Gauss and Legendre's rule of ten nodes on parts of Cᵢ no wider than the integrand is smooth. Error: rounding.
 * Cost: per row parts × nodes × columns values of Φ.
 */
export const exactRows = kernel({
  name: "exactRows",
  params: {
    size: i32,
    totalRows: i32,
    rule: read(real),
    /** [size + 1], from −8.5 to 8.5. */
    ends: read(real),
    /** a and b of each step. */
    parameters: read(real),
    /** First of the columns of each row, and how many there are. */
    firstColumns: read(i32),
    widths: read(i32),
    columns: write(i32),
    probabilities: write(real),
  },
  env: { NODES },
  body(
    { size, totalRows, rule, ends, parameters, firstColumns, widths, columns, probabilities },
    gpu,
    { NODES },
  ): undefined {
    const row = gpu.globalId();
    const cell = row % size;
    const step = ((row / size) | 0) + 1;
    const a = parameters[2 * step];
    const b = parameters[2 * step + 1];
    const low = ends[cell];
    const high = ends[cell + 1];
    const widest = Math.min(0.5, b / Math.max(Math.abs(a), 1e-6));
    const parts = gpu.i32(Math.ceil((high - low) / widest));
    const half = (0.5 * (high - low)) / gpu.real(parts);
    const start = firstColumns[row];
    const width = widths[row];
    let mass = gpu.real(0);
    for (let part = 0; part < parts; part++) {
      for (let node = 0; node < NODES; node++) {
        const x = low + half * (gpu.real(2 * part + 1) + rule[node]);
        const weight = half * rule[NODES + node] * gpu.normalPdf(x);
        mass += weight;
        let below = gpu.normalCdf((ends[start] - a * x) / b);
        for (let s = 0; s < width; s++) {
          // Beyond the last end nothing is left; the first column takes what is below, the last what is above.
          const above = start + s + 1 === size ? gpu.real(1) : gpu.normalCdf((ends[start + s + 1] - a * x) / b);
          const share = start + s === 0 ? above : above - below;
          probabilities[s * totalRows + row] += weight * share;
          below = above;
        }
      }
    }
    for (let s = 0; s < width; s++) {
      columns[s * totalRows + row] = start + s;
      probabilities[s * totalRows + row] /= mass;
    }
  },
});
