/** The risk of the book under its named scenarios, from the results that it has. */
import { profitChart } from "../../src/output/charts/index.ts";
import { RiskCollector, type RiskPart } from "../../src/pricing/index.ts";
import { SpecError } from "../../src/base/errors.ts";
import type { SessionBook } from "./book.ts";
import type { RiskAnswer, RiskRequest } from "./protocol.ts";

/** The most parts of one kind that the page gets. */
const MAX_PARTS = 200;

/** Returns the risk of a priced book. @throws BookError for trades in several currencies without one to report in */
export function riskOf({ confidence, by }: RiskRequest, { context, results }: SessionBook): RiskAnswer {
  const { scenarioTable } = context;
  if (scenarioTable === undefined) throw new SpecError("the book has no named scenarios");
  const tags = new Set(results.flatMap((one) => Object.keys(one?.tags ?? {})));
  const groups = ["underlying", "currency", ...[...tags].map((tag) => `tag.${tag}`)];
  const collector = new RiskCollector(scenarioTable, { groupBy: groups });
  const without: string[] = [];
  for (const result of results) {
    if (result?.status !== "ok") continue;
    // The risk is of those that have a value in every scenario, and says which do not.
    if (result.scenarioValues?.includes(null) === true) without.push(result.id);
    else collector.add(result);
  }
  const { components, ...risk } = collector.risk(confidence);
  const parts: readonly RiskPart[] = by === "trade" ? components.trades : (components.groups[by] ?? []);
  const size = ({ expectedShortfall }: RiskPart): number => Math.abs(expectedShortfall);
  return {
    ...risk,
    by: ["trade", ...groups],
    parts: parts.toSorted((a, b) => size(b) - size(a)).slice(0, MAX_PARTS),
    hidden: Math.max(parts.length - MAX_PARTS, 0),
    without,
    chart: profitChart(risk, collector.distribution),
  };
}
