"""The look of the HTML report: one column on a phone, light or dark as the reader's system is."""

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --faint: #59636e; --page: #ffffff;
  --card: #f6f8fa; --line: #d1d9e0; --blue: #2b6cb0; --orange: #c8701a; --sky: #8cb8e2;
  --violet: #8250df; --grey: #9aa4ae; --red: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --faint: #9aa7b4; --page: #0d1117;
  --card: #161b22; --line: #30363d; --blue: #6cb0f5; --orange: #f0a04b; --sky: #2f5f8f;
  --violet: #a371f7; --grey: #5d6772; --red: #f85149; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); overflow-wrap: anywhere;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 1rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
h4 { font-size: 1rem; margin: 0; }
p { margin: .4rem 0; max-width: 46rem; }
.lead { font-size: 1.1rem; }
.meta, .facts dt, article dt, caption { color: var(--faint); }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 1rem 0; }
.facts dd, article dd { margin: 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr));
  gap: 0 2rem; }
.chart { max-width: 36rem; }
svg { display: block; width: 100%; height: auto; font-size: 15px; }
svg text { fill: var(--ink); }
svg .tick, svg .name { fill: var(--faint); }
svg .base { stroke: var(--ink); stroke-width: 1; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .mark { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 5 4; }
svg polyline { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
svg polyline.first { stroke: var(--blue); }
svg polyline.second { stroke: var(--orange); stroke-dasharray: 7 4; }
svg circle { fill: var(--page); stroke: var(--orange); stroke-width: 2.5; }
svg circle.apart { fill: var(--ink); stroke: var(--page); }
svg circle + text { font-weight: 600; paint-order: stroke; stroke: var(--page);
  stroke-width: 3px; }
.known, .answered { fill: var(--blue); background: var(--blue); }
.unknown, .false_answer { fill: var(--orange); background: var(--orange); }
.partial { fill: var(--sky); background: var(--sky); }
.web { fill: var(--violet); background: var(--violet); }
.not_found { fill: var(--grey); background: var(--grey); }
.failed { fill: var(--red); background: var(--red); }
.key.first { background: var(--blue); }
.key.second { background: var(--orange); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: .4rem 0; padding: 0;
  list-style: none; }
.key { display: inline-block; width: .9em; height: .9em; margin-right: .4em; border-radius: 2px;
  vertical-align: -.1em; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .92rem; overflow-wrap: normal; }
caption { text-align: left; padding: .2rem 0; }
th, td { padding: .25rem .8rem .25rem 0; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; font-variant-numeric: tabular-nums; }
th { font-weight: 600; }
tr > :first-child { text-align: left; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: .7rem 1rem; margin: .6rem 0; }
article dl { display: grid; grid-template-columns: 6rem 1fr; gap: .2rem .5rem; margin: .4rem 0 0; }
article ul, article ol, article dd p { margin: 0; padding-left: 1.2rem; }
article ul, article dd p { list-style: none; padding-left: 0; }
article dd p { white-space: pre-line; }
article em { color: var(--blue); }
@media (max-width: 40rem) {
  article dl, .facts { grid-template-columns: 1fr; }
  .facts dd, article dd { margin-bottom: .4rem; }
}
"""
