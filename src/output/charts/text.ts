/** Functions that write SVG elements. */

/** Formats a length in pixels with one decimal, so that SVG files stay small and do not depend on the last digits. */
export function formatPixels(value: number): string {
  return String(Math.round(10 * value) / 10 + 0);
}

/** Escapes text for XML. */
export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** The attributes of an SVG element. An undefined attribute is left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Returns the text of an SVG element. Numbers among its attributes are rounded to tenths. */
export function svgElement(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === "number" ? formatPixels(value) : escapeXml(String(value))}"`)
    .join("");
  return children.length === 0 ? `<${name}${written}/>` : `<${name}${written}>${children.join("")}</${name}>`;
}

/** Returns an SVG text element at the position x, y in pixels. */
export function svgText(content: string, x: number, y: number, attributes: Attributes = {}): string {
  return svgElement("text", { x, y, ...attributes }, escapeXml(content));
}

/**
 * Formats a number in its shortest form, with at most five significant digits, a true minus sign, and separated
 * thousands.
 */
export function formatShort(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(1).replace("-", "−").replace("e+", "e");
  const text = value.toLocaleString("en-US", { maximumSignificantDigits: 5 });
  return text.replace("-", "−");
}

/** Returns the approximate width in pixels of a text whose font size is 11 pixels. */
export function textWidth(text: string): number {
  return 6.3 * text.length;
}

/**
 * Returns a chart's title as SVG text. It is left of the axes, and in a smaller font if it would otherwise overlap the
 * button that saves the chart. `width` is the chart's width in pixels.
 */
export function chartTitle(text: string, width: number): string {
  const size = Math.max(Math.min(14, (width - 64) / (0.6 * text.length)), 9);
  return svgText(text, 20, 20, {
    class: "c-title",
    style: size < 14 ? `font-size:${formatPixels(size)}px` : undefined,
  });
}
