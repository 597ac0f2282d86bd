import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Chart, chartSvg, drawChart } from "../../src/output/charts/index.ts";

export interface ChartProps {
  readonly chart: Chart;
  readonly height?: number;
}

/** A chart as wide as its place; a button saves it as an SVG file. */
export function ChartView({ chart, height }: ChartProps): VNode {
  const root = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useEffect(() => {
    if (root.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => (width.value = Math.floor(entry.contentRect.width)));
    observer.observe(root.current);
    return () => observer.disconnect();
  }, []);
  const size = { width: Math.max(width.value, 240), height: height ?? heightOf(chart, width.value) };
  const svg = useMemo(() => (width.value === 0 ? "" : drawChart(chart, size)), [chart, size.width, size.height]);
  return (
    <figure class="figure-box" data-testid="chart" aria-label={chart.title}>
      {/* oxlint-disable-next-line react/no-danger -- charts are text of our own, with what comes from outside escaped */}
      <div ref={root} style={{ minHeight: `${size.height}px` }} dangerouslySetInnerHTML={{ __html: svg }} />
      <button
        type="button"
        class="save"
        title="Save this picture"
        aria-label={`Save the picture: ${chart.title}`}
        onClick={() => saveChart(chart)}
      >
        ↓
      </button>
    </figure>
  );
}

function heightOf(chart: Chart, width: number): number {
  if (chart.kind === "waterfall") return Math.max(76 + 30 * chart.steps.length, 150);
  if (chart.kind === "contour") return Math.round(Math.min(Math.max(0.68 * width, 280), 540));
  return Math.round(Math.min(Math.max(0.62 * width, 230), 520));
}

function saveChart(chart: Chart): void {
  const file = new Blob([chartSvg(chart, { width: 720, height: heightOf(chart, 720) })], { type: "image/svg+xml" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${chart.title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
