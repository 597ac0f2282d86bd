/** Models of several factors, as problems of `solve`, for the cases of test/fixtures/reference. */
import type { Axis, Condition, EquationProblem } from "../../../../src/pde/fdm/index.ts";

/** What a case adds to its model. */
export interface Contract {
  /** The terminal values, a formula of the axes and the strike K. */
  readonly payoff: string;
  readonly expiry: number;
  readonly conditions?: readonly Condition<string>[];
}

/** How finely a case is solved. */
export interface Finesse {
  readonly nodes: readonly number[];
  readonly steps: number;
}

export type Problem = EquationProblem<string, string>;

export interface HestonModel {
  readonly spot: number;
  readonly v0: number;
  readonly rate: number;
  readonly dividend_yield: number;
  readonly kappa: number;
  readonly theta: number;
  readonly sigma: number;
  readonly rho: number;
}

/** ½vS² ∂²/∂S² + ρσvS ∂²/∂S∂v + ½σ²v ∂²/∂v² + (r − q)S ∂/∂S + κ(θ − v) ∂/∂v − r, Heston (1993). */
const HESTON = {
  SS: "0.5 * v * S^2",
  Sv: "rho * sigma * v * S",
  vv: "0.5 * sigma^2 * v",
  S: "(r - q) * S",
  v: "kappa * (theta - v)",
  V: "-r",
};

const hestonParameters = ({ rate, dividend_yield, kappa, theta, sigma, rho }: HestonModel): Record<string, number> => ({
  r: rate,
  q: dividend_yield,
  kappa,
  theta,
  sigma,
  rho,
});

/** The variance's axis: dense about v0 and zero, as far as its stationary distribution and its path to it reach. */
export function varianceAxis({ v0, kappa, theta, sigma }: HestonModel, expiry: number, nodes: number): Axis {
  const mean = theta + (v0 - theta) * Math.exp(-kappa * expiry);
  const decay = Math.exp(-kappa * expiry);
  const variance =
    v0 * ((sigma ** 2 * decay) / kappa) * (1 - decay) + ((theta * sigma ** 2) / (2 * kappa)) * (1 - decay) ** 2;
  const to = Math.max(v0, mean, theta) + 8 * Math.sqrt(variance);
  return {
    from: 0,
    to,
    nodes,
    points: [
      { at: 0, align: "none" },
      { at: v0, align: "none" },
    ],
    width: 0.25 * Math.min(v0, to / 4),
  };
}

/** The spot's axis about the strike, in S, with the strike on a node; its forward and some deviations are inside. */
export function spotAxis(strike: number, deviation: number, nodes: number): Axis {
  return {
    from: 0,
    to: strike * Math.max(Math.exp(4.5 * deviation), 2.5),
    nodes,
    points: [strike],
    width: 0.4 * strike * Math.min(deviation, 1),
  };
}

export function heston(model: HestonModel, strike: number, contract: Contract, { nodes, steps }: Finesse): Problem {
  const { v0, kappa, theta, sigma } = model;
  const { expiry } = contract;
  const high = Math.max(v0, theta) + 1.5 * sigma * Math.sqrt(Math.max(theta, v0) / (2 * kappa));
  return {
    axes: {
      S: spotAxis(strike, Math.sqrt(high * expiry), nodes[0]),
      v: varianceAxis(model, expiry, nodes[1]),
    },
    parameters: { K: strike, ...hestonParameters(model) },
    equation: HESTON,
    terminal: contract.payoff,
    expiry,
    ...(contract.conditions === undefined ? {} : { conditions: contract.conditions }),
    steps,
  };
}

export interface Assets {
  readonly spots: readonly number[];
  readonly yields: readonly number[];
  readonly volatilities: readonly number[];
  readonly correlations: readonly (readonly number[])[];
  readonly rate: number;
}

/** Σᵢⱼ ½ρᵢⱼσᵢσⱼSᵢSⱼ ∂²/∂Sᵢ∂Sⱼ + Σᵢ (r − qᵢ)Sᵢ ∂/∂Sᵢ − r, in ln S. */
export function assets(
  { spots, yields, volatilities, correlations, rate }: Assets,
  strike: number,
  contract: Contract,
  { nodes, steps }: Finesse,
): Problem {
  const names = spots.map((_, k) => `S${k + 1}`);
  const parameters: Record<string, number> = { K: strike, r: rate };
  const equation: Record<string, string> = { V: "-r" };
  const axes: Record<string, Axis> = {};
  names.forEach((name, i) => {
    parameters[`s${i + 1}`] = volatilities[i];
    parameters[`q${i + 1}`] = yields[i];
    equation[name + name] = `0.5 * s${i + 1}^2 * ${name}^2`;
    equation[name] = `(r - q${i + 1}) * ${name}`;
    const deviation = volatilities[i] * Math.sqrt(contract.expiry);
    const reach = Math.exp(5 * deviation);
    axes[name] = {
      from: spots[i] / reach,
      to: spots[i] * reach,
      coordinate: "log",
      nodes: nodes[i] ?? nodes[0],
      points: [spots[i]],
      width: 1.2 * deviation,
    };
    for (let j = i + 1; j < names.length; j++) {
      if (correlations[i][j] === 0) continue;
      parameters[`c${i + 1}${j + 1}`] = correlations[i][j];
      equation[name + names[j]] = `c${i + 1}${j + 1} * s${i + 1} * s${j + 1} * ${name} * ${names[j]}`;
    }
  });
  return {
    axes,
    parameters,
    equation,
    terminal: contract.payoff,
    expiry: contract.expiry,
    ...(contract.conditions === undefined ? {} : { conditions: contract.conditions }),
    steps,
  };
}
