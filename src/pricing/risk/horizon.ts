/** The period of a measure of risk: what the moves of its scenarios span, and how profits are scaled to another. */
import { businessDaysText } from "../../base/business-days.ts";

/** The period of a measure of risk, in business days. */
export interface RiskHorizon {
  /** The period that was asked for; undefined for that of the scenarios. */
  readonly asked: number | undefined;
  /** What the moves of the scenarios span; undefined where their table does not say it. */
  readonly span: number | undefined;
  /**
   * The factor √(asked/span) of all profits and losses; 1 where either is unknown. It is that of Basel's rule: exact
   * for moves that are independent and of one distribution from day to day, to first order in the moves and without a
   * mean.
   */
  readonly scale: number;
}

/** Returns the horizon of a risk under scenarios whose moves span some business days. */
export function riskHorizon(asked: number | undefined, span: number | undefined): RiskHorizon {
  return { asked, span, scale: asked === undefined || span === undefined ? 1 : Math.sqrt(asked / span) };
}

/** Returns the period as text, behind a number of scenarios: ` over 10d`; empty where it is unknown. */
export function overHorizon({ asked, span }: RiskHorizon): string {
  const days = asked ?? span;
  return days === undefined ? "" : ` over ${businessDaysText(days)}`;
}

/** Returns a sentence about the scaling; undefined where there is nothing to say. */
export function scalingText({ asked, span, scale }: RiskHorizon): string | undefined {
  if (asked === undefined || asked === span) return undefined;
  const to = businessDaysText(asked);
  if (span === undefined)
    return `${to} is a label: the scenarios do not say what their moves span, and nothing is scaled.`;
  return (
    `All profits and losses are those over ${businessDaysText(span)} times √(${asked}/${span}) = ` +
    `${Number(scale.toPrecision(6))}, as if moves were independent from day to day.`
  );
}

/** Returns the horizon as outputs of data have it. */
export const horizonFields = ({ asked, span, scale }: RiskHorizon) => ({
  horizon: asked === undefined ? null : businessDaysText(asked),
  span: span === undefined ? null : businessDaysText(span),
  scaledBy: scale,
});
