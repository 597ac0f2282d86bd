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
  /** True where a number of months after the last business day of a month is again the last business day of a month. */
  readonly endOfMonth: boolean;
  /** The fixed leg of a swap against the index. */
  readonly fixed: { readonly months: number; readonly dayCount: DayCount };
}

const OVERNIGHT = { fixingLag: 0, endOfMonth: false } as const;
const YEARLY_360 = { months: 12, dayCount: "Act/360" } as const;
const YEARLY_365 = { months: 12, dayCount: "Act/365F" } as const;
const US = "US-government-bond";
const EURIBOR = {
  currency: "EUR",
  calendar: "TARGET",
  dayCount: "Act/360",
  fixingLag: 2,
  spotLag: 2,
  paymentLag: 0,
  endOfMonth: true,
  fixed: { months: 12, dayCount: "30/360" },
} as const;
const PAID = { spotLag: 2, paymentLag: 2 } as const;

/** The indices that are known by name. */
export const INDICES = {
  ESTR: {
    ...OVERNIGHT,
    ...PAID,
    paymentLag: 1,
    currency: "EUR",
    calendar: "TARGET",
    dayCount: "Act/360",
    fixed: YEARLY_360,
  },
  SOFR: { ...OVERNIGHT, ...PAID, currency: "USD", calendar: US, dayCount: "Act/360", fixed: YEARLY_360 },
  SONIA: {
    ...OVERNIGHT,
    spotLag: 0,
    paymentLag: 0,
    currency: "GBP",
    calendar: "UK",
    dayCount: "Act/365F",
    fixed: YEARLY_365,
  },
  SARON: { ...OVERNIGHT, ...PAID, currency: "CHF", calendar: "Switzerland", dayCount: "Act/360", fixed: YEARLY_360 },
  TONA: { ...OVERNIGHT, ...PAID, currency: "JPY", calendar: "Japan", dayCount: "Act/365F", fixed: YEARLY_365 },
  "EURIBOR-1M": { ...EURIBOR, months: 1 },
  "EURIBOR-3M": { ...EURIBOR, months: 3 },
  "EURIBOR-6M": { ...EURIBOR, months: 6 },
  "EURIBOR-12M": { ...EURIBOR, months: 12 },
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
