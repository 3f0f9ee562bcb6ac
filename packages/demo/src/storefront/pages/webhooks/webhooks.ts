import type { WebhookEvent } from "@latchkey/sdk/webhooks";
import type { Received } from "../../webhook-receiver.ts";
import { element, part } from "../frame/elements.ts";
import { mountFrame } from "../frame/frame.ts";
import { visitor } from "../frame/visitor.ts";

mountFrame(visitor());

const SHOWN = 50;
const list = part("hooks-list");
let last: Pick<Received, "number" | "at"> = { number: 0, at: "" };

const live = new EventSource("/webhooks/live");
live.addEventListener("open", () => showState("Listening", true));
live.addEventListener("error", () => showState("Not connected, trying again…", false));
live.addEventListener("message", ({ data }) => {
  const received: Received = JSON.parse(data);
  // After a reconnection the kept messages come again. A restarted shop counts from 1 again.
  if (received.number <= last.number && received.at <= last.at) return;
  last = received;
  part("hooks-empty").hidden = true;
  list.hidden = false;
  list.prepend(toItem(received));
  while (list.children.length > SHOWN) list.lastElementChild?.remove();
});

function showState(text: string, isGood: boolean): void {
  part("hooks-state").textContent = text;
  part("hooks-state").classList.toggle("badge-good", isGood);
}

function toItem(received: Received): HTMLElement {
  const time = element(
    "time",
    { datetime: received.at, class: "quiet" },
    new Date(received.at).toLocaleTimeString(),
  );
  if (received.body === undefined)
    return element(
      "li",
      { class: "card hook hook-refused" },
      element(
        "p",
        { class: "hook-line" },
        element("strong", {}, "Refused"),
        badge("not verified", "badge-bad"),
        time,
      ),
      element("p", { class: "quiet" }, `${received.refused}. Its content is not shown.`),
    );
  const event: WebhookEvent = JSON.parse(received.body);
  return element(
    "li",
    { class: "card hook" },
    element(
      "p",
      { class: "hook-line" },
      element("strong", { class: "hook-type" }, event.type),
      badge("verified", "badge-good"),
      received.again ? badge("repeated", "") : undefined,
      time,
    ),
    element("p", {}, describe(event)),
    element(
      "details",
      {},
      element("summary", {}, "The message"),
      element("pre", { tabindex: "0" }, JSON.stringify(event, null, 2)),
    ),
  );
}

const badge = (text: string, look: string): HTMLElement => element("span", { class: `badge ${look}` }, text);

/** Describes an event in a sentence. */
function describe({ data, ...event }: WebhookEvent): string {
  const number = "sequence" in event ? `Event ${event.sequence} of the log.` : "Not in the event log.";
  if (typeof data === "string") return `${number} Its content was erased.`;
  const { name } = data.resource as { name?: unknown };
  const actor = data.actor.type.replaceAll("_", " ");
  const who = data.actor.name === null ? `the ${actor}` : `the ${actor} “${data.actor.name}”`;
  return `${number} ${typeof name === "string" ? `About ${name}, by` : "By"} ${who}.`;
}
