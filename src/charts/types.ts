/** Charts as plain data. */

/** An axis of numbers. */
export interface Axis {
  /** The quantity of the axis with its unit. */
  readonly label: string;
  /** The scale, "linear" by default. */
  readonly scale?: "linear" | "log";
  /** The range; by default that of the data, up to the next tick. */
  readonly domain?: readonly [number, number];
}

/** A point of a series. */
export type Point = readonly [x: number, y: number];

/** A series of points. */
export interface Series {
  readonly label: string;
  /** The points in the order of x; one that is not finite interrupts a line. */
  readonly points: readonly Point[];
  /**
   * The style, a solid line by default. A "reference" is thin and grey, for comparison; an "area" is filled down to
   * zero; "bars" stand side by side, one for each point, as in a histogram.
   */
  readonly style?: "line" | "dashed" | "dots" | "reference" | "area" | "bars";
  /** The area of each dot, relative to the largest. */
  readonly weights?: readonly number[];
}

/** Lines, dots and bars between two axes. */
export interface PlotChart {
  readonly kind: "plot";
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** The upright dotted lines: today's spot, a strike. */
  readonly marks?: readonly { readonly x: number; readonly label: string }[];
  /** The colours of series: distinct hues ("distinct", the default), or one hue from light to dark ("ordered"). */
  readonly colours?: "distinct" | "ordered";
}

/** Values on a grid, shown as colours and, where there is room, as numbers. */
export interface HeatMapChart {
  readonly kind: "heat-map";
  readonly title: string;
  readonly x: { readonly label: string; readonly values: readonly string[] };
  readonly y: { readonly label: string; readonly values: readonly string[] };
  /** The values, values[y][x]; null where there is none. */
  readonly values: readonly (readonly (number | null)[])[];
  readonly unit: string;
  /** The colours: "diverging" around zero, for changes; "sequential" by default. */
  readonly colours?: "sequential" | "diverging";
}

/** A chart of the steps of a change: each begins where the previous one ended. */
export interface WaterfallChart {
  readonly kind: "waterfall";
  readonly title: string;
  readonly unit: string;
  readonly steps: readonly {
    readonly label: string;
    readonly value: number;
    /** Stands on zero, as the first and the last value do. */
    readonly isTotal?: boolean;
  }[];
}

/** A chart of any kind. */
export type Chart = PlotChart | HeatMapChart | WaterfallChart;

/** The size of a chart in pixels. */
export interface ChartSize {
  readonly width: number;
  readonly height: number;
}
