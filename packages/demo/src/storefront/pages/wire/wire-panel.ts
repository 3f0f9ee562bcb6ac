import { element, link, part } from "../frame/elements.ts";
import { shopConfig } from "../frame/shop-config.ts";
import { clearSteps, onSteps, type Step, steps } from "./wire-log.ts";

const OPEN = "alder:wire-open";
/** Set after /config.json has been read. */
let consoleUrl: string | undefined;

/** The panel "On the wire". It stays open or closed from page to page. */
export function mountWirePanel(): void {
  const toggle = part("wire-toggle");
  toggle.addEventListener("click", () => setOpen(toggle.getAttribute("aria-expanded") !== "true"));
  part("wire").addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    setOpen(false);
    toggle.focus();
  });
  part("wire-clear").addEventListener("click", () => {
    clearSteps();
    toggle.focus();
  });
  void shopConfig().then(
    ({ apiUrl, knobsUrl }) => {
      consoleUrl = `${apiUrl}/console`;
      draw();
      if (knobsUrl === undefined) return;
      const knobs = link("Turn the provider’s knobs", "button button-plain button-small", knobsUrl);
      knobs.target = "_blank";
      knobs.rel = "noopener";
      part("wire-tools").append(knobs);
    },
    // Without the configuration the panel has no links. The page itself reports the failure.
    () => {},
  );
  onSteps(draw);
  draw();
  setOpen(sessionStorage.getItem(OPEN) === "yes");
}

function setOpen(isOpen: boolean): void {
  part("wire-toggle").setAttribute("aria-expanded", String(isOpen));
  part("wire-body").hidden = !isOpen;
  document.documentElement.toggleAttribute("data-wire-open", isOpen);
  sessionStorage.setItem(OPEN, isOpen ? "yes" : "no");
  if (isOpen) showLast();
}

function draw(): void {
  const all = steps();
  const count = part("wire-count");
  count.textContent = all.length === 1 ? "1 step" : `${all.length} steps`;
  count.hidden = all.length === 0;
  part("wire-empty").hidden = all.length > 0;
  part("wire-clear").hidden = all.length === 0;
  part("wire-steps").replaceChildren(
    ...all.map((step, index) => drawStep(step, step.page !== all[index - 1]?.page)),
  );
  showLast();
}

const showLast = (): void => {
  const body = part("wire-body");
  body.scrollTop = body.scrollHeight;
};

function drawStep(step: Step, isFirstOfPage: boolean): HTMLElement {
  return element(
    "li",
    { class: "wire-step", "data-leg": String(step.leg ?? "none") },
    isFirstOfPage ? element("p", { class: "wire-page" }, `On ${step.page}`) : undefined,
    element(
      "p",
      { class: "wire-title" },
      element(
        "span",
        { class: `wire-leg wire-leg-${step.leg ?? "none"}` },
        step.leg ? `Leg ${step.leg}` : "Call",
      ),
      " ",
      step.title,
    ),
    element(
      "p",
      { class: "wire-line" },
      element("code", {}, step.line),
      step.status === undefined ? undefined : element("span", { class: "wire-status" }, step.status),
    ),
    element("p", { class: "wire-why" }, step.why),
    step.values.length > 0 ? drawValues(step) : undefined,
    step.find !== undefined && consoleUrl !== undefined ? recordLink(consoleUrl, step.find) : undefined,
  );
}

/** Opens in a new tab, because the console needs a member's sign-in. */
function recordLink(url: string, find: string): HTMLElement {
  const record = link(
    "Open the record in the console",
    "wire-record",
    `${url}/find?q=${encodeURIComponent(find)}`,
  );
  record.target = "_blank";
  record.rel = "noopener";
  return element("p", {}, record);
}

const drawValues = ({ values, title }: Step): HTMLElement =>
  element(
    "details",
    { class: "wire-values" },
    element(
      "summary",
      { "aria-label": `${parametersOf(values.length)}, and what each is for: ${title}` },
      `${parametersOf(values.length)}, and what each is for`,
    ),
    element(
      "dl",
      {},
      ...values.map(({ name, value, why }) =>
        element(
          "div",
          {},
          element("dt", {}, element("code", {}, name)),
          element("dd", {}, element("code", {}, value), element("span", {}, why)),
        ),
      ),
    ),
  );

const parametersOf = (count: number): string => (count === 1 ? "1 parameter" : `${count} parameters`);
