/**
 * The CSS style sheet of charts. Its colours for light and dark schemes are chosen so that most people can distinguish
 * them on white and on near-black (after Okabe & Ito, 2008).
 */
export const CHART_STYLE = `.chart{color-scheme:inherit;font:11px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-variant-numeric:tabular-nums;
--c0:light-dark(#0072b2,#5cb3ec);--c1:light-dark(#d55e00,#f28e4c);--c2:light-dark(#00805e,#3fc79d);--c3:light-dark(#a8508a,#e39bcb);
--c4:light-dark(#a87400,#e6b84a);--c5:light-dark(#3d3d8f,#a3a3f0);--c6:light-dark(#b0203c,#f0788c);--c7:light-dark(#5a6b1f,#b5c76a);
--c-low:light-dark(#dcecf4,#173042);--c-high:light-dark(#08457a,#8fd0ff);--c-gain:light-dark(#0b7a5b,#39c295);--c-loss:light-dark(#c2410c,#f08a5d);
--c-none:light-dark(#f1f3f4,#22292e);--c-ink:light-dark(#1d2b31,#e3eaed);--c-soft:light-dark(#53626a,#9fb0b8);--c-rule:light-dark(#e1e6e9,#2b353b);max-width:100%;height:auto;display:block}
.chart text{fill:var(--c-ink)}.chart .c-title{font-size:14px;font-weight:600}.chart .c-tick,.chart .c-label{fill:var(--c-soft)}
.chart .c-grid{stroke:var(--c-rule)}.chart .c-axis{stroke:var(--c-soft);stroke-opacity:.7}.chart .c-mark{stroke:var(--c-soft);stroke-dasharray:2 3}
.chart .c-line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.chart .c-dashed{stroke-dasharray:6 4}
.chart .c-reference{stroke:var(--c-soft);stroke-width:1.3;stroke-dasharray:4 3}.chart .c-area{opacity:.18}.chart .c-dot{fill-opacity:.75}
.chart .c-band rect{fill:transparent}.chart .c-band line{stroke:none}.chart .c-band:hover line{stroke:var(--c-soft);stroke-opacity:.6}
.chart .c-clear{fill:transparent}.chart .c-contour{fill:none;stroke:var(--c-ink);stroke-opacity:.22;stroke-width:.8}
.chart .c-cell:hover{stroke:var(--c-ink);stroke-width:1.5}.chart .c-value{font-size:11px}
.chart .c-on-dark{fill:light-dark(#fff,#0b1216);pointer-events:none}.chart .c-on-light{pointer-events:none}.c-paper{fill:light-dark(#fff,#14191c)}
@media (prefers-color-scheme:dark){svg:root{color-scheme:dark}}`;
