import type { Explained } from "../frame/explain.ts";
import { mergeSteps, type Step } from "../wire/wire-log.ts";

/**
 * Signing in in a popup. The popup ends the sign-on itself and says how it went; a channel reaches only pages of this
 * origin, works when the provider's pages have cut the tie between the windows, and carries nothing secret.
 */
type Report = { state: string; failure: Explained | undefined; steps: Step[] };

const CHANNEL = "alder:sign-on";
const WIDTH = 480;
const HEIGHT = 700;

/** Must be called while a click is being handled; undefined where the browser does not allow popups. */
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
 * Waits for the report. `onClosed` is only a guess: a provider's page can make the popup look closed while it is open, so
 * the report still counts when it comes later.
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
    // The report may be on its way while the window goes.
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
