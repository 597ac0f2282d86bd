/** A scenario's value is that of the trade in the market that the scenario makes, valued by itself. */
import type { BarrierJson, Contract, RateJson, ScenariosJson, VolatilityJson } from "./contract.ts";
import { drawContract } from "./generate.ts";
import { rateIntegral, totalVariance } from "./market-functions.ts";
import { equal, type Property } from "./property.ts";

/** Few sets, because a book has one. */
const SCENARIOS: readonly ScenariosJson[] = [
  { time: [0], spot: [-0.1, 0, 0.07], volatility: [0, 0.03], rate: [0, -0.01] },
  { time: [0, 0.25], spot: [0, 0.05], volatility: [0, -0.02], rate: [0] },
  { time: [1.1], spot: [-0.25, 0.4], volatility: [0.1], rate: [0, 0.02] },
];

const scenarios: Property = {
  name: "scenarios",
  weight: 6,
  draw(random) {
    const axes = random.choice(SCENARIOS);
    const [i, j, k, l] = [axes.time, axes.spot, axes.volatility, axes.rate].map((axis) => random.integer(axis.length));
    const time = axes.time[i];
    const drawn = drawContract(random);
    if (drawn.expiry < 1.05 * time) return undefined;
    const contract = random.chance(0.2) ? windowEndingAt(drawn, time) : drawn;
    const fresh = laterContract(contract, time, {
      spot: axes.spot[j],
      volatility: axes.volatility[k],
      rate: axes.rate[l],
    });
    if (fresh === undefined) return undefined;
    const shifts = [
      time === 0 ? "" : "time",
      axes.spot[j] === 0 ? "" : "spot",
      axes.volatility[k] === 0 ? "" : "volatility",
      axes.rate[l] === 0 ? "" : "rate",
    ];
    return {
      contracts: [{ ...contract, scenarios: axes }, fresh],
      compare: ([got, expected]) => {
        const value = got.scenarios?.[i][j][k][l] ?? Number.NaN;
        // A scenario's value has no estimate of its own: its trade's, of a spot as much larger.
        const estimate = got.estimate * Math.max(1 + axes.spot[j], 1);
        return [
          equal(`scenario: ${shifts.filter((s) => s !== "").join(", ") || "none"}`, { value, estimate }, expected),
        ];
      },
    };
  },
};

const windowEndingAt = (contract: Contract, time: number): Contract => ({
  ...contract,
  ...(contract.barriers && {
    barriers: contract.barriers.map(({ monitoring: _dates, from: _from, ...one }) => ({ ...one, to: time })),
  }),
});

interface Shifts {
  readonly spot: number;
  readonly volatility: number;
  readonly rate: number;
}

/** undefined where a book cannot write what is left. */
function laterContract(contract: Contract, time: number, shifts: Shifts): Contract | undefined {
  const volatility = shiftedVolatility(contract.volatility, time, shifts.volatility);
  const barriers = contract.barriers?.map((barrier) => rollBarrier(barrier, time, contract.expiry));
  if (volatility === undefined || barriers?.includes("unwritable")) return undefined;
  const { exercise, discrete } = contract;
  const dates = typeof exercise === "object" ? exercise.filter((t) => t >= time).map((t) => t - time) : exercise;
  return {
    ...contract,
    spot: contract.spot * (1 + shifts.spot),
    expiry: contract.expiry - time,
    rate: laterRate(contract.rate, time, shifts.rate),
    volatility,
    ...(discrete && {
      discrete: discrete.filter(({ date }) => date > time).map((one) => ({ ...one, date: one.date - time })),
    }),
    ...(dates === undefined ? {} : { exercise: typeof dates === "object" && dates.length === 0 ? "european" : dates }),
    ...(barriers && { barriers: barriers.filter((barrier): barrier is BarrierJson => typeof barrier === "object") }),
  };
}

function laterRate(rate: RateJson, time: number, shift: number): RateJson {
  if (typeof rate === "number") return rate + shift;
  const zero = (date: number): number => (rateIntegral(rate, date) - rateIntegral(rate, time)) / (date - time) + shift;
  const last = Math.max(rate[rate.length - 1].date, time) + 1;
  // One node more, beyond the last: the forward rate goes on.
  const dates = [...rate.map(({ date }) => date).filter((date) => date > time), last];
  return dates.map((date) => ({ date: date - time, zero: zero(date) }));
}

function shiftedVolatility(volatility: VolatilityJson, time: number, shift: number): VolatilityJson | undefined {
  if (typeof volatility === "number") return Math.max(volatility + shift, 0);
  if ("termStructure" in volatility) {
    const nodes = volatility.termStructure.map(({ date }) => date);
    const dates = [...nodes.filter((date) => date > time), Math.max(nodes[nodes.length - 1], time) + 1];
    let [before, total] = [time, 0];
    return {
      termStructure: dates.map((date) => {
        const variance = (totalVariance(volatility, date) - totalVariance(volatility, before)) / (date - before);
        total += Math.max(Math.sqrt(Math.max(variance, 0)) + shift, 0) ** 2 * (date - before);
        before = date;
        return { date: date - time, volatility: Math.sqrt(total / (date - time)) };
      }),
    };
  }
  if ("cev" in volatility) {
    if (shift === 0) return volatility;
    return { local: `max(${volatility.cev.sigma}*S**(${volatility.cev.beta - 1}) + ${shift}, 0)` };
  }
  if ("displaced" in volatility) {
    const { sigma, shift: displacement } = volatility.displaced;
    return shift === 0 ? volatility : { local: `max(${sigma}*(S + ${displacement})/S + ${shift}, 0)` };
  }
  if ("local" in volatility)
    return { local: `max(${volatility.local.replaceAll(/\bt\b/g, `(t + ${time})`)} + ${shift}, 0)` };
  const { times, spots, volatility: values } = volatility.surface;
  if (time > 0 || values.some((row) => row.some((v) => v + shift <= 0))) return undefined;
  return { surface: { times, spots, volatility: values.map((row) => row.map((v) => v + shift)) } };
}

/** A knock-out whose dates are over is gone; a knock-in whose dates are cannot be written. */
function rollBarrier(barrier: BarrierJson, time: number, expiry: number): BarrierJson | "gone" | "unwritable" {
  const { from = 0, to = expiry, monitoring } = barrier;
  const dates = monitoring?.filter((t) => t >= time).map((t) => t - time);
  if (to < time || dates?.length === 0) return barrier.type.endsWith("-out") ? "gone" : "unwritable";
  return {
    ...barrier,
    from: Math.max(from - time, 0),
    to: to === expiry ? expiry - time : to - time,
    ...(dates === undefined ? {} : { monitoring: dates }),
  };
}

export const scenarioProperties: readonly Property[] = [scenarios];
