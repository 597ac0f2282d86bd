/** The CSS style sheet of a report. */
export const REPORT_STYLE = `:root{color-scheme:light dark;--ink:light-dark(#152025,#e8eef0);--soft:light-dark(#53626a,#9fb0b8);--line:light-dark(#dfe4e7,#2b363c);--bad:light-dark(#b3261e,#ff9b92)}
body,body *{box-sizing:border-box}body{margin:0;background:light-dark(#fff,#12171a);color:var(--ink);font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1180px;margin:0 auto;padding:2.4rem 1.2rem 4rem}h1{font-size:1.7rem;letter-spacing:-.02em;margin:0 0 .2rem;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:2.2rem 0 .6rem}
p{margin:0}header p,.note,dt{color:var(--soft)}.bad{color:var(--bad)}.note{margin-top:1rem;font-size:.85rem}
.scroll{overflow-x:auto}:is(.scroll,.note,.charts)+.scroll{margin-top:1.4rem}table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--soft);font-size:.82rem;vertical-align:bottom}.number{text-align:right;white-space:nowrap}th.number{white-space:normal}
.charts>div{min-width:0}.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1.4rem;align-items:start}figure{margin:0;border:1px solid var(--line);border-radius:10px;padding:.6rem}
dl{margin:0}.facts{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.4rem}dd{margin:0;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.7rem;margin:1.2rem 0}.tile{border:1px solid var(--line);border-radius:10px;padding:.6rem .8rem}
.tile dt{font-size:.82rem}.tile dd{font-size:1.25rem;font-weight:600;letter-spacing:-.01em}.tile small{color:var(--soft)}.lists{display:grid;gap:1rem;align-content:start;min-width:0}
@media(max-width:36rem){.facts{grid-template-columns:1fr}.facts dd{margin-bottom:.5rem}}
@page{margin:14mm}@media print{:root{color-scheme:light}body{font-size:11px}.tiles{grid-template-columns:repeat(auto-fill,minmax(7rem,1fr))}main{max-width:none;padding:0}h2{break-after:avoid}tr,figure,.tile{break-inside:avoid}.scroll{overflow:visible}}
`;
