/** The style of all pages. It is part of each page, so that a page loads nothing. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #eef1f6; --card: #fff; --ink: #172033; --quiet: #566079; --line: #d5dce8; --edge: #7d88a1;
  --accent: #2f4bd8; --on-accent: #fff; --wash: #f3f5ff;
  --warn-back: #fff5d9; --warn-ink: #5a4200; --warn-line: #efcf7b;
  --good-back: #e1f4e8; --good-ink: #155c35; --bad-back: #fde9e6; --bad-ink: #95261a;
  --lift: 0 1px 2px rgb(23 32 51 / .06), 0 8px 24px rgb(23 32 51 / .06);
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0e121b; --card: #171d2a; --ink: #e8ecf5; --quiet: #a4aec4; --line: #2b3549; --edge: #6a7690;
    --accent: #9aadff; --on-accent: #0e1430; --wash: #1d2538;
    --warn-back: #2a2310; --warn-ink: #f2d88c; --warn-line: #5c4b19;
    --good-back: #12301f; --good-ink: #8fdcae; --bad-back: #3a1a16; --bad-ink: #ffb4a8;
    --lift: 0 0 0 transparent;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; }
p, .expect { text-wrap: pretty; }
body::before { content: ""; display: block; height: 6px; background: repeating-linear-gradient(-45deg, #f5b301 0 14px, #20263a 14px 28px); }
a { color: var(--accent); text-underline-offset: .18em; }
h1, h2, p, dl, dd, ul { margin: 0; padding: 0; }
h1 { font-size: 1.6rem; line-height: 1.2; letter-spacing: -.015em; text-wrap: balance; }
h2 { font-size: 1.05rem; line-height: 1.3; }
ul { list-style: none; }
code { font: .86em ui-monospace, SFMono-Regular, Menlo, monospace; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.quiet { color: var(--quiet); }
.small { font-size: .875rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.top { display: flex; align-items: center; justify-content: space-between; gap: 1rem; margin: 0 auto;
  padding: 1rem 1.25rem; }
.brand { display: flex; align-items: center; gap: .6rem; font-weight: 650; color: inherit; text-decoration: none; }
.brand svg { width: 1.75rem; height: 1.75rem; flex: none; }
.top nav { gap: .5rem 1.25rem; justify-content: end; }
main { margin: 0 auto; padding: .5rem 1.25rem 3rem; display: grid; gap: 1rem; }
.narrow { max-width: 38rem; }
.wide { max-width: 62rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 16px; padding: 1.5rem; box-shadow: var(--lift); }
.stack { display: grid; gap: 1rem; }
h1 + p { margin-top: .3rem; }
.note { background: var(--warn-back); color: var(--warn-ink); border: 1px solid var(--warn-line); border-radius: 10px;
  padding: .65rem .9rem; font-size: .9rem; }
.note a { color: inherit; font-weight: 600; }

button, .field { font: inherit; color: inherit; }
.button { min-height: 2.75rem; padding: .45rem 1.1rem; border-radius: 10px; border: 1px solid var(--line); background: var(--card);
  font-weight: 600; cursor: pointer; }
.button:hover { border-color: var(--accent); background: var(--wash); }
.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.main:hover { background: var(--accent); filter: brightness(1.08); }
.plain, .plain:hover { border-color: transparent; background: none; padding: 0; font-weight: 400; text-decoration: underline;
  text-underline-offset: .18em; color: var(--quiet); }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; }
.apart { justify-content: space-between; }
.field { width: 100%; min-height: 2.75rem; padding: .4rem .75rem; border: 1px solid var(--edge); border-radius: 10px; background: none;
  font-weight: 400; }
label { display: grid; gap: .3rem; font-weight: 600; font-size: .9rem; }
label.tick { display: flex; align-items: center; gap: .6rem; font-weight: 400; }
input[type=checkbox] { width: 1.2rem; height: 1.2rem; accent-color: var(--accent); }

.people { display: grid; gap: .6rem; }
.person { width: 100%; display: grid; grid-template-columns: 2.75rem 1fr; gap: .15rem .9rem; align-items: start; text-align: left;
  padding: .8rem .9rem; border: 1px solid var(--line); border-radius: 12px; background: var(--card); cursor: pointer; }
.person:hover { border-color: var(--accent); background: var(--wash); }
.person .face { grid-row: span 2; }
.face { width: 2.75rem; height: 2.75rem; border-radius: 50%; display: grid; place-items: center; font-weight: 700; color: #fff; }
.face-0 { background: #2f6fd0; } .face-1 { background: #0f7f6c; } .face-2 { background: #a0439c; }
.face-3 { background: #b8501f; } .face-4 { background: var(--card); color: #b8501f; border: 2px dashed currentColor; }
.face-5 { background: #5d6b1a; } .face-6 { background: #6a4fb3; }
@media (prefers-color-scheme: dark) { .face-4 { color: #f0976a; } }
.called { display: flex; flex-wrap: wrap; align-items: baseline; gap: .1rem .55rem; }
.called strong { font-size: 1.05rem; }
.called .quiet { font-size: .875rem; }
.expect { font-size: .875rem; line-height: 1.45; color: var(--quiet); }
.tag { font-size: .75rem; font-weight: 600; border-radius: 99px; padding: .1rem .5rem; white-space: nowrap; }
.good { background: var(--good-back); color: var(--good-ink); }
.bad { background: var(--bad-back); color: var(--bad-ink); }
.warn { background: var(--warn-back); color: var(--warn-ink); }
.off { background: var(--back); color: var(--quiet); }

details { border-top: 1px solid var(--line); padding-top: 1rem; }
summary { cursor: pointer; font-weight: 600; color: var(--accent); padding: .25rem 0; border-radius: 6px; }
details form { margin-top: .9rem; }

.knobs { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
.knob { display: flex; flex-direction: column; gap: .8rem; padding: 1.25rem; scroll-margin-top: 1rem; }
.knob.turned { border-color: var(--warn-line); box-shadow: inset 4px 0 0 #f5b301, var(--lift); }
.knob dl { display: grid; gap: .55rem; font-size: .9rem; }
.knob dt { font-size: .78rem; font-weight: 600; color: var(--quiet); }
.knob .forms { margin-top: auto; display: flex; flex-wrap: wrap; gap: .5rem 1rem; }
.knob .forms form { display: flex; gap: .4rem; }
.knob .button { padding: .4rem .85rem; }
.knob .field { width: 6.25rem; padding-right: .3rem; }
@media (max-width: 30rem) {
  .card { padding: 1.15rem; border-radius: 14px; }
  .top, main { padding-left: .9rem; padding-right: .9rem; }
  h1 { font-size: 1.4rem; }
}
`;
