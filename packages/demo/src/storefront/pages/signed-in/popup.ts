import type { Explained } from "../frame/explain.ts";
import { mergeSteps, type Step } from "../wire/wire-log.ts";

/**
 * A sign-on in a popup. The popup completes the sign-on and reports the result over a channel, which reaches
 * only pages of this origin, works without `window.opener`, and carries nothing secret.
 */
type Report = { state: string; failure: Explained | undefined; steps: Step[] };

const CHANNEL = "alder:sign-on";
const WIDTH = 480;
const HEIGHT = 700;

/** Call it while a click is handled. Undefined if the browser blocks popups. */
export function openPopup(): Window | undefined {
  const left = Math.max(0, Math.round(screenX + (outerWidth - WIDTH) / 2));
  const top = Math.max(0, Math.round(screenY + (outerHeight - HEIGHT) / 2));
  const features = `popup,width=${WIDTH},height=${HEIGHT},left=${left},top=${top}`;
  return open("about:blank", "_blank", features) ?? undefined;
}

export function sendReport(report: Report): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(report);
  channel.close();
}

/**
 * Waits for the report. `on.closed` is only a guess: a provider's page can make an open popup look closed, so
 * a later report still counts.
 */
export function awaitReport(
  popup: Window,
  state: string,
  on: { report(failure: Explained | undefined): void; closed(): void },
): void {
  const channel = new BroadcastChannel(CHANNEL);
  let isReported = false;
  const watch = setInterval(() => {
    if (!popup.closed) return;
    clearInterval(watch);
    // The report may arrive after the window has closed.
    setTimeout(() => isReported || on.closed(), 500);
  }, 300);
  channel.addEventListener("message", ({ data: report }: MessageEvent<Report>) => {
    if (report.state !== state) return;
    isReported = true;
    clearInterval(watch);
    channel.close();
    mergeSteps(report.steps);
    on.report(report.failure);
  });
}
