/**
 * The implied volatilities of Heston's model for all quotes of a surface, with their derivatives with respect to the
 * parameters, for many sets of parameters in one batch. In units of √(FK), with k = ln(K/F) and Black's formula for the
 * mean variance w as control variate,
 *
 *   call = black(w, k) − (1/π)·∫₀^∞ Re[e^{−iuk}·(φ(u) − φ_w(u))]/(u² + ¼) du,   φ(u) = E[(S_T/F)^{½ + iu}]
 *
 * by the trapezoidal rule, which converges exponentially: its error is that of the price repeated at k ± 2π/h, bounded
 * by the moments of S. All strikes of an expiry share the nodes. Source: Lewis, *Option Valuation under Stochastic
 * Volatility*, 2000; Andersen & Andreasen, *Volatile volatilities*, Risk 2002 (the control variate).
 */
import { fn, i32, kernel, read, real, write } from "../kernel/index.ts";
import { cumulant, cumulantGradient, HestonModel, momentExplodes } from "../market/models/index.ts";
import { blackDeviation } from "./implied/volatility.ts";

/** The number of work items that share the quadrature nodes of one expiry. */
export const ITEMS_PER_EXPIRY = 64;
/** The largest number of quadrature nodes. */
export const MAX_NODES = 512;
/**
 * The number of reals that `hestonRuleKernel` writes for each expiry: the step h, the number of nodes, and the mean
 * variance w.
 */
export const RULE_REALS = 3;
/**
 * The number of complex numbers at each quadrature node. They are φ − φ_w and the derivatives of φ with respect to v₀,
 * κ, θ, σ and ρ, all weighted. φ is the characteristic function of Heston's model, and φ_w that of Black's model with
 * the mean variance w.
 */
export const MOMENT_COUNT = 6;
/** The number of parameters of Heston's model: v₀, κ, θ, σ, ρ. */
export const PARAMETER_COUNT = 5;
/**
 * The number of reals that `hestonQuoteKernel` writes for each quote: the implied volatility and its derivatives with
 * respect to the parameters.
 */
export const QUOTE_OUTPUTS = 1 + PARAMETER_COUNT;

/** −ln of the relative error of the rule, for its step and for its end. */
const ALIASING = 25;
const END = 26;

const modelOf = fn({
  name: "modelOf",
  params: { point: read(real), first: i32, expiry: real },
  body({ point, first, expiry }) {
    return {
      v0: point[first],
      kappa: point[first + 1],
      theta: point[first + 2],
      sigma: point[first + 3],
      rho: point[first + 4],
      expiry,
    };
  },
});

/** The largest step for one side of the strip in which moments exist. */
const largestStep = fn({
  name: "largestStep",
  params: { model: HestonModel, side: real, furthest: real, variance: real },
  env: { cumulant, momentExplodes, ALIASING },
  body({ model, side, furthest, variance }, _gpu, env) {
    let step = 0.0;
    let distance = 0.25;
    let isOpen = true;
    while (isOpen && distance < 1e4) {
      const a = 0.5 + side * distance;
      const black = 0.5 * variance * (distance * distance - 0.25);
      const moment = env.momentExplodes({ model, a })
        ? Infinity
        : env.cumulant({ model, zeta: { re: a, im: 1e-20 } }).log.re;
      const size = env.ALIASING + Math.max(moment, black, 0) + distance * furthest;
      const next = (2 * Math.PI * distance) / size;
      isOpen = size < Infinity && next >= step;
      if (isOpen) step = next;
      // The step is flat about its largest, so that a wide search loses little of it.
      distance *= 1.6;
    }
    return step;
  },
});

/**
 * Computes the step, the number of nodes and the mean variance of the quadrature for one expiry. `furthest` is the
 * largest |k| of its quotes.
 */
export const hestonRule = fn({
  name: "hestonRule",
  params: { model: HestonModel, furthest: real },
  env: { largestStep, cumulant, MAX_NODES, END },
  body({ model, furthest }, _gpu, env) {
    const { v0, kappa, theta, expiry } = model;
    const decay = -Math.expm1(-kappa * expiry) / kappa;
    const variance = theta * expiry + (v0 - theta) * decay;
    const right = env.largestStep({ model, side: 1, furthest, variance });
    const left = env.largestStep({ model, side: -1, furthest, variance });
    const wanted = Math.min(left, right);
    // The end is where the decay of φ and of 1/u² together leave e^−END.
    let end = 1 / Math.sqrt(variance);
    let size = 0.0;
    while (size > -env.END && end < 1e6) {
      end *= 1.2;
      size = env.cumulant({ model, zeta: { re: 0.5, im: end } }).log.re - 2 * Math.log(1 + end);
    }
    end = Math.max(end, Math.sqrt((2 * env.END) / variance));
    const step = Math.max(wanted, end / (env.MAX_NODES - 1));
    return { step, count: Math.min(Math.ceil(end / step) + 1, env.MAX_NODES), variance };
  },
});

/**
 * The kernel that computes the quadrature rules (`hestonRule`), with one item for each set of parameters and expiry.
 * `expiry[e]` is the time T of expiry e, and `expiry[expiries + e]` its largest |k|.
 */
export const hestonRuleKernel = kernel({
  name: "heston rule",
  params: { items: i32, expiries: i32, expiry: read(real), point: read(real), rule: write(real) },
  env: { modelOf, hestonRule, RULE_REALS, PARAMETER_COUNT },
  body({ items, expiries, expiry, point, rule }, gpu, env) {
    const item = gpu.globalId();
    if (item >= items) return;
    const e = item % expiries;
    const model = env.modelOf({ point, first: ((item / expiries) | 0) * env.PARAMETER_COUNT, expiry: expiry[e] });
    const { step, count, variance } = env.hestonRule({ model, furthest: expiry[expiries + e] });
    rule[env.RULE_REALS * item] = step;
    rule[env.RULE_REALS * item + 1] = count;
    rule[env.RULE_REALS * item + 2] = variance;
  },
});

/**
 * The kernel that computes φ − φ_w and the derivatives of φ at the quadrature nodes, weighted (`MOMENT_COUNT`). The
 * output is [item][number][node].
 */
export const hestonMomentKernel = kernel({
  name: "heston moments",
  params: { items: i32, expiries: i32, expiry: read(real), point: read(real), rule: read(real), moments: write(real) },
  env: { modelOf, cumulantGradient, MAX_NODES, ITEMS_PER_EXPIRY, RULE_REALS, PARAMETER_COUNT, MOMENT_COUNT },
  body({ items, expiries, expiry, point, rule, moments }, gpu, env) {
    const id = gpu.globalId();
    const item = (id / env.ITEMS_PER_EXPIRY) | 0;
    if (item >= items) return;
    const count = gpu.i32(rule[env.RULE_REALS * item + 1]);
    const e = item % expiries;
    const model = env.modelOf({ point, first: ((item / expiries) | 0) * env.PARAMETER_COUNT, expiry: expiry[e] });
    const step = rule[env.RULE_REALS * item];
    for (let node = id % env.ITEMS_PER_EXPIRY; node < count; node += env.ITEMS_PER_EXPIRY) {
      const u = Math.max(step * gpu.real(node), 1e-20);
      const { log, byV0, byKappa, byTheta, bySigma, byRho } = env.cumulantGradient({ model, zeta: { re: 0.5, im: u } });
      const square = u * u + 0.25;
      const weight = ((node === 0 ? 0.5 : 1) * step) / (Math.PI * square);
      const size = weight * Math.exp(log.re);
      const re = size * Math.cos(log.im);
      const im = size * Math.sin(log.im);
      const black = weight * Math.exp(-0.5 * rule[env.RULE_REALS * item + 2] * square);
      const first = 2 * env.MOMENT_COUNT * env.MAX_NODES * item + node;
      const N = env.MAX_NODES;
      moments[first] = re - black;
      moments[first + N] = im;
      moments[first + 2 * N] = re * byV0.re - im * byV0.im;
      moments[first + 3 * N] = re * byV0.im + im * byV0.re;
      moments[first + 4 * N] = re * byKappa.re - im * byKappa.im;
      moments[first + 5 * N] = re * byKappa.im + im * byKappa.re;
      moments[first + 6 * N] = re * byTheta.re - im * byTheta.im;
      moments[first + 7 * N] = re * byTheta.im + im * byTheta.re;
      moments[first + 8 * N] = re * bySigma.re - im * bySigma.im;
      moments[first + 9 * N] = re * bySigma.im + im * bySigma.re;
      moments[first + 10 * N] = re * byRho.re - im * byRho.im;
      moments[first + 11 * N] = re * byRho.im + im * byRho.re;
    }
  },
});

/**
 * Computes the implied deviation σ√T of an out-of-the-money option. The price of the call is that of Black's formula
 * with `variance`, minus `value`.
 */
export const impliedDeviation = fn({
  name: "impliedDeviation",
  params: { k: real, variance: real, value: real },
  env: { blackDeviation },
  body({ k, variance, value }, gpu, { blackDeviation }) {
    const forward = Math.exp(-0.5 * k);
    const strike = 1 / forward;
    const sign = k >= 0 ? 1.0 : -1.0;
    const mean = Math.sqrt(variance);
    const d1 = -k / mean + 0.5 * mean;
    const black = sign * (forward * gpu.normalCdf(sign * d1) - strike * gpu.normalCdf(sign * (d1 - mean)));
    const price = Math.max(black - value, 1e-30);
    const { deviation } = blackDeviation({ quoted: { forward, strike, price, sign } });
    return { forward, implied: Number.isFinite(deviation) ? deviation : 10.0 };
  },
});

/**
 * The kernel of implied volatilities and their derivatives: `quote[q]` is k = ln(K/F) of quote q, and `expiryOf[q]` the
 * index of its expiry. The output is [item][output] (`QUOTE_OUTPUTS`).
 */
export const hestonQuoteKernel = kernel({
  name: "heston quotes",
  params: {
    items: i32,
    quotes: i32,
    expiries: i32,
    quote: read(real),
    expiryOf: read(i32),
    expiry: read(real),
    rule: read(real),
    moments: read(real),
    output: write(real),
  },
  env: { impliedDeviation, MAX_NODES, RULE_REALS, MOMENT_COUNT, OUTPUTS: QUOTE_OUTPUTS },
  body({ items, quotes, expiries, quote, expiryOf, expiry, rule, moments, output }, gpu, env) {
    const item = gpu.globalId();
    if (item >= items) return;
    const q = item % quotes;
    const e = expiryOf[q];
    const slot = ((item / quotes) | 0) * expiries + e;
    const k = quote[q];
    const step = rule[env.RULE_REALS * slot];
    const count = gpu.i32(rule[env.RULE_REALS * slot + 1]);
    const variance = rule[env.RULE_REALS * slot + 2];
    const N = env.MAX_NODES;
    const turnRe = Math.cos(step * k);
    const turnIm = Math.sin(step * k);
    let cosine = 1.0;
    let sine = 0.0;
    let value = 0.0;
    let byV0 = 0.0;
    let byKappa = 0.0;
    let byTheta = 0.0;
    let bySigma = 0.0;
    let byRho = 0.0;
    const first = 2 * env.MOMENT_COUNT * N * slot;
    for (let node = 0; node < count; node++) {
      const at = first + node;
      value += cosine * moments[at] + sine * moments[at + N];
      byV0 += cosine * moments[at + 2 * N] + sine * moments[at + 3 * N];
      byKappa += cosine * moments[at + 4 * N] + sine * moments[at + 5 * N];
      byTheta += cosine * moments[at + 6 * N] + sine * moments[at + 7 * N];
      bySigma += cosine * moments[at + 8 * N] + sine * moments[at + 9 * N];
      byRho += cosine * moments[at + 10 * N] + sine * moments[at + 11 * N];
      const next = cosine * turnRe - sine * turnIm;
      sine = cosine * turnIm + sine * turnRe;
      cosine = next;
    }
    const { forward, implied } = env.impliedDeviation({ k, variance, value });
    const high = -k / implied + 0.5 * implied;
    const root = Math.sqrt(expiry[e]);
    const slope = -1 / (Math.max(forward * gpu.normalPdf(high), 1e-14) * root);
    const out = env.OUTPUTS * item;
    output[out] = implied / root;
    output[out + 1] = slope * byV0;
    output[out + 2] = slope * byKappa;
    output[out + 3] = slope * byTheta;
    output[out + 4] = slope * bySigma;
    output[out + 5] = slope * byRho;
  },
});
