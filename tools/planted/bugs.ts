/** Small changes of the sources, each with the tests beside it that are to find it. */
export interface Bug {
  /** Relative to src. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
}

type Change = readonly [file: string, from: string, to: string];

/** Bugs of one folder, or of several with "", and the tests beside them, which take seconds. */
const beside = (folder: string, names: string, changes: readonly Change[]): Bug[] => {
  const tests = names.split(" ").map((name) => `test/${name}.test.ts`);
  const within = folder === "" ? "" : `${folder}/`;
  return changes.map(([file, from, to]) => ({ file: `${within}${file}`, from, to, tests }));
};

export const bugs: readonly Bug[] = [
  ...beside(
    "book",
    "book/book book/dates-of-volatilities book/trades book/tags book/chunks book/parquet book/totals book/times",
    [
      ["json.ts", 'offset - before.lastIndexOf("\\n")', 'offset - before.lastIndexOf("\\n") + 1'],
      ["volatility.ts", "if (!(time > 0)) throw", "if (!(time >= 0)) throw"],
      ["parquet.ts", "isDay(node) ? 10 : undefined", "isDay(node) ? 19 : undefined"],
      ["path-payoff.ts", "Object.entries({ average, lookback, swing })", "Object.entries({ average, lookback })"],
      ["chunks/cut.ts", "(trade.bytes?.end ?? 0) - (bytes?.start ?? 0)", "(trade.bytes?.end ?? 0)"],
      ["chunks/entry-places.ts", "(byte | BRACKET_TO_BRACE) === BRACE_END", "byte === BRACE_END"],
    ],
  ),
  ...beside("book", "book/times book/streams book/tags book/parity", [
    ["time.ts", "(hours * 60 + minutes) * 60_000", "hours * 60 * 60_000"],
    ["csv.ts", "row.cells.length === columns.length", "row.cells.length >= columns.length"],
    ["totals.ts", "keyOf([labels.currency, ...values])", "keyOf(values)"],
    ["parity.ts", '.filter(({ exercise = spec?.exercise }) => exercise !== "american")', ""],
  ]),
  ...beside("calibration", "calibration/fit-quotes calibration/curves", [
    ["fit-quotes.ts", "same.weighted += weight * volatility;", "same.weighted += volatility;"],
    ["fit-quotes.ts", "nu: mixing * sabr!.nu", "nu: sabr!.nu"],
    ["fit-quotes.ts", 'fitted === undefined || fitted.status === "converged"', "true"],
    ["repair.ts", "if (fit.butterfly.free && fit.calendar.free) return fit;", "if (fit.butterfly.free) return fit;"],
    [
      "curves/interpolate.ts",
      "left * discrete[i] + right * discrete[i - 1]",
      "right * discrete[i] + left * discrete[i - 1]",
    ],
  ]),
  ...beside("charts", "charts/charts", [
    ["heat-map.ts", "y: bottom - (j + 1) * cellHeight", "y: TOP + j * cellHeight"],
    ["waterfall.ts", "const value = isTotal ? to : to - from;", "const value = to;"],
    ["axes.ts", "values.filter((value) => value > 0)", "values.filter((value) => value >= 0)"],
    ["axes.ts", "high = Math.max(high, value);", "high = Math.min(high, value);"],
    ["waterfall.ts", "const from = isTotal ? 0 : sum;", "const from = sum;"],
    ["heat-map.ts", "value === null ? undefined : partOf(value, range)", "partOf(value ?? 0, range)"],
    ["plot.ts", "(x(places[i - 1]) + x(place)) / 2", "x(place)"],
  ]),
  ...beside("cli", "cli/price cli/explain cli/formats", [
    ["commands/price-file.ts", "value.failed > 0 ? EXIT.failedTrades", "value.failed > 1 ? EXIT.failedTrades"],
    ["format/explain-parquet.ts", "moves?.[name] ?? null", "moves?.[name] ?? 0"],
    ["format/explain.ts", "row.error?.message ?? null", "null"],
    ["format/table.ts", 'if (hidden <= 0) return "";', 'if (hidden <= 1) return "";'],
    [
      "format/table.ts",
      '.filter(({ status }) => status === "ok")',
      '.filter(({ status }) => status !== "error" || true)',
    ],
  ]),
  ...beside("cluster", "cluster/cluster", [
    ["board.ts", "(a.name < b.name ? -1 : 1)", "(a.name < b.name ? 1 : -1)"],
    ["connect.ts", "`${protocol}//${host}${pathname}`", "`${protocol}//${host}`"],
    ["worker.ts", 'outcome === "priced" ? context', 'outcome !== "priced" ? context'],
    ["finish-job.ts", 'key.lastIndexOf(":") + 1 + begin', 'key.lastIndexOf(":") + begin'],
    ["jobs.ts", "Math.max(1, Math.round(MAX_SHARE / share))", "Math.max(1, Math.round(MAX_SHARE * share))"],
    ["worker.ts", "if (tries >= TRIES) await next(job, surroundings);", ""],
    ["worker.ts", "if (error instanceof StorageError || error instanceof Stopped", "if (error instanceof Stopped"],
    ["price-chunk.ts", 'if ((await knownPart(store, manifest, chunk)) !== undefined) return "known";', ""],
  ]),
  ...beside("device", "device/cpu device/kernel-cache device/stored-programs", [
    ["arguments.ts", "count < 0 || count > max", "count < 0 || count >= max"],
    [
      "cache/entry.ts",
      "new TextEncoder().encode(key)) !== 0) return undefined",
      "new TextEncoder().encode(key)) > 0) return undefined",
    ],
    ["cpu/stream.ts", "this.#waiting.length === 0 && (", "this.#waiting.length === 0 || ("],
    ["cpu/pool.ts", "return number < this.#passed || ", "return number <= this.#passed || "],
    ["cpu/programs.ts", "return vectors === undefined ? { memory } : { memory, vectors };", "return { memory };"],
    ["cpu/device.ts", "if (this.#retired.length === 0 || !this.#stream.idle) return;", ""],
  ]),
  ...beside(
    "fdm",
    "fdm/mesh fdm/barriers fdm/dividend-jump fdm/equation/conditions fdm/equation/fornberg fdm/exercise-dates",
    [
      ["conditions/dividend.ts", "sign * (x[j + 1] - target) < 0) j++", "sign * (x[j + 1] - target) > 0) j++"],
      ["conditions/exercise.ts", "right: here > 0 ? held : exercised", "right: here > 0 ? exercised : held"],
      ["mesh/mesh.ts", "if (nodeAt(mesh, middle) <= price === ascending)", "if (nodeAt(mesh, middle) <= price)"],
      ["operator/equation-variant.ts", "return 5 + method + others", "return 4 + method + others"],
      ["read/fornberg.ts", "let high = nodes.length - 1;", "let high = nodes.length - 2;"],
    ],
  ),
  ...beside("formats", "cli/formats cli/price", [
    ["csv.ts", "Object.hasOwn(own, name) ? own[name] : null", "Object.hasOwn(own, name) ? own[name] : name"],
    ["csv.ts", "result.sensitivityErrorEstimates?.[name] ?? null", "result.sensitivityErrorEstimates?.[name] ?? 0"],
    ["json.ts", 'const separator = first ? "\\n" : ",\\n";', 'const separator = ",\\n";'],
    [
      "numbers.ts",
      "Math.max(digits - 1 - Math.floor(Math.log10(largest)), 0)",
      "Math.max(digits - Math.floor(Math.log10(largest)), 0)",
    ],
    [
      "parquet-results.ts",
      "values === undefined ? null : values.flat(3)",
      "values === undefined ? null : values.flat(2)",
    ],
    ["totals.ts", "sizes.toSorted((a, b) => b - a)", "sizes.toSorted((a, b) => a - b)"],
    ["csv.ts", '/[",\\r\\n]/.test(text)', '/[",]/.test(text)'],
    ["csv.ts", "credit.size > 0 ||", ""],
  ]),
  ...beside("integral", "integral/integral", [
    ["first-guess.ts", "(r - q) / variance - 0.5", "(r - q) / variance + 0.5"],
    ["premium.ts", "const isEarly = r > 0 || q < r;", "const isEarly = r > 0 && q < r;"],
    ["premium.ts", "const slope = (-0.5 * sign) / depth;", "const slope = (0.5 * sign) / depth;"],
    ["engine.ts", "number < 0 ? -1 : all[number]", "number < 0 ? 0 : all[number]"],
    ["scheme.ts", "k === 0 || k === last ? 0.5 : 1", "k === 0 ? 0.5 : 1"],
    ["engine.ts", "hasConverged(upper[l]) && hasConverged(lower[l])", "hasConverged(upper[l])"],
  ]),
  ...beside(
    "kernel",
    "kernel/interpret kernel/formula kernel/records kernel/wgsl kernel/parse kernel/errors kernel/lowering",
    [
      ["frontend/loops.ts", 'update.operator === "+=" ? by : -by', "by"],
      ["frontend/parse.ts", 'if (t.kind !== "]") t.expect(",");', 'if (t.kind === ",") t.expect(",");'],
      ["frontend/bind.ts", 'typeof value === "number" || typeof value === "boolean"', 'typeof value === "number"'],
      ["frontend/records.ts", 'if (field.kind === "record") fields.set(', "if (false) fields.set("],
      ["emit/wgsl/operators.ts", "return `(1f / ${texts[0]})`;", "return `(-1f / ${texts[0]})`;"],
    ],
  ),
  ...beside("kernel/emit", "kernel/cuda kernel/wgsl", [
    ["cuda/operators.ts", '&& !(type === "i32" && constant === -1);', ";"],
    ["wgsl/operators.ts", 'if (op === "ne" && a.type === "real")', "if (false)"],
  ]),
  ...beside(
    "linalg",
    "linalg/dense-array linalg/krylov-host linalg/sparse-host linalg/tridiagonal-cpu linalg/tridiagonal-property",
    [
      ["dense/array.ts", "this.#last() + 1 - offset", "this.#last() - offset"],
      ["tridiagonal/factors.ts", "const multiplier = (swap ? p : a) / pivot;", "const multiplier = a / pivot;"],
      ["tridiagonal/run.ts", "(k === 1 ? a[k] : -before * a[k - 1])", "-before * a[k - 1]"],
      ["tridiagonal/thomas-tiles.ts", "rows - (((rows - 1) / tile) | 0) * tile", "rows - ((rows / tile) | 0) * tile"],
    ],
  ),
  ...beside("linalg", "linalg/krylov", [
    ["krylov/gmres.ts", "{ items: j + 1 }", "{ items: j }"],
    ["krylov/gmres.ts", "{ u: z ?? w, x }", "{ u: w, x }"],
  ]),
  ...beside("market", "market/curves market/dividends market/gaussian-factors market/surface market/later", [
    ["dividends.ts", "cash: a.cash + b.cash", "cash: a.cash"],
    ["rates.ts", "return Math.exp(-integrate(curve, t));", "return 1 / (1 + integrate(curve, t));"],
    [
      "surface.ts",
      "return 3 / ((1 + alpha) / left + (2 - alpha) / right);",
      "return 3 / ((2 - alpha) / left + (1 + alpha) / right);",
    ],
    ["volatility.ts", "2 * rho * first * second", "rho * first * second"],
    ["piecewise.ts", "(i === 0 ? 0 : integrals[i - 1])) / step", "0) / step"],
  ]),
  ...beside("models", "models/heston models/cev models/reiner-rubinstein pricing/greeks", [
    ["black-scholes.ts", "(-0.5 * density * d1)", "(-0.5 * density)"],
    ["heston-cumulant.ts", "0.5 * square * rest.re", "square * rest.re"],
    ["heston.ts", "const asset = spot * Math.exp(-yields);", "const asset = spot;"],
    ["heston.ts", "const isCall = input[5 * items + l] > 0;", "const isCall = true;"],
    ["heston.ts", "const less = { re: zeta.re - 1, im: zeta.im };", "const less = { re: zeta.re + 1, im: zeta.im };"],
  ]),
  ...beside(
    "montecarlo",
    "montecarlo/barriers montecarlo/survival montecarlo/estimates montecarlo/models montecarlo/reference montecarlo/stopping",
    [
      ["models/local-volatility.ts", "variances[0] = s * s * dt;", "variances[0] = s * dt;"],
      ["moments.ts", "(sum * sum) / squares", "sum / squares"],
      ["estimate.ts", "blocks * perBlock", "blocks"],
      ["products/barrier-functions.ts", "const variance = variances[a];", "const variance = variances[0];"],
      ["products/barrier-functions.ts", "0.5 * (running[R + 1] - running[R])", "gpu.real(0)"],
      ["moments.ts", "intervalWidth(randomisations - 1)", "intervalWidth(Infinity)"],
      ["estimate.ts", "measures + all.indexOf(name)", "measures + scores.indexOf(name)"],
      ["stopping/upper.ts", ", price.standardError[members[i]])", ", 0)"],
      ["sensitivities.ts", "Math.min(...numbers.map(Math.abs))", "Math.abs(numbers[0])"],
    ],
  ),
  ...beside("pipeline", "pipeline/pipeline", [
    ["chunk-pricer.ts", "[ids[2 * i], ids[2 * i + 1]] = hash", "[ids[i], ids[i + 1]] = hash"],
    ["chunk-pricer.ts", "continues: place.first > 0", "continues: place.first > 1000"],
    ["pipeline.ts", "place.bytes?.end ?? file.byteLength", "place.bytes?.start ?? file.byteLength"],
    ["pipeline.ts", "repeated.push(first + i / 2)", "repeated.push(i / 2)"],
    ["pipeline.ts", "repeated.length === 0 ? first :", "repeated.length <= 1 ? first :"],
  ]),
  ...beside(
    "pricing",
    "pricing/greeks pricing/explain pricing/kinks pricing/memory pricing/limits pricing/expiry-dividends book/totals",
    [
      ["guard/sides.ts", "kept *= 1 - proportional;", "kept *= 1 + proportional;"],
      ["look-ahead.ts", "if (item.done === true) open = false;", "if (item.done !== true) open = false;"],
      ["methods/closed-form/closed-form.ts", "input[2 * items + item] = rates;", "input[2 * items + item] = 0;"],
      [
        "methods/integral/integral.ts",
        "results.scenarioValues[row * spots + k] = value;",
        "results.scenarioValues[row * spots] = value;",
      ],
      ["explain/match.ts", "if (parsed === undefined || !parsed.ok) {", "if (parsed === undefined) {"],
      ["explain/totals.ts", "Math.max(Math.abs(held), Math.abs(holds))", "Math.abs(held)"],
    ],
  ),
  ...beside("pricing/methods/montecarlo", "pricing/montecarlo/known-values", [
    ["product.ts", "return (late * left) / (left + count);", "return left / (left + count);"],
    ["product.ts", "if (count === 0) return late;", "if (count === 0) return 1;"],
    ["simulate.ts", "values: [Math.max(value[i], now)],", "values: [value[i]],"],
  ]),
  ...beside("pricing", "pricing/factors/known-values", [
    ["equations/parts.ts", "less: rebate }", "less: 0 }"],
    ["plan/greeks.ts", "each.length === 1 ? Number.NaN", "each.length === 1 ? 0"],
    ["equations/measures.ts", "* power(underlying.spot, 1 - volatility.beta)", ""],
    ["equations/measures.ts", "[THETA, terms.rates.values[0] * value]", "[THETA, -terms.rates.values[0] * value]"],
    ["equations/measures.ts", "[RHO, -terms.expiry * value]", "[RHO, terms.expiry * value]"],
    [
      "equations/measures.ts",
      "return 2 * Math.sqrt(varianceOf(volatility))",
      "return Math.sqrt(varianceOf(volatility))",
    ],
  ]),
  ...beside("products", "products/payoff", [
    ["payoff.ts", "(0.5 * inside * inside) / (b - a)", "(inside * inside) / (b - a)"],
    ["payoff.ts", 'cash * (right === "call" ? above : 1 - above)', "cash * above"],
    ["payoff.ts", "spot === strike ? 0.5 * cash :", "spot === strike ? cash :"],
    [
      "payoff.ts",
      "const above = Math.min(Math.max((b - strike) / (b - a), 0), 1);",
      "const above = b > strike ? 1 : 0;",
    ],
    ["payoff.ts", "const jump = Math.abs(above - below);", "const jump = Math.abs(above + below);"],
  ]),
  ...beside("quantization", "quantization/learning quantization/normal quantization/search quantization/transitions", [
    ["normal/plane-cells.ts", "firstMoments[2 * i + 1] -= edge", "firstMoments[2 * i + 1] += edge"],
    ["normal/line.ts", "tail(points[0], 0.5 * (points[0] + points[1]))", "tail(points[0], points[1])"],
    ["normal/lloyd.ts", "1 / (1 + (8 * t) / batches)", "1"],
    ["tree/chain.ts", "t - times[k]);", "t);"],
    ["normal/guess.ts", "weights[b] - weights[a]", "weights[a] - weights[b]"],
  ]),
  ...beside("", "pricing/explain pricing/method-choice", [
    ["pricing/explain/row.ts", "time > before.expiry && time <= years", "time > before.expiry"],
    ["pricing/methods/integral/puts.ts", "({ time }) => time <= expiry", "({ time }) => time < expiry"],
    ["fdm/execute/grid.ts", 'dividendYield >= 0 ? "brennan-schwartz" : "policy"', '"brennan-schwartz"'],
  ]),
  ...beside("random", "random/distributions random/reference random/sobol random/skip-ahead random/errors", [
    ["brownian-bridge.ts", "const middle = (left + right + 1) >> 1;", "const middle = (left + right) >> 1;"],
    ["random-generator.ts", 'generator === "philox" ? blockLength / 4n', 'generator === "philox" ? blockLength / 2n'],
    ["sobol/directions.ts", "2 ** (31 - k)", "2 ** (30 - k)"],
    ["sobol/sobol.ts", "31 - Math.clz32(index ^ next)", "31 - Math.clz32(index & next)"],
    ["uniforms.ts", "gpu.real((word >>> 8) | 1) * 2 ** -24", "gpu.real(word >>> 8) * 2 ** -24"],
  ]),
  ...beside("report", "cli/report", [
    ["charts.ts", "(sum, { value }) => sum + value, 0)", "(sum, { value }) => Math.max(sum, value), 0)"],
    ["charts.ts", 'typeof base === "number" ? "Gain or loss"', 'typeof base !== "number" ? "Gain or loss"'],
    [
      "summary.ts",
      'list === "errorEstimate" ? Math.abs(named.quantity)',
      'list === "value" ? Math.abs(named.quantity)',
    ],
    ["summary.ts", "if (vega === null) group.withoutVega++;", "if (vega === null) group.vega++;"],
    ["summary.ts", "else group.vega += quantity * vega;", "else group.vega += vega;"],
  ]),
  ...beside("report", "report/report", [
    ["charts.ts", "against(values[0]?.[s]?.[v]?.[r0])", "against(values[0]?.[v]?.[s]?.[r0])"],
  ]),
  ...beside("runs", "runs/run", [
    ["sum-totals.ts", "of chunks) sums.addCounts(counts)", "of chunks.slice(0, 1)) sums.addCounts(counts)"],
    ["part.ts", "const file = bytes.buffer.slice(bytes.byteOffset,", "const file = bytes.buffer.slice(0,"],
    ["part.ts", 'if (name === "status" && tags !== undefined)', 'if (name === "value" && tags !== undefined)'],
    ["reprice.ts", "if (before !== now) this.differences", "if (before < now) this.differences"],
    ["verify.ts", 'if (typeof found === "string") problems.push(found);', ""],
    ["receipts.ts", "(trust || (await isWhole(store, receipt.outcome)))", "(trust || receipt.outcome.bytes > 0)"],
    [
      "part.ts",
      "spot.map(() => volatility.map(() => rate.map(take)))",
      "spot.map(() => rate.map(() => volatility.map(take)))",
    ],
  ]),
  ...beside("service", "service/service", [
    ["requests.ts", 'if (typeof stream !== "boolean") throw', "if (stream === undefined) throw"],
    ["requests.ts", "value === null || Array.isArray(value))", "value === null)"],
    ["server.ts", "if (trades > limits.trades)", "if (trades >= limits.trades + 2)"],
    ["server.ts", 'message: status === 500 ? "internal error" : error.message', "message: error.message"],
    ["server.ts", "trades.add(before.trades.length + after.trades.length);", "trades.add(before.trades.length);"],
    ["markets.ts", "this.#kept.delete(hash);", ""],
    ["server.ts", "if (underWay >= requests)", "if (underWay > requests)"],
    ["server.ts", "reply.raw.destroy();", "reply.raw.end();"],
    ["server.ts", "method: options.method ?? method,", "method: options.method,"],
    ["prices.ts", "a.method === b.method &&", ""],
    ["prices.ts", "a.seed === b.seed &&", ""],
    ["prices.ts", "(a.scenarios === undefined || a.asOf === b.asOf)", "true"],
  ]),
  ...beside("serving", "cluster/cluster service/service", [
    ["health.ts", "json(isHealthy() ? 200 : 503,", "json(200,"],
    ["metrics.ts", "(sums.get(key) ?? 0) + amount", "amount"],
    ["metrics.ts", "bounds.findIndex((bound) => value <= bound)", "bounds.findIndex((bound) => value >= bound)"],
    ["metrics.ts", "sums.size === 0 ? [`${name} 0`]", "sums.size === 0 ? []"],
    ["metrics.ts", "new Float64Array(bounds.length + 1)", "new Float64Array(bounds.length)"],
  ]),
  ...beside("sparsegrid", "sparsegrid/values sparsegrid/combination sparsegrid/errors sparsegrid/krylov", [
    ["kernel/assemble.ts", "if (!(belowJ || aboveJ || belowK || aboveK))", "if (!(belowJ || aboveJ || belowK))"],
    ["kernel/expire.ts", "i < unknowns ? value : 0.0", "value"],
    ["solution.ts", "sum += weights[j] * along(axis - 1);", "sum += along(axis - 1) / weights.length;"],
    ["solve.ts", "if (!Array.isArray(devices) || devices.length === 0)", "if (!Array.isArray(devices))"],
  ]),
  ...beside("fdm/operator", "sparsegrid/values sparsegrid/combination sparsegrid/errors fdm/axes/errors", [
    ["status.ts", "row === first.row && node < first.node", "row === first.row && node > first.node"],
  ]),
  ...beside("threads", "pricing/workers pipeline/pipeline", [
    ["worker-pool.ts", "return JOBS_PER_WORKER * this.#workers", "return this.#workers"],
    ["worker-pool.ts", 'message.kind === "done" ? message.answer : undefined', "undefined"],
    ["worker-pool.ts", "worker.ready && !(worker.pending.size >=", "worker.ready && !(worker.pending.size <="],
    ["serve-jobs.ts", "stops.get(message.number)?.abort()", "stops.get(message.number)"],
    ["worker-pool.ts", "while (this.#workers.length > 0) this.#lose(this.#workers[0]);", ""],
  ]),
];
