/** Parts of SVG text. */

/** Formats a length to tenths of a pixel, so that files stay small and independent of last digits. */
export function px(value: number): string {
  return String(Math.round(10 * value) / 10 + 0);
}

/** Escapes text for XML. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** The attributes of an element. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Formats one element; numbers are rounded to tenths. */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === "number" ? px(value) : escaped(String(value))}"`)
    .join("");
  return children.length === 0 ? `<${name}${written}/>` : `<${name}${written}>${children.join("")}</${name}>`;
}

/** Formats a text element. */
export function label(content: string, x: number, y: number, attributes: Attributes = {}): string {
  return element("text", { x, y, ...attributes }, escaped(content));
}

/** Formats a number in its shortest form: five significant digits, a true minus sign, thousands separated. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(1).replace("-", "−").replace("e+", "e");
  const text = value.toLocaleString("en-US", { maximumSignificantDigits: 5 });
  return text.replace("-", "−");
}

/** Returns the approximate width of text of 11 pixels. */
export function widthOf(text: string): number {
  return 6.3 * text.length;
}

/** Formats a chart's title: left of the axes, and smaller where it would overlap the button that saves the chart. */
export function titled(text: string, width: number): string {
  const size = Math.max(Math.min(14, (width - 64) / (0.6 * text.length)), 9);
  return label(text, 20, 20, { class: "c-title", style: size < 14 ? `font-size:${px(size)}px` : undefined });
}
