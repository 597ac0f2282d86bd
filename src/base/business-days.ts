/** Periods in business days, as scenarios and measures of risk span them. */

/** The business days of each unit: a week has 5, a month 21 and a year 252, as is usual in measures of risk. */
const DAYS = { d: 1, w: 5, m: 21, y: 252 } as const;

/** The longest period. */
const MOST = 1000;

/** What `businessDaysOf` expects. */
export const BUSINESS_DAYS = `business days from 1d to ${MOST}d, or 1w (5 of them), 1m (21) or 1y (252)`;

/** Returns the business days of a period such as `10d`, `2w`, `1m` or `1y`; undefined for another text. */
export function businessDaysOf(text: string): number | undefined {
  const [, count, unit] = /^(\d+)([dwmy])$/i.exec(text.trim()) ?? [];
  if (unit === undefined) return undefined;
  const days = Number(count) * DAYS[unit.toLowerCase() as keyof typeof DAYS];
  return days >= 1 && days <= MOST ? days : undefined;
}

/** Returns a number of business days as `businessDaysOf` reads it. */
export const businessDaysText = (days: number): string => `${days}d`;
