/** Indices of interest rates, with the conventions of the deposits and swaps of their markets. */
import type { CalendarName } from "./calendars.ts";
import type { DayCount } from "./day-counts.ts";

/** The conventions of an index. @experimental */
export interface IndexConventions {
  readonly currency: string;
  readonly calendar: CalendarName;
  readonly dayCount: DayCount;
  /** The months of a term rate; undefined for an overnight rate. */
  readonly months?: number;
  /** The business days from the fixing to the start of its period. */
  readonly fixingLag: number;
  /** The business days from a trade to its start. */
  readonly spotLag: number;
  /** The business days from the end of a period to its payment. */
  readonly paymentLag: number;
  /** Whether months from the last business day of a month lead to that of another. */
  readonly endOfMonth: boolean;
  /** The fixed leg of a swap against the index. */
  readonly fixed: { readonly months: number; readonly dayCount: DayCount };
}

const overnight = (
  currency: string,
  calendar: CalendarName,
  dayCount: DayCount,
  spotLag: number,
  paymentLag: number,
): IndexConventions => ({
  currency,
  calendar,
  dayCount,
  fixingLag: 0,
  spotLag,
  paymentLag,
  endOfMonth: false,
  fixed: { months: 12, dayCount },
});

const euribor = (months: number): IndexConventions => ({
  currency: "EUR",
  calendar: "TARGET",
  dayCount: "Act/360",
  months,
  fixingLag: 2,
  spotLag: 2,
  paymentLag: 0,
  endOfMonth: true,
  fixed: { months: 12, dayCount: "30/360" },
});

/** The indices that are known by name. */
export const INDICES = {
  ESTR: overnight("EUR", "TARGET", "Act/360", 2, 1),
  SOFR: overnight("USD", "US-government-bond", "Act/360", 2, 2),
  SONIA: overnight("GBP", "UK", "Act/365F", 0, 0),
  SARON: overnight("CHF", "Switzerland", "Act/360", 2, 2),
  TONA: overnight("JPY", "Japan", "Act/365F", 2, 2),
  "EURIBOR-1M": euribor(1),
  "EURIBOR-3M": euribor(3),
  "EURIBOR-6M": euribor(6),
  "EURIBOR-12M": euribor(12),
} as const satisfies Readonly<Record<string, IndexConventions>>;

/** The name of an index. @experimental */
export type IndexName = keyof typeof INDICES;

/** Returns the conventions of an index. */
export const conventionsOf = (index: IndexName): IndexConventions => INDICES[index];

/** The calendars of currencies in the foreign exchange market. */
export const CURRENCY_CALENDARS: Readonly<Record<string, CalendarName>> = {
  EUR: "TARGET",
  USD: "US-Federal-Reserve",
  GBP: "UK",
  CHF: "Switzerland",
  JPY: "Japan",
};
