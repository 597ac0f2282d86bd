/** Nodes, weights and interpolation of a boundary, of several sizes, as one table that kernels read. */
import { gaussLegendre } from "../../numerics/linalg/index.ts";
import { cosPi } from "../../base/elementary.ts";

/** The largest number of nodes of a boundary, without the one at expiry, whose value is known. */
export const MAX_NODES = 32;

/** The sizes of a discretisation of the integral equation. */
interface SchemeSize {
  /** The number of Chebyshev nodes of the boundary besides the one at expiry. */
  readonly nodes: number;
  /** The number of quadrature points of the integrals in the equation of the boundary. */
  readonly points: number;
  /** The number of quadrature points of the integral of the early-exercise premium. */
  readonly premium: number;
  /**
   * The size of a Newton step below which the iteration ends, relative to the boundary's distance from its limit at
   * expiry.
   */
  readonly lastStep: number;
  /** The lower bound of error estimates, for strike 1: the median error of ordinary options. */
  readonly leastError: number;
}

/** The schemes from coarse to fine. The error of each is estimated by its difference from the one before. */
export const SCHEMES: readonly SchemeSize[] = [
  { nodes: 4, points: 6, premium: 14, lastStep: 1e-2, leastError: 1e-6 },
  { nodes: 6, points: 8, premium: 20, lastStep: 1e-3, leastError: 3e-8 },
  { nodes: 10, points: 14, premium: 32, lastStep: 1e-4, leastError: 1e-9 },
  { nodes: 16, points: 24, premium: 48, lastStep: 1e-5, leastError: 1e-10 },
  { nodes: 24, points: 40, premium: 96, lastStep: 1e-6, leastError: 1e-11 },
  { nodes: 32, points: 56, premium: 192, lastStep: 1e-7, leastError: 1e-12 },
];

/**
 * The quadrature and interpolation weights of a scheme in one array, `values`. The other fields are positions in this
 * array.
 */
export interface SchemeTable {
  readonly size: SchemeSize;
  readonly values: Float64Array;
  /** The position of √(τᵢ/T) at the nodes i = 1 … n. */
  readonly roots: number;
  /** The position of the points vⱼ and weights wⱼ of ∫₀^τ f(u) du = τ·Σ wⱼ·f(τ·(1 − vⱼ²)). */
  readonly quadrature: number;
  /** The position of the Lagrange polynomials Lₖ at √(τᵢ·(1 − vⱼ²)/T), [i][j][k], k = 1 … n. */
  readonly interpolation: number;
  /**
   * The position of the matrix that converts values at nodes 1 … n to coefficients of Chebyshev polynomials, [k][i], k
   * = 0 … n; the value at node 0 is 0.
   */
  readonly coefficients: number;
  /** The position of the points gⱼ and weights wⱼ of ∫₀^T f(u) du = T·Σ wⱼ·f(T·gⱼ). */
  readonly premium: number;
}

const tables: SchemeTable[] = [];

/**
 * Returns the cached table of the scheme with an index in `SCHEMES`. Nodes are xᵢ = ½·(1 − cos(iπ/n)) in x = √(τ/T), τ
 * the time to expiry.
 *
 * Both integrals use Gauss–Legendre quadrature in a variable in which their integrands are smooth. Those of the
 * boundary depend on √(τ − u) near u = τ, which is v up to a factor, and on √u near u = 0: v = s·(2 − s). The integrand
 * of the premium has a narrow peak at small u near the boundary, and depends on √(T − u) near u = T: u = T·(5s⁴ − 4s⁵).
 */
export function schemeTable(scheme: number): SchemeTable {
  return (tables[scheme] ??= tableOf(SCHEMES[scheme]));
}

function tableOf(size: SchemeSize): SchemeTable {
  const { nodes: n, points, premium } = size;
  const x = Array.from({ length: n + 1 }, (_, i) => 0.5 * (1 - cosPi(i / n)));
  const inner = unitRule(points).map(({ s, weight }) => {
    const v = s * (2 - s);
    return { v, weight: weight * 2 * (1 - s) * 2 * v };
  });
  const roots = x.slice(1);
  const quadrature = inner.flatMap(({ v, weight }) => [v, weight]);
  const interpolation = roots.flatMap((root) =>
    inner.flatMap(({ v }) => cardinals(x, root * Math.sqrt((1 - v) * (1 + v))).slice(1)),
  );
  const coefficients = x.flatMap((_, k) =>
    roots.map((_, i) => {
      const node = i + 1;
      const half = (k === 0 || k === n ? 0.5 : 1) * (node === n ? 0.5 : 1);
      return ((2 * half) / n) * cosPi((k * (n - node)) / n);
    }),
  );
  const outer = unitRule(premium).flatMap(({ s, weight }) => [
    s * s * s * s * (5 - 4 * s),
    20 * s * s * s * (1 - s) * weight,
  ]);
  const parts = [roots, quadrature, interpolation, coefficients, outer];
  const starts = parts.map((_, p) => parts.slice(0, p).reduce((sum, part) => sum + part.length, 0));
  return {
    size,
    values: Float64Array.from(parts.flat()),
    roots: starts[0],
    quadrature: starts[1],
    interpolation: starts[2],
    coefficients: starts[3],
    premium: starts[4],
  };
}

/** Gauss and Legendre's rule on [0, 1]. */
function unitRule(points: number): readonly { readonly s: number; readonly weight: number }[] {
  const { nodes, weights } = gaussLegendre(points);
  return Array.from(nodes, (node, j) => ({ s: 0.5 * (1 - node), weight: 0.5 * weights[j] }));
}

/**
 * The values at `at` of the polynomials that are 1 at one Chebyshev node and 0 at the others: Berrut & Trefethen
 * (2004).
 */
function cardinals(x: readonly number[], at: number): readonly number[] {
  const last = x.length - 1;
  const hit = x.indexOf(at);
  if (hit >= 0) return x.map((_, k) => (k === hit ? 1 : 0));
  const parts = x.map((node, k) => ((k % 2 === 0 ? 1 : -1) * (k === 0 || k === last ? 0.5 : 1)) / (at - node));
  const sum = parts.reduce((total, part) => total + part, 0);
  return parts.map((part) => part / sum);
}
