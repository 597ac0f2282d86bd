import { beside, type Bug } from "./bug.ts";

/**
 * Bugs that were planted when tests for the survivors of the first set had been written, by somebody who had read the
 * sources and not the tests.
 */
export const fresh: readonly Bug[] = [
  ...beside("", "base/memoize base/lru-cache", [
    ["base/memoize.ts", "if (this.#entries.size <= this.#max) return;", "if (this.#entries.size < this.#max) return;"],
    ["base/memoize.ts", '${Object.is(value, -0) ? "-0" : String(value)}', "${String(value)}"],
  ]),
  ...beside(
    "book",
    "book/times book/tenors book/totals book/bonds book/parity book/path-payoffs book/trades book/book",
    [
      ["time.ts", "new Date(Math.round(instant) - asOf.timeOfDay)", "new Date(Math.round(instant))"],
      [
        "caps-swaptions.ts",
        "Math.min(SHORTEST.years, SHORTEST.part / frequency)",
        "Math.max(SHORTEST.years, SHORTEST.part / frequency)",
      ],
      [
        "totals.ts",
        "this.#errorEstimate += Math.abs(quantity) * errorEstimate;",
        "this.#errorEstimate += quantity * errorEstimate;",
      ],
      ["totals.ts", "sums[name] === null ? trades : (sums.missing?.[name] ?? 0)", "sums.missing?.[name] ?? 0"],
      ["path-payoff.ts", "if (from > 0 && extremum !== undefined)", "if (from > 1 && extremum !== undefined)"],
      ["barriers.ts", 'return rebateAt ?? (knockIn ? "expiry" : "hit");', 'return rebateAt ?? "expiry";'],
      ["volatility.ts", "if (falling > 0) {", "if (falling > 1) {"],
      ["trade.ts", "if (expiry < 0) throw", "if (expiry <= 0) throw"],
      ["parity.ts", "Math.min(call.weight ?? 1, put.weight ?? 1)", "call.weight ?? 1"],
      [
        "rates-trade.ts",
        "{ from: from - notice, to: to - notice, notice, price }",
        "{ from: from - notice, to, notice, price }",
      ],
    ],
  ),
  ...beside(
    "calibration",
    "calibration/ssvi calibration/svi calibration/essvi calibration/least-squares calibration/curves",
    [
      ["ssvi.ts", "productSlope: (1 - form.gamma) * phi }", "productSlope: -form.gamma * phi }"],
      ["ssvi.ts", "Math.sqrt(1 - rho * rho)) * phi) / (rho * rho)", "Math.sqrt(1 - rho * rho)) * phi) / Math.abs(rho)"],
      ["arbitrage.ts", "(1 / variance + 0.25)", "(1 / variance + 1)"],
      ["essvi-fit.ts", "room(from.down, 1 - part)", "room(from.down, part)"],
      [
        "least-squares.ts",
        "const variance = squares(residuals) / freedom;",
        "const variance = squares(residuals) / residuals.length;",
      ],
      ["curves/in-years.ts", "end - (periods - 1 - i) / frequency", "(i + 1) / frequency"],
      [
        "fit.ts",
        "sum += weights[i] * (impliedVolatility(k, time) - implied[i]) ** 2;",
        "sum += (impliedVolatility(k, time) - implied[i]) ** 2;",
      ],
    ],
  ),
  ...beside("calibration", "calibration/hull-white calibration/american calibration/repricing", [
    ["hull-white.ts", 'quote.type === "payer" ? 0 : bond - own', 'quote.type === "payer" ? 0 : own - bond'],
    ["american-quotes.ts", "local) - (biases.get(i) ?? 0), 0);", "local), 0);"],
    [
      "cash-dividends.ts",
      "(rowVolatility(surface, row, free / now.scale) * free)",
      "(rowVolatility(surface, row, free) * free)",
    ],
  ]),
  ...beside("output/charts", "output/charts/charts", [
    ["plot.ts", "fromZero ? [...values, 0] : values", "values"],
    ["plot.ts", "6 * Math.sqrt(Math.max(weights[i], 0) / most)", "6 * (Math.max(weights[i], 0) / most)"],
    ["heat-map.ts", 'return colours === "diverging" ? [-most, most]', 'return colours === "diverging" ? [low, high]'],
    ["waterfall.ts", 'to >= from ? "var(--c-gain)"', 'to >= 0 ? "var(--c-gain)"'],
    ["text.ts", '.replaceAll("<", "&lt;")', ""],
  ]),
  ...beside("cli", "cli/price cli/explain cli/formats cli/arguments", [
    ["format/table.ts", "hiddenRowsText(pricedRows - shown - rest.length)", "hiddenRowsText(pricedRows - shown)"],
    ["format/warnings.ts", "` and ${withCommas(count - 1)} more`", "` and ${withCommas(count)} more`"],
    ["format/scenario-table.ts", "rates ${signed(rate[k])}", "rates ${signed(rate[0])}"],
    [
      "format/explain-table.ts",
      '["exDividend", "dividends"]],\n    ["credit", ["credit"]],\n    ["correlation", ["correlation"]],\n    ["cross", []],',
      '["dividends"]],\n    ["credit", ["credit"]],\n    ["correlation", ["correlation"]],\n    ["cross", []],',
    ],
    ["arguments.ts", "if (!(value > 0 && value <= 1))", "if (!(value > 0 && value < 1))"],
    ["progress.ts", "Math.floor(whole / 60) % 60", "Math.floor(whole / 60)"],
    ["commands/price-file.ts", "format: input, market, keep, map }", "format: input, market, map }"],
  ]),
  ...beside("cli", "cli/calibrate cli/arguments", [
    ["format/calibration.ts", "checkText(fit.calendar)", "checkText(fit.butterfly)"],
  ]),
  ...beside("service/cluster", "service/cluster/cluster", [
    [
      "jobs.ts",
      "1 + PRIORITY_LEVELS.indexOf(level) * BAND",
      "1 + (PRIORITY_LEVELS.length - 1 - PRIORITY_LEVELS.indexOf(level)) * BAND",
    ],
    ["submit.ts", "(await board.nextPriority(queue, first, last)) ?? first", "first"],
    ["contexts.ts", "if (planHash(manifest) !== plan)", "if (planHash(manifest).length !== plan.length)"],
    ["contexts.ts", "`${job.plan} ${job.output}`", "job.plan"],
    ["worker.ts", "AbortSignal.any([ending.signal, stop])", "ending.signal"],
  ]),
  ...beside("pde/convertible", "pde/convertible/convertible pde/convertible/reference", [
    ["closed-form.ts", "(1 - credit.jump) * integrate(credit.hazard, t)", "integrate(credit.hazard, t)"],
    ["closed-form.ts", "return isLate && !isPaid &&", "return isLate &&"],
    ["contract.ts", "after ? time > t + SAME_TIME : time > t - SAME_TIME", "time > t + SAME_TIME"],
    ["engine.ts", "(price + accrued) / ratio", "price / ratio"],
    [
      "rollback.ts",
      "((nodes[i] * notional) / credit.reference) ** credit.exponent",
      "(nodes[i] / credit.reference) ** credit.exponent",
    ],
    [
      "program.ts",
      "const accrued = accruedInterest(coupons, t, true);",
      "const accrued = accruedInterest(coupons, t, false);",
    ],
    [
      "program.ts",
      "coupon.amount / (coupon.time - coupon.accruesFrom) / notional",
      "coupon.amount / (coupon.time - coupon.accruesFrom)",
    ],
  ]),
  ...beside("device", "device/cpu device/kernel-cache", [
    ["arguments.ts", '.some(({ access }) => access === "write")', '.every(({ access }) => access === "write")'],
    ["arguments.ts", "number < min || number > max", "number > max"],
    ["cpu/memory.ts", "new BigInt64Array(this.memory.buffer, start, size / 8).fill(0n);", ""],
    ["capabilities.ts", 'length * (element === "real" && ir.precision === "f64" ? 8 : 4)', "length * 4"],
    ["cache/kernel-cache.ts", "found.sort((a, b) => a.age - b.age)", "found.sort((a, b) => b.age - a.age)"],
  ]),
  ...beside(
    "pde/fdm",
    "pde/fdm/affine pde/fdm/axes/at pde/fdm/axes/conditions pde/fdm/equation/sensitivities pde/fdm/equation/convergence",
    [
      ["problem/affine.ts", "cash / (kept * Math.exp(carry * time))", "cash / Math.exp(carry * time)"],
      ["execute/plan.ts", "x <= values[last]", "x < values[last]"],
      ["read/columns.ts", "- paid) / PAYOFF_STEP", "- paid) / (2 * PAYOFF_STEP)"],
      ["execute/axes/update.ts", "return target < left || target > right ? linear : value;", "return value;"],
      [
        "time/schemes.ts",
        "scheme: crankNicolson, rannacherSteps: rannacherSteps(2)",
        "scheme: crankNicolson, rannacherSteps: rannacherSteps(0)",
      ],
    ],
  ),
  ...beside(
    "pde/fdm",
    "pde/fdm/knock-ins pde/fdm/barriers pde/fdm/exercise-dates pde/fdm/dividend-jump pde/fdm/mesh pricing/company",
    [
      ["conditions/barrier.ts", "const weightOfOld = crankNicolson ? 0.5 : 0.0;", "const weightOfOld = 0.0;"],
      [
        "conditions/dates.ts",
        "if (j >= high) value = u[above] + line * (target - x[above]);",
        "if (j >= high) value = u[above] + line * (target - x[below]);",
      ],
      ["time/nested-times.ts", "flags: a.flags | b.flags", "flags: a.flags"],
      [
        "time/time-grid.ts",
        "((spec.refinement * 32 + spec.phases) * 8 + spec.rannacherSteps) * 4",
        "(spec.refinement * 32 + spec.phases) * 8 * 4",
      ],
      ["time/nested-times.ts", "a.jumps === b.jumps &&", ""],
    ],
  ),
  ...beside("pde/fdm", "pricing/volatility-in-time pricing/time-dependent pricing/accuracy pde/fdm/mesh", [
    ["problem/variance.ts", "Math.sqrt(Math.max(variance, 0) / (to - from))", "Math.sqrt(Math.max(variance, 0) / to)"],
    ["adaptive/error-estimate.ts", "spot) + BEYOND_SPOT * Math.max(Math.abs(of.value) - spot, 0);", "spot);"],
  ]),
  ...beside("output/formats", "cli/formats cli/price service/pipeline/pipeline", [
    ["json.ts", "first = start.continues !== true;", "first = true;"],
    ["csv.ts", 'typeof field === "object" && field !== null', 'typeof field === "boolean" && field'],
    ["columns.ts", "|| underlyings.size === 0 ||", "||"],
    ["numbers.ts", 'Number(shown) === 0 ? shown.replace("-", "") : shown', "shown"],
    ["totals.ts", "hidden: all.length - max", "hidden: all.length"],
    ["parquet-results.ts", "reading((field) => JSON.stringify(field))", "reading((field) => field)"],
    ["encoded.ts", "length + 3 * piece.length;", "length + 2 * piece.length;"],
  ]),
  ...beside("quadrature/integral", "quadrature/integral/integral quadrature/integral/tuples", [
    ["tuples.ts", "this.#placeOf(values, first)] = number + 1;", "this.#placeOf(values, first)] = number;"],
    ["premium.ts", "expiry * (byRate ? -exercised : delivered)", "expiry * (byRate ? -exercised : -delivered)"],
    ["premium.ts", "(edge * (r * high - q * level * low)) / sigma", "(edge * (r * low - q * level * high)) / sigma"],
    ["premium.ts", "const u = expiry - horizon + horizon * table", "const u = horizon * table"],
    ["boundaries.ts", "if (this.#slots.size + missing > this.#capacity)", "if (missing > this.#capacity)"],
  ]),
  ...beside(
    "kernel",
    "kernel/interpret kernel/lowering kernel/literals kernel/dependence kernel/unroll kernel/wgsl kernel/cuda",
    [
      ["canonical.ts", 'if (Object.is(value, -0)) return "-0";', ""],
      ["copies.ts", "for (let k = start; k < this.log.length; k++) this.versions[this.log[k]]++;", ""],
      ["dependence.ts", "(found.get(index) ?? false) || divergent(s) ||", "(found.get(index) ?? false) ||"],
      [
        "unroll.ts",
        'const decided = e.a.value === (e.op === "or");',
        'const decided = e.a.value === (e.op === "and");',
      ],
      ["fold.ts", "ge: (a, b) => a >= b", "ge: (a, b) => a > b"],
      ["emit/wgsl/operators.ts", "`${Number(b.constant) & 31}u`", "`${Number(b.constant)}u`"],
      ["emit/cuda/literals.ts", 'if (Object.is(value, -0)) return "-0.0";', ""],
    ],
  ),
  ...beside(
    "numerics/linalg",
    "numerics/linalg/dense-correlation numerics/linalg/sparse-host numerics/linalg/krylov numerics/linalg/krylov-host " +
      "numerics/linalg/tridiagonal-property numerics/linalg/tridiagonal-batches",
    [
      ["dense/correlation.ts", "correction[k] = nextX[k] - r[k];", "correction[k] = 0;"],
      ["dense/correlation.ts", "-relative * Math.max(-values[0], values[n - 1])", "-relative"],
      [
        "sparse/entries.ts",
        "k > starts[i] && column[k] <= column[k - 1]",
        "k > starts[i] && column[k] < column[k - 1]",
      ],
      [
        "krylov/jacobi.ts",
        "const count = Math.min(size, rows - first);\n    const base",
        "const count = size;\n    const base",
      ],
      ["tridiagonal/periodic.ts", "if (i === 0) c += a;", "if (i === 0) c -= a;"],
    ],
  ),
  ...beside(
    "market",
    "market/affine market/curves market/dividends market/roll-forward market/smile market/surface calibration/local",
    [
      ["dividends.ts", "time > t + ONE_SECOND", "time > t - ONE_SECOND"],
      [
        "dividends.ts",
        "Math.max(spot - spot * proportional - cash, 0)",
        "Math.max((spot - cash) * (1 - proportional), 0)",
      ],
      ["rates.ts", "end <= t + ONE_SECOND", "end < t - ONE_SECOND"],
      [
        "smile.ts",
        "byTime: (b.variance - a.variance) / (late.time - early.time)",
        "byTime: (b.variance - a.variance) / late.time",
      ],
      [
        "affine.ts",
        "before: (time) => affine(time, (of) => of < time)",
        "before: (time) => affine(time, (of) => of <= time)",
      ],
    ],
  ),
  ...beside("market", "pricing/fit-doubts pricing/factors/heston-extremes", [
    ["fit-state.ts", "time > last.time + DAY", "time > last.time - DAY"],
  ]),
  ...beside("market/models", "market/models/heston market/models/reiner-rubinstein pricing/greeks pricing/rates", [
    ["black-scholes.ts", "density / deviation - value;", "density / deviation;"],
    ["black-scholes.ts", "(-density * d1) / (spot * spot", "(-density * d2) / (spot * spot"],
    ["exchange-options.ts", "gpu.normalPdf(z + beta)", "gpu.normalPdf(z)"],
    ["exchange-options.ts", "coarse += (nodes === 1 ? 1 : 2) * weight", "coarse += weight"],
    ["short-rate.ts", "(years - 2 * b + decay(2 * kappa, years))", "(years - b + decay(2 * kappa, years))"],
  ]),
  ...beside("montecarlo", "montecarlo/reference montecarlo/barriers montecarlo/survival montecarlo/models", [
    ["controls.ts", "(weights[k] + 2 * weightAfter)", "(weights[k] + weightAfter)"],
    ["products/asian.ts", "0.5 * (now + then) * dt", "now * dt"],
    ["products/lookback.ts", "p[2] > 0 ? p[1] : now", "now"],
    ["models/gaussian-factors.ts", "2 * Math.exp(-(a1 + a2) * t) * s1 * s2 * d12", "2 * s1 * s2 * d12"],
    ["models/heston.ts", "c[8] = c[6] + 0.5 * c[7];", "c[8] = c[6] + c[7];"],
    [
      "models/hull-white.ts",
      "- integralVariance({ a, sigma, span: t + span })",
      "- integralVariance({ a, sigma, span })",
    ],
    [
      "products/barrier.ts",
      'isToProduct: column("independent", "negative")',
      'isToProduct: column("independent", "positive")',
    ],
    ["estimate.ts", "output.errorEstimate[i] += output.halfWidth[i];", ""],
  ]),
  ...beside("service/pipeline", "service/pipeline/pipeline", [
    ["pipeline.ts", "priced({ ...position, repeated })", "priced(position)"],
    ["pipeline.ts", "totals.addCounts(chunk.counts);", ""],
    ["pipeline.ts", "rows += position.rows;", "rows = position.rows;"],
    ["chunk-pricer.ts", "priceBatch(some, chunk.first, {", "priceBatch(some, 0, {"],
  ]),
  ...beside(
    "pricing",
    "pricing/unit-warnings pricing/time-budget pricing/fit-doubts pricing/moved-quotes pricing/kinks",
    [
      ["plan/method.ts", "(1 + times) * this.spentOn(trade)", "times * this.spentOn(trade)"],
      ["plan/method.ts", "/ 1000 / trades.length", "/ 1000"],
      [
        "term-warnings.ts",
        "if (expiry < least || !Number.isInteger(expiry)) return [];",
        "if (expiry < least) return [];",
      ],
      ["term-warnings.ts", "if (fit === undefined) return today;", "if (today.length > 0) return today;"],
      [
        "moved-quotes.ts",
        "worst === null || estimate === null ? null : Math.max(worst, estimate)",
        "worst === null || estimate === null ? null : estimate",
      ],
      ["moved-quotes.ts", "const isOwn = volatility !== underlying.volatility;", "const isOwn = false;"],
      ["term-warnings.ts", "    ...doubtsAbout(rates.fit, expiry),\n", ""],
      ["plan/greeks.ts", "isBent ? 0.5 * Math.abs(above - below) : 0", "0"],
    ],
  ),
  ...beside("pricing", "pricing/guard pricing/limits pricing/degenerate pricing/expiry-dividends pricing/ladder", [
    ["guard/option-bounds.ts", "rebate * (atExpiry ? money.atExpiry : money.largest)", "rebate * money.atExpiry"],
    ["guard/bound-inputs.ts", "if (time > until) break;", "if (time >= until) break;"],
    ["guard/guard.ts", "return movedTo(range, value);", "return value;"],
    ["terms.ts", "if (left < -ONE_SECOND) return undefined;", "if (left < ONE_SECOND) return undefined;"],
    [
      "methods/deterministic/known.ts",
      "rate * value - (rate - problem.dividendYield) * spot * delta",
      "rate * value - rate * spot * delta",
    ],
    [
      "methods/deterministic/path.ts",
      "    ...reached.map(({ kink, time }) => discount(time) * payoff.exercised(kink)),\n",
      "",
    ],
  ]),
  ...beside("pricing", "pricing/explain pricing/explain-fixed-income pricing/rates", [
    ["market-moves.ts", "paid.toReversed().reduce", "paid.reduce"],
    ["market-moves.ts", "time <= years + ONE_SECOND", "time < years - ONE_SECOND"],
    ["explain/taylor.ts", "gamma * (spot + 0.5 * paid)", "gamma * (spot + paid)"],
    ["explain/taylor.ts", "(d?.delta ?? 0) * move + (d?.theta ?? 0) * years", "(d?.delta ?? 0) * move"],
    ["explain/totals.ts", "(holds - held) * (row.after ?? 0)", "(holds - held) * (row.before ?? 0)"],
    ["methods/rates/parts.ts", '(right === "cap" ? 1 : -1) * (rate - strike)', "rate - strike"],
    [
      "methods/rates/roll-forward.ts",
      "period.rate === undefined && period.fixed < years - ONE_SECOND",
      "period.fixed < years - ONE_SECOND",
    ],
  ]),
  ...beside("pricing", "pricing/rates pricing/short-rate", [
    ["methods/rates/bond-figures.ts", "start <= time && time < end", "start < time && time <= end"],
    ["methods/rates/bond-figures.ts", "marketPrice + accruedAt(product.bond, 0)", "marketPrice"],
    ["methods/rates/gaussian.ts", "Math.exp(-2 * a * (expiry - to))", "Math.exp(-a * (expiry - to))"],
  ]),
  ...beside("pricing", "pde/convertible/convertible", [
    ["methods/convertibles/rows.ts", "discount * value + ofSpread * cash", "discount * value"],
    [
      "methods/convertibles/rows.ts",
      "put === undefined ? 0 : put.price + accrued",
      "put === undefined ? 0 : put.price",
    ],
    ["methods/convertibles/rows.ts", "accruesFrom: coupon.accruesFrom - years", "accruesFrom: coupon.accruesFrom"],
  ]),
  ...beside("pricing", "pricing/factors/known-values pricing/factors/assets pricing/theta-slope", [
    ["terms.ts", "(i === a && j === b) || (i === b && j === a)", "i === a && j === b"],
    ["plan/kinks.ts", 'if (exercise.kind === "bermudan") times.push(...exercise.times);', ""],
  ]),
  ...beside("market/products", "market/products/payoff", [
    ["payoff.ts", 'cash < 0 ? "unknown" : right === "call" ? "high" : "low"', 'right === "call" ? "high" : "low"'],
    ["payoff.ts", ", f(near * (1 - 1e-9)), f(near * (1 + 1e-9)))", ", f(near * (1 - 1e-9)))"],
    ["payoff.ts", "payoff.average(a, b) - cash", "payoff.average(a, b)"],
    ["payoff.ts", "[...kinks.filter((kink) => kink > a && kink < b), b]", "[b]"],
    ["payoff.ts", " && isLine(FURTHER.map((part) => part * last))", ""],
  ]),
  ...beside(
    "quadrature/quantization",
    "quadrature/quantization/stopping quadrature/quantization/swing quadrature/quantization/transitions quadrature/quantization/errors",
    [
      ["control/stopping.ts", "isExercised(0) ? Math.max(host[0], continued) : continued", "continued"],
      ["control/swing.ts", "volume - count * low", "volume - low"],
      ["tree/chain.ts", "alpha[Math.floor(at / d)] + alpha[at % d]", "2 * alpha[at % d]"],
      [
        "gaussian.ts",
        "(value) => value < -1e-12 * Math.abs(values[d - 1])",
        "(value) => value < -1e-2 * Math.abs(values[d - 1])",
      ],
      ["swings.ts", "least <= most && most <= dates", "least <= most"],
    ],
  ),
  ...beside(
    "numerics/random",
    "numerics/random/correlated numerics/random/distributions numerics/random/errors numerics/random/sobol",
    [
      ["correlated.ts", "for (let j = 1; j <= i; j++)", "for (let j = 1; j < i; j++)"],
      ["brownian-bridge.ts", "Math.sqrt((before * after) / (before + after))", "Math.sqrt(before * after)"],
      ["spec.ts", "firstStream < 0 || firstStream + streams > max", "firstStream < 0 || firstStream > max"],
      ["spec.ts", "isZero(0, 3) || isZero(3, 6)", "isZero(0, 6)"],
      [
        "spec.ts",
        'if (generator === "philox" && length % 4n !== 0n)',
        'if (generator === "philox" && length % 2n !== 0n)',
      ],
    ],
  ),
  ...beside(
    "quadrature/rates",
    "quadrature/rates/recursion quadrature/rates/lattice quadrature/rates/plane pde/short-rates/grid quadrature/rates/estimates",
    [
      ["gaussian.ts", "Math.exp(-2 * a * (s - end))", "Math.exp(-a * (s - end))"],
      ["terms.ts", "bonds[next - 2] : logDiscount(capSettlement)", "bonds[next - 2] : logDiscount(settlement)"],
      ["lattice.ts", "Math.max(exercised, Math.min(held, cap))", "Math.min(Math.max(exercised, held), cap)"],
      ["plane.ts", "sigma * eta * decayIntegral(a + b, years)", "sigma * eta * decayIntegral(2 * a, years)"],
      [
        "engine.ts",
        "trade === previous?.trade && dynamics[market] === dynamics[previous.market]",
        "trade === previous?.trade",
      ],
    ],
  ),
  ...beside("output/report", "cli/report output/report/report", [
    ["charts.ts", "value: bucket.vega / 100", "value: bucket.vega"],
    ["charts.ts", "-14 + (bin + 0.5) / 2", "-14 + (bin + 0.5)"],
    ["charts.ts", "against(values[t]?.[s]?.[v0]?.[r0])", "against(values[0]?.[s]?.[v0]?.[r0])"],
    ["summary.ts", "Math.abs(amount) <= Math.abs(all[NAMED - 1].amount)", "amount <= all[NAMED - 1].amount"],
    ["summary.ts", "trade.expiry <= end", "trade.expiry < end"],
    [
      "read-results.ts",
      "time.map(() => spot.map(() => volatility.map(",
      "time.map(() => volatility.map(() => spot.map(",
    ],
  ]),
  ...beside("service/runs", "service/runs/run", [
    ["verify.ts", '["priced", "failed"] as const', '["priced"] as const'],
    ["receipts.ts", " && (a.commit === undefined || b.commit === undefined || a.commit === b.commit)", ""],
    ["plan.ts", "seed: book.seed ?? DEFAULT_SEED", "seed: DEFAULT_SEED"],
    ["plan.ts", "const isOther = open.file.byteLength !== book.bytes;", "const isOther = false;"],
    ["result-file.ts", '"quantity", "seed"])', '"quantity"])'],
  ]),
  ...beside("service/http", "service/http/service", [
    ["server.ts", "accuracy < limits.accuracy", "accuracy <= limits.accuracy"],
    ["server.ts", 'typeof id === "string" && ids.has(id)', "false"],
    ["server.ts", 'token !== undefined && url !== "/health" &&', "token !== undefined &&"],
    [
      "prices.ts",
      "all.every(({ request }) => request.signal.aborted)",
      "all.some(({ request }) => request.signal.aborted)",
    ],
    ["server.ts", "this.#kept.size > this.#max", "this.#kept.size >= this.#max"],
    ["requests.ts", "trades: second.trades ?? trades", "trades"],
    ["requests.ts", "Object.keys(header).length > 1", "Object.keys(header).length > 2"],
  ]),
  ...beside("service/monitoring", "service/monitoring/serving service/cluster/cluster service/http/service", [
    ["metrics.ts", "sum += value;", ""],
    ["metrics.ts", "count += counts[i];", "count = counts[i];"],
    ["metrics.ts", 'value.replace(/[\\\\"\\n]/g, escaped)', "value"],
    [
      "metrics.ts",
      'return "";\n        }\n      }),',
      'throw new Error("a gauge cannot be read");\n        }\n      }),',
    ],
    ["health.ts", '(request.url ?? "").split("?", 1)[0]', 'request.url ?? ""'],
  ]),
  ...beside("pde/sparsegrid", "pde/sparsegrid/combination pde/sparsegrid/values pde/sparsegrid/errors", [
    ["adaptive.ts", "return isOpen && hasAll ? [next] : [];", "return isOpen ? [next] : [];"],
    ["solution.ts", "errorEstimate += Math.abs(read(time.all) - read(time.half)) / time.by;", "errorEstimate += 0;"],
    ["solution.ts", "Math.abs(finer - now) / 4 ** k", "Math.abs(finer - now) / 4 ** (k + 1)"],
    ["solution.ts", "none.with(j, 1).with(j + 1 + k, 1)", "none.with(j, 1).with(k, 1)"],
    ["solution.ts", "value >= low && value <= high", "value >= low && value < high"],
  ]),
  ...beside("base/threads", "pricing/workers service/pipeline/pipeline", [
    ["worker-pool.ts", "for (const resolve of worker.pending.values()) resolve(undefined);", ""],
    ["worker-pool.ts", "Promise<Answer | undefined> {\n    signal.throwIfAborted();", "Promise<Answer | undefined> {"],
    ["worker-pool.ts", "reject(signal.reason as Error);", 'reject(new Error("stopped"));'],
    ["serve-jobs.ts", 'say({ kind: "failed", number });', ""],
    ["worker-pool.ts", "} catch {\n      return;\n    }", "} catch (error) {\n      throw error;\n    }"],
  ]),
];
