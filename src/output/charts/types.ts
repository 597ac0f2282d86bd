/** The types of charts as plain data. */

/** An axis of a chart on which numbers are shown. */
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

/** A sequence of points in a chart, drawn as a line, dots, an area or bars. */
export interface Series {
  readonly label: string;
  /** The points in the order of x. A point that is not finite interrupts a line. */
  readonly points: readonly Point[];
  /**
   * The style, a solid line by default. A "reference" is a thin grey line for comparison. An "area" is filled down to
   * zero. "bars" has one bar for each point, as in a histogram.
   */
  readonly style?: "line" | "dashed" | "dots" | "reference" | "area" | "bars";
  /** The number of its colour, by default its place among the series: series of one kind have one colour. */
  readonly colour?: number;
  /** The area of each dot, relative to the largest. */
  readonly weights?: readonly number[];
}

/** A chart with lines, dots and bars between two axes. */
export interface PlotChart {
  readonly kind: "plot";
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** Vertical dotted lines, such as at today's spot or at a strike. */
  readonly marks?: readonly { readonly x: number; readonly label: string }[];
  /** The colours of series: distinct hues ("distinct", the default), or one hue from light to dark ("ordered"). */
  readonly colours?: "distinct" | "ordered";
}

/** A chart of values on a grid, shown as colours and, if there is room, as numbers. */
export interface HeatMapChart {
  readonly kind: "heat-map";
  readonly title: string;
  readonly x: { readonly label: string; readonly values: readonly string[] };
  readonly y: { readonly label: string; readonly values: readonly string[] };
  /** The values, values[y][x], with y from the bottom; null if there is no value. */
  readonly values: readonly (readonly (number | null)[])[];
  readonly unit: string;
  /** The colours: "diverging" around zero, for changes; "sequential" by default. */
  readonly colours?: "sequential" | "diverging";
}

/** A chart of a function of two numbers as bands of values, whose edges are round numbers. */
export interface ContourChart {
  readonly kind: "contour";
  readonly title: string;
  /** The nodes of the two axes, in rising order. */
  readonly x: Axis & { readonly values: readonly number[] };
  readonly y: Axis & { readonly values: readonly number[] };
  /** The values at the nodes, values[y][x]; null if there is no value. */
  readonly values: readonly (readonly (number | null)[])[];
  readonly unit: string;
  /** The colours: "diverging" around zero, for changes; "sequential" by default. */
  readonly colours?: "sequential" | "diverging";
}

/** A chart of the steps of which a change consists. Each bar begins where the one before it ends. */
export interface WaterfallChart {
  readonly kind: "waterfall";
  readonly title: string;
  readonly unit: string;
  readonly steps: readonly {
    readonly label: string;
    readonly value: number;
    /** True for a bar that begins at zero, such as the first and the last. */
    readonly isTotal?: boolean;
  }[];
}

/** A chart of any kind. */
export type Chart = PlotChart | HeatMapChart | ContourChart | WaterfallChart;

/** The size of a chart in pixels. */
export interface ChartSize {
  readonly width: number;
  readonly height: number;
}
