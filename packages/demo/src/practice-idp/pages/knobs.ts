import { type Ending, type KnobName, knobTable } from "../knob-table.ts";
import { type DialName, dials, type KnobSettings, type SwitchName, switchNames, turned } from "../knobs.ts";
import type { Person } from "../people.ts";
import { type Html, html, renderPage } from "./page.ts";

type KnobsView = {
  settings: KnobSettings;
  keyId: string;
  signedIn: Person | undefined;
  discoveryUrl: string;
};

/** The actions of the page's forms. */
type Wish = KnobName | "reset" | "signOut";

export function knobsPage(view: KnobsView): string {
  const count = turned(view.settings).length;
  return renderPage({
    title: "Knobs",
    width: "wide",
    body: html`
<div>
<h1>Knobs</h1>
<p class="quiet">Each knob causes a fault of identity providers. Try them one at a time. The reason is in Latchkey’s sign-on record.</p>
</div>
<section class="card row apart" aria-label="State">
<p>${
      view.signedIn
        ? html`<strong>${view.signedIn.name}</strong> is signed in here, in this browser.`
        : html`Nobody is signed in here, in this browser.`
    } ${count === 0 ? "All knobs are off." : count === 1 ? "One knob is turned." : `${count} knobs are turned.`}</p>
<div class="row">
${view.signedIn && form("signOut", html`<button class="button">Sign out here</button>`)}
${form("reset", html`<button class="button${count > 0 && " main"}">Reset all</button>`)}
</div>
</section>
<div class="knobs">
${keysCard(view)}
${dialCard(view, "clockSkewSeconds", "s", [-600, 0, 600])}
${dialCard(view, "tokenDelayMs", "ms", [0, 3000, 9000])}
${switchNames.map((name) => switchCard(view, name))}
</div>
<p class="quiet small">Discovery document: <a href="${view.discoveryUrl}"><code>${view.discoveryUrl}</code></a></p>`,
  });
}

const keysCard = (view: KnobsView): Html =>
  card(view, "rotateKeys", html`<span class="tag off">key <code>${view.keyId}</code></span>`, [
    form("rotateKeys", html`<button class="button">Rotate now</button>`),
  ]);

function switchCard(view: KnobsView, name: SwitchName): Html {
  const isOn = view.settings[name];
  const state = isOn ? html`<span class="tag warn">On</span>` : html`<span class="tag off">Off</span>`;
  const said = html`${isOn ? "Turn off" : "Turn on"}${unseen(name)}`;
  return card(view, name, state, [
    form(
      name,
      html`<button class="button${isOn && " main"}" name="value" value="${isOn ? "off" : "on"}">${said}</button>`,
    ),
  ]);
}

function dialCard(view: KnobsView, name: DialName, unit: string, marks: readonly number[]): Html {
  const value = view.settings[name];
  const { least, most } = dials[name];
  const state = html`<span class="tag ${value === 0 ? "off" : "warn"}">${value === 0 ? "Off" : `${signed(name, value)} ${unit}`}</span>`;
  return card(view, name, state, [
    form(
      name,
      html`<input class="field" type="number" name="value" required min="${least}" max="${most}" value="${value}" aria-label="${knobTable[name].title}, in ${unit}"><button class="button">Set${unseen(name)}</button>`,
    ),
    form(
      name,
      html`${marks.map((mark) => html`<button class="button" name="value" value="${mark}">${mark === 0 ? "Off" : signed(name, mark)}${unseen(name)}</button>`)}`,
    ),
  ]);
}

/** For screen readers: the name of the button's knob. */
const unseen = (name: KnobName): Html => html`<span class="unseen">: ${knobTable[name].title}</span>`;

/** A delay is never negative, so only a skew has a sign. */
const signed = (name: DialName, value: number): string =>
  value < 0 ? `−${-value}` : name === "clockSkewSeconds" && value > 0 ? `+${value}` : String(value);

function card({ settings }: KnobsView, name: KnobName, state: Html, forms: Html[]): Html {
  const { title, does, shopper, ends } = knobTable[name];
  const isTurned = turned(settings).some((one) => one === name);
  return html`
<section class="card knob${isTurned && " turned"}" id="${name}">
<div class="row apart"><h2>${title}</h2>${state}</div>
<p>${does}</p>
<dl>
<div><dt>The shopper sees</dt><dd>${shopper}</dd></div>
<div><dt>The record’s reason</dt>${ends.map(ending)}</div>
</dl>
<div class="forms">${forms}</div>
</section>`;
}

const ending = ({ when, reason }: Ending): Html =>
  html`<dd>${reason === null ? html`none` : html`<code>${reason}</code>`}${when !== undefined && html` <span class="quiet">${when}</span>`}</dd>`;

const form = (wish: Wish, controls: Html): Html =>
  html`<form method="post" action="/knobs"><input type="hidden" name="knob" value="${wish}">${controls}</form>`;
