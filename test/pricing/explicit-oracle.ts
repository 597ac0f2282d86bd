/**
 * American and Bermudan options with one barrier by the explicit scheme on a uniform mesh in ln S, nodes on barrier and
 * strike, σ²Δt/Δx² = 1/3 (the trinomial tree of Kamrad & Ritchken 1991 but for the drift): slow, but it has nothing in
 * common with what it checks.
 */
export interface EarlyBarrier {
  readonly right: "call" | "put";
  readonly spot: number;
  readonly strike: number;
  readonly side: "up" | "down";
  readonly level: number;
  readonly rebate: number;
  readonly rate: number;
  readonly dividendYield: number;
  readonly sigma: number;
  readonly expiry: number;
  /** When the barrier is monitored. */
  readonly from: number;
  readonly to: number;
  /** Parts of the life; American where there are none. */
  readonly exerciseTimes?: readonly number[];
}

/** Extrapolated from two meshes: early exercise is of first order in Δt = Δx²/3σ². */
export function explicitPrice(option: EarlyBarrier, intervals = 60): number {
  const [coarse, fine] = [solve(option, intervals), solve(option, 2 * intervals)];
  return fine + (fine - coarse) / 3;
}

/** `intervals` between barrier and strike. */
function solve(option: EarlyBarrier, intervals: number): number {
  const { right, spot, strike, level, rate, dividendYield, sigma, expiry } = option;
  const dx = Math.abs(Math.log(strike / level)) / intervals;
  const reach = Math.ceil((6 * sigma * Math.sqrt(expiry) + Math.abs(Math.log(spot / strike))) / dx);
  const from = Math.min(0, -intervals) - reach;
  const sign = strike > level ? 1 : -1;
  const price = (i: number): number => level * Math.exp(sign * (i + from) * dx);
  const count = 2 * (reach + intervals) + 1;
  const steps = 40 * Math.ceil((3 * sigma * sigma * expiry) / (dx * dx) / 40);
  const dt = expiry / steps;
  const drift = (sign * (rate - dividendYield - 0.5 * sigma * sigma) * dt) / (2 * dx);
  const spread = (0.5 * sigma * sigma * dt) / (dx * dx);
  const discount = Math.exp(-rate * dt);
  const payoff = Float64Array.from({ length: count }, (_, i) =>
    Math.max((right === "call" ? 1 : -1) * (price(i) - strike), 0),
  );
  let u = payoff.slice();
  watch(option, expiry, u, payoff, -from, sign);
  let next = u.slice();
  for (let step = steps - 1; step >= 0; step--) {
    for (let i = 1; i < count - 1; i++)
      next[i] = discount * ((spread + drift) * u[i + 1] + (1 - 2 * spread) * u[i] + (spread - drift) * u[i - 1]);
    next[0] = 2 * next[1] - next[2];
    next[count - 1] = 2 * next[count - 2] - next[count - 3];
    if (mayExercise(option, step / steps)) for (let i = 0; i < count; i++) next[i] = Math.max(next[i], payoff[i]);
    watch(option, step * dt, next, payoff, -from, sign);
    [u, next] = [next, u];
  }
  return cubic(u, (sign * Math.log(spot / level)) / dx - from);
}

function mayExercise({ exerciseTimes }: EarlyBarrier, part: number): boolean {
  return exerciseTimes === undefined || exerciseTimes.some((time) => Math.abs(time - part) < 1e-9);
}

/** On the barrier's own node an American holder has exercised if that is worth more than the rebate. */
function watch(
  option: EarlyBarrier,
  t: number,
  u: Float64Array,
  payoff: Float64Array,
  node: number,
  sign: number,
): void {
  if (t < option.from - 1e-9 || t > option.to + 1e-9) return;
  const beyond = (option.side === "up" ? 1 : -1) * sign;
  for (let i = node; i >= 0 && i < u.length; i += beyond) u[i] = option.rebate;
  if (option.exerciseTimes === undefined) u[node] = Math.max(option.rebate, payoff[node]);
}

/** Through the four nodes about a place. */
function cubic(u: Float64Array, at: number): number {
  const first = Math.floor(at) - 1;
  let sum = 0;
  for (let k = 0; k < 4; k++) {
    let weight = 1;
    for (let j = 0; j < 4; j++) if (j !== k) weight *= (at - first - j) / (k - j);
    sum += weight * u[first + k];
  }
  return sum;
}
