import { bool, fn, i32, kernel, read, real, write } from "../../kernel/index.ts";
import { boundaryLimits, PutParameters, boundaryTerms, BoundaryLimits } from "./model.ts";
import { MAX_NODES } from "./scheme.ts";

/**
 * Computes the initial guess of y = ln(B(0)/B(τ)), the distance of the exercise boundary from its limit at expiry. It
 * is the quadratic approximation of Barone-Adesi and Whaley (1987), whose boundary solves
 *
 *   S·(1 − e^{−qτ}·N(−d₊)) + λ·(1 − S − p(S)) = 0,   ½σ²λ² + (r − q − ½σ²)λ − r/(1 − e^{−rτ}) = 0,   λ < 0
 *
 * but at least 0.6·σ√τ, which is right next to expiry where the yield is above the rate (Evans, Kuske & Keller 2002).
 * Bisection in ln y and three steps of regula falsi find it to a few per mille.
 */
const firstGuess = fn({
  name: "firstGuess",
  params: { constants: PutParameters, limits: BoundaryLimits, tau: real },
  body({ constants: { rate: r, dividendYield: q, sigma }, limits: { isBelow, atExpiry, depth }, tau }, gpu) {
    const deviation = sigma * Math.sqrt(tau);
    const least = depth * -Math.expm1((-0.6 * deviation) / depth);
    // So close to expiry the equation above is all cancellation, and of two boundaries it says nothing.
    let guess = isBelow ? least : 0.8 * deviation * Math.sqrt(Math.max(1, -2 * Math.log(deviation)));
    if (r < 0 && q < 0) guess = depth * -Math.expm1(-guess / depth);
    else if (deviation > 1e-5) {
      const variance = sigma * sigma;
      const half = (r - q) / variance - 0.5;
      const paid = Math.abs(r) > 1e-12 ? -Math.expm1(-r * tau) / r : tau;
      const lambda = -half - Math.sqrt(half * half + 2 / (variance * paid));
      const discount = Math.exp(-r * tau);
      const growth = Math.exp(-q * tau);
      let low = Math.log(0.05);
      let high = Math.log(12);
      let atLow = 1.0;
      let atHigh = -1.0;
      let middle = 0.5 * (low + high);
      for (let k = 0; k < 8; k++) {
        const x = atExpiry - deviation * Math.exp(middle);
        const spot = Math.exp(x);
        const d = (x + (r - q) * tau) / deviation + 0.5 * deviation;
        const probability = growth * gpu.normalCdf(-d);
        const value = discount * gpu.normalCdf(deviation - d) - spot * probability;
        const excess = spot * (1 - probability) + lambda * (1 - spot - value);
        if (excess > 0) {
          low = middle;
          atLow = excess;
        } else {
          high = middle;
          atHigh = excess;
        }
        const share = k < 4 ? 0.5 : atLow / (atLow - atHigh);
        middle = low + Math.min(Math.max(share, 0.01), 0.99) * (high - low);
      }
      guess = deviation * Math.exp(middle);
    }
    return Math.max(guess, least);
  },
});

/**
 * The number of inputs of an exercise boundary: r, q, σ, T, then 1 to compute ∂/∂r or −1 for ∂/∂q, and 1 for the
 * boundary of a put or 0 for the lower one of its two boundaries.
 */
export const BOUNDARY_INPUTS = 6;

/**
 * Returns the number of outputs of an exercise boundary with some nodes: the coefficients of three Chebyshev series in
 * 2√(τ/T) − 1, of H = ln²(B(0)/B(τ)), ∂H/∂σ, and ∂H/∂r or ∂H/∂q.
 */
export const boundaryOutputs = (nodes: number): number => 3 * (nodes + 1);

const MAX_STEPS = 12;

/** Evaluates a Chebyshev series at z by Clenshaw's recurrence. */
export const chebyshevSeriesAt = fn({
  name: "chebyshevSeriesAt",
  params: { series: read(real), start: i32, degree: i32, z: real },
  body({ series, start, degree, z }) {
    let first = 0.0;
    let second = 0.0;
    for (let k = degree; k >= 1; k--) {
      const next = 2 * z * first - second + series[start + k];
      second = first;
      first = next;
    }
    return z * first - second + series[start];
  },
});

/**
 * The weights of the equation's forms by value and by slope. A solution solves both forms, so the derivatives of the
 * weights count for nothing.
 */
const formOf = fn({
  name: "formOf",
  params: { constants: PutParameters, tau: real, isLower: bool },
  body({ constants: { rate, dividendYield, sigma }, tau, isLower }) {
    const isPair = rate < 0 && dividendYield < 0 && !isLower;
    // By value the equation says nothing of the boundary next to expiry where q > r; r ≈ q is best by slope, too.
    const bySlope = dividendYield > rate || (dividendYield > 0 && rate < 1.03 * dividendYield);
    return {
      byValue: isPair || !bySlope ? 1.0 : 0.0,
      bySlope: isPair ? sigma * Math.sqrt(tau) : bySlope ? 1.0 : 0.0,
    };
  },
});

/**
 * The kernel that computes the exercise boundary B(τ) of an American put with strike 1, τ the time to expiry, by the
 * equation of Kim (1990) in the form of Andersen, Lake & Offengenden, *High-performance American option pricing*, J.
 * Comput. Finance 20 (2016),
 *
 *   B(τ) = e^{−(r−q)τ}·N(τ)/D(τ),   N = left + r·∫₀^τ e^{ru}·left du,   D = right + q·∫₀^τ e^{qu}·right du
 *
 * (`boundaryTerms` defines left and right). It uses the equation by value where r ≥ q and by slope where r < q, because
 * the other form is ill-conditioned there. H is interpolated in √τ. All nodes are solved together by Newton's method
 * with the whole Jacobian, where the paper iterates to a fixed point: two or three steps suffice, also for large r/σ².
 * The same factors give the derivatives of the boundary with respect to σ, and to r or q: J·∂y/∂θ = −∂F/∂θ.
 *
 * With q < r < 0 there are two boundaries: the put is exercised for Y(τ) < S < B(τ), Y(0) = r/q. Since exercise
 * separates the regions above and below, neither boundary depends on the other (Andersen & Lake, *Fast American option
 * pricing: the double-boundary case*, Wilmott 2021). B solves the equation above. By S → 1/S, 1/Y is the boundary of an
 * option on the forward 1 − S with both rates exchanged, which solves the equation by slope without the terms outside
 * of the integrals. N and D of B may vanish, and each form is ill-conditioned somewhere. The sum of both forms, N −
 * D·B·e^{(r−q)τ} with the weights 1 and σ√τ, is not.
 *
 * There is one work item for each boundary, with index l = `slots[item]`. `input[i·stride + l]` is input i
 * (`BOUNDARY_INPUTS`). `from` has the output of a coarser scheme of `fromNodes` nodes, the first of them at √(τ/T) =
 * `fromRoot`, from which Newton's method starts; with `fromNodes` = 0 it starts from `firstGuess`. Where r ≤ 0 and q ≥
 * r there is no early exercise, and nothing is written. `steps[item]` is the size of Newton's last step, and
 * `steps[count + item]` is ln(B(0)/B(T)). Cost: n·points·(150 + 10·n) operations a Newton step.
 */
export const boundaryKernel = kernel({
  name: "exercise boundary",
  params: {
    count: i32,
    stride: i32,
    slots: read(i32),
    nodes: i32,
    points: i32,
    roots: i32,
    quadrature: i32,
    interpolation: i32,
    coefficients: i32,
    lastStep: real,
    table: read(real),
    input: read(real),
    fromNodes: i32,
    fromRoot: real,
    from: read(real),
    output: write(real),
    steps: write(real),
  },
  env: {
    boundaryLimits,
    firstGuess,
    formOf,
    chebyshevSeriesAt,
    boundaryTerms,
    N: MAX_NODES,
    COLUMNS: MAX_NODES + 3,
    ROOM: MAX_NODES * (MAX_NODES + 3),
    MAX_STEPS,
  },
  body(
    {
      count,
      stride,
      slots,
      nodes: n,
      points,
      roots,
      quadrature,
      interpolation,
      coefficients,
      lastStep,
      table,
      input,
      fromNodes,
      fromRoot,
      from,
      output,
      steps,
    },
    gpu,
    env,
  ) {
    const item = gpu.globalId();
    if (item >= count) return;
    const l = slots[item];
    const r = input[l];
    const q = input[stride + l];
    const sigma = input[2 * stride + l];
    const expiry = input[3 * stride + l];
    const byRate = input[4 * stride + l] > 0;
    const outside = input[5 * stride + l];
    steps[item] = 0.0;
    steps[count + item] = 0.0;
    if (r <= 0 && q >= r && outside > 0) return;
    const { COLUMNS } = env;
    const constants = { rate: r, dividendYield: q, sigma };
    const limits = env.boundaryLimits({ constants });
    const { isBelow, atExpiry, depth } = limits;
    const isPair = r < 0 && q < 0;
    const y = gpu.privateReal(env.N);
    const row = gpu.privateReal(env.N);
    const matrix = gpu.privateReal(env.ROOM);
    const base = l * 3 * (n + 1);
    const start = l * 3 * (fromNodes + 1);
    // Between expiry and its first node an interpolated H tells little: there the first guess is scaled to that node.
    let scale = 1.0;
    if (fromNodes > 0 && !isPair) {
      const h = env.chebyshevSeriesAt({ series: from, start, degree: fromNodes, z: 2 * fromRoot - 1 });
      scale = Math.sqrt(Math.max(h, 0)) / env.firstGuess({ constants, limits, tau: expiry * fromRoot * fromRoot });
    }
    for (let i = 0; i < n; i++) {
      const root = table[roots + i];
      const least = 1e-3 * Math.min(sigma * Math.sqrt(expiry) * root, depth);
      if (fromNodes > 0 && (root >= fromRoot || isPair)) {
        const h = env.chebyshevSeriesAt({ series: from, start, degree: fromNodes, z: 2 * root - 1 });
        y[i] = Math.max(Math.sqrt(Math.max(h, 0)), least);
      } else y[i] = Math.max(scale * env.firstGuess({ constants, limits, tau: expiry * root * root }), least);
    }
    let size = 1.0;
    let step = 0;
    while (step < env.MAX_STEPS && size > lastStep) {
      for (let i = 0; i < n; i++) {
        const root = table[roots + i];
        const tau = expiry * root * root;
        const b = atExpiry - y[i];
        const { byValue, bySlope } = env.formOf({ constants, tau, isLower: outside === 0.0 });
        let left = 0.0;
        let right = 0.0;
        let leftOwn = 0.0;
        let rightOwn = 0.0;
        let leftAtEnd = 0.0;
        let rightAtEnd = 0.0;
        let leftBySigma = 0.0;
        let rightBySigma = 0.0;
        let leftByDrift = 0.0;
        let rightByDrift = 0.0;
        let leftByFactor = 0.0;
        let rightByFactor = 0.0;
        for (let k = 0; k < n; k++) {
          row[k] = 0.0;
          matrix[i * COLUMNS + k] = 0.0;
        }
        // The points of the integrals, and last the terms outside of them: there t = τ, and the strike is the level.
        for (let j = 0; j <= points; j++) {
          const isEnd = j === points;
          const v = isEnd ? 1.0 : table[quadrature + 2 * j];
          const weight = isEnd ? 0.0 : tau * table[quadrature + 2 * j + 1];
          const t = tau * v * v;
          const u = tau - t;
          const lagrange = interpolation + (i * points + (isEnd ? 0 : j)) * n;
          let h = 0.0;
          for (let k = 0; k < n; k++) h += table[lagrange + k] * y[k] * y[k];
          // An interpolated H may fall below what it can be, next to expiry, where that does not matter.
          const least = 1e-4 * Math.min(sigma * sigma * u, depth * depth);
          const isFree = h > least && !isEnd;
          const distance = isEnd ? atExpiry : Math.sqrt(isFree ? h : least);
          const s = Math.sqrt(t);
          const moneyness = b - atExpiry + distance + (r - q) * t;
          const sides = env.boundaryTerms({ moneyness, deviation: sigma * s, byValue, bySlope });
          const leftWeight = weight * Math.exp(r * u);
          const rightWeight = weight * Math.exp(q * u);
          const leftFactor = isEnd ? outside : r * leftWeight;
          const rightFactor = isEnd ? outside : q * rightWeight;
          const leftSlope = leftFactor * sides.leftByMoneyness;
          const rightSlope = rightFactor * sides.rightByMoneyness;
          left += leftFactor * sides.left;
          right += rightFactor * sides.right;
          leftOwn += leftSlope;
          rightOwn += rightSlope;
          leftBySigma += leftFactor * sides.leftByDeviation * s;
          rightBySigma += rightFactor * sides.rightByDeviation * s;
          leftByDrift += leftSlope * t;
          rightByDrift += rightSlope * t;
          if (isEnd) {
            leftAtEnd = leftSlope;
            rightAtEnd = rightSlope;
          } else {
            leftByFactor += leftWeight * (1 + r * u) * sides.left;
            rightByFactor += rightWeight * (1 + q * u) * sides.right;
          }
          if (isFree) {
            const inverse = 1 / distance;
            for (let k = 0; k < n; k++) {
              const byNode = table[lagrange + k] * inverse;
              row[k] += rightSlope * byNode;
              matrix[i * COLUMNS + k] += leftSlope * byNode;
            }
          }
        }
        // ln(N/D) − ln(B·e^{(r−q)τ}), or of two boundaries N − D·B·e^{(r−q)τ}, in terms of `own` = D·B·e^{(r−q)τ}.
        const grown = b + (r - q) * tau;
        const forward = isPair ? Math.exp(grown) : 0.0;
        const overLeft = isPair ? 1.0 : 1 / left;
        const overRight = isPair ? forward : 1 / right;
        const own = isPair ? forward * right : 1.0;
        for (let k = 0; k < n; k++) {
          const byOwn = k === i ? leftOwn * overLeft - rightOwn * overRight - own : 0.0;
          matrix[i * COLUMNS + k] = y[k] * (matrix[i * COLUMNS + k] * overLeft - row[k] * overRight) - byOwn;
        }
        const byLimit = leftAtEnd * overLeft - rightAtEnd * overRight - own;
        const byDrift = leftByDrift * overLeft - rightByDrift * overRight - tau * own;
        const limitByRate = isBelow ? byLimit / r : 0.0;
        const limitByYield = isBelow ? -byLimit / q : 0.0;
        const column = i * COLUMNS + n;
        matrix[column] = isPair ? own - left : grown - Math.log(left * overRight);
        matrix[column + 1] = rightBySigma * overRight - leftBySigma * overLeft;
        matrix[column + 2] = byRate
          ? -(byDrift + leftByFactor * overLeft + limitByRate)
          : byDrift + rightByFactor * overRight - limitByYield;
      }
      // Gauss's elimination with the largest pivot of each column.
      for (let c = 0; c < n; c++) {
        let pivot = c;
        for (let i = c + 1; i < n; i++)
          if (Math.abs(matrix[i * COLUMNS + c]) > Math.abs(matrix[pivot * COLUMNS + c])) pivot = i;
        for (let k = c; k < n + 3; k++) {
          const kept = matrix[c * COLUMNS + k];
          matrix[c * COLUMNS + k] = matrix[pivot * COLUMNS + k];
          matrix[pivot * COLUMNS + k] = kept;
        }
        const inverse = 1 / matrix[c * COLUMNS + c];
        for (let i = c + 1; i < n; i++) {
          const factor = matrix[i * COLUMNS + c] * inverse;
          for (let k = c; k < n + 3; k++) matrix[i * COLUMNS + k] -= factor * matrix[c * COLUMNS + k];
        }
      }
      for (let back = 0; back < n; back++) {
        const c = n - 1 - back;
        const inverse = 1 / matrix[c * COLUMNS + c];
        for (let side = n; side < n + 3; side++) {
          let sum = matrix[c * COLUMNS + side];
          for (let k = c + 1; k < n; k++) sum -= matrix[c * COLUMNS + k] * matrix[k * COLUMNS + side];
          matrix[c * COLUMNS + side] = sum * inverse;
        }
      }
      size = 0.0;
      for (let i = 0; i < n; i++) {
        const root = table[roots + i];
        const deviation = sigma * Math.sqrt(expiry) * root;
        const change = matrix[i * COLUMNS + n];
        // Errors next to expiry hardly matter, and there a guess may be a multiple of the solution.
        size = Math.max(size, (Math.abs(change) / Math.min(deviation, depth)) * root);
        const low = Math.max(y[i] / 3, 1e-3 * Math.min(deviation, depth));
        y[i] = Math.min(Math.max(y[i] + change, low), Math.min(3 * y[i], 10 * deviation));
      }
      step++;
    }
    for (let k = 0; k <= n; k++) {
      let h = 0.0;
      let bySigma = 0.0;
      let byOther = 0.0;
      for (let i = 0; i < n; i++) {
        const factor = table[coefficients + k * n + i];
        h += factor * y[i] * y[i];
        bySigma += factor * 2 * y[i] * matrix[i * COLUMNS + n + 1];
        byOther += factor * 2 * y[i] * matrix[i * COLUMNS + n + 2];
      }
      output[base + k] = h;
      output[base + n + 1 + k] = bySigma;
      output[base + 2 * (n + 1) + k] = byOther;
    }
    steps[item] = size;
    steps[count + item] = y[n - 1];
  },
});
