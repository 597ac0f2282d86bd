/** Heston's model, beside Lewis' integral. */
import type { Contract } from "../../properties/contract.ts";
import { contractOf, drawHeston, type HestonMarket } from "../../properties/heston-properties.ts";
import type { Random } from "../../properties/random.ts";
import type { Method } from "../../../src/pricing/index.ts";
import type { Case, Family, Known } from "../case.ts";
import { hestonPrice } from "../references/heston.ts";

const drawRight = (random: Random) => random.choice(["call", "put"] as const);

const drawStrike = (random: Random, { spot, width }: HestonMarket): number =>
  spot * Math.exp(width * 0.8 * random.normal());

function caseOf(market: HestonMarket, contract: Contract, reference: () => number, method?: Method): Case {
  const { spot, rate, yield: q, heston } = market;
  const { payoff, strike, expiry, exercise, barriers } = contract;
  return {
    rates: rate,
    underlyings: { A: { spot, dividends: { yield: q }, volatility: { heston } } },
    trade: {
      underlying: "A",
      payoff,
      strike,
      expiry,
      ...(exercise === undefined ? {} : { exercise }),
      ...(barriers === undefined ? {} : { barriers }),
    },
    scale: spot,
    reference: (): Known => ({ value: reference(), error: 1e-9 * spot }),
    ...(method === undefined ? {} : { method }),
  };
}

function european(random: Random, method?: Method): Case {
  const market = drawHeston(random);
  const [right, strike] = [drawRight(random), drawStrike(random, market)];
  return caseOf(market, contractOf(market, right, strike), () => hestonPrice(market, right, strike), method);
}

/** A call without dividends at rates ≥ 0, or a put at a rate of 0, is worth its European option. */
function neverExercised(random: Random): Case {
  const right = drawRight(random);
  const market = drawHeston(random, right === "call" ? { rate: random.uniform(0, 0.08), dividends: 0 } : { rate: 0 });
  const strike = drawStrike(random, market);
  const contract: Contract = { ...contractOf(market, right, strike), exercise: "american" };
  return caseOf(market, contract, () => hestonPrice(market, right, strike), "adi");
}

/** Without drift and with ρ = 0 a knock-out is a call less puts at its image (Carr, Ellis & Gupta 1998). */
function knockOut(random: Random): Case {
  const rate = random.uniform(0, 0.06);
  const market = drawHeston(random, { rho: 0, rate, dividends: rate });
  const [right, strike] = [drawRight(random), drawStrike(random, market)];
  const away = market.width * random.uniform(0.1, 1.5);
  const inner = right === "call" ? Math.min(market.spot, strike) : Math.max(market.spot, strike);
  const level = inner * Math.exp(right === "call" ? -away : away);
  const type = right === "call" ? ("down-and-out" as const) : ("up-and-out" as const);
  const contract: Contract = { ...contractOf(market, right, strike), barriers: [{ type, level }] };
  const image = right === "call" ? "put" : "call";
  return caseOf(market, contract, () => {
    const reflected = hestonPrice(market, image, (level * level) / strike);
    return hestonPrice(market, right, strike) - (strike / level) * reflected;
  });
}

const EXTENT = "σ 0.05 to 5, κ 0.1 to 500, ρ to ±0.99, an hour to 30 years";

export const hestonFamilies: readonly Family[] = [
  { name: "Heston, European", reference: "quadrature", draws: EXTENT, draw: (random) => european(random) },
  {
    name: "Heston by alternating directions, European",
    reference: "quadrature",
    draws: EXTENT,
    draw: (random) => european(random, "adi"),
  },
  {
    name: "Heston by Monte Carlo, European",
    most: 160,
    reference: "quadrature",
    draws: EXTENT,
    draw: (random) => ({ ...european(random, "montecarlo"), seconds: 10 }),
  },
  {
    name: "Heston by alternating directions, American",
    reference: "quadrature",
    draws: "never exercised early",
    draw: neverExercised,
  },
  {
    name: "Heston by alternating directions, knock-outs",
    reference: "quadrature",
    draws: "ρ = 0, no drift",
    draw: knockOut,
  },
];
