import { ApiError, type CustomerAccount, type Session } from "@latchkey/sdk";
import { button, element, part } from "../frame/elements.ts";
import { explain } from "../frame/explain.ts";
import { showFailure } from "../frame/message.ts";
import { hasEnded } from "../frame/visitor.ts";

/** Lists the customer's sessions, newest first. Calls `tellHow` with the sign-in method of this session. */
export async function mountSessions(account: CustomerAccount, tellHow: (how: string) => void): Promise<void> {
  try {
    const sessions = await account.sessions();
    const current = sessions.find((session) => session.current);
    tellHow(current ? howOf(current) : "Not known");
    draw(account, sessions);
  } catch (failure) {
    tellHow("Not known");
    refuse(failure);
  }
}

function draw(account: CustomerAccount, sessions: readonly Session[]): void {
  const newestFirst = sessions.toSorted((one, other) => begunAt(other) - begunAt(one));
  part("sessions").replaceChildren(...newestFirst.map((session) => drawSession(account, session)));
  say(sessions.length === 1 ? "In this browser only." : `In ${sessions.length} places.`);
}

function drawSession(account: CustomerAccount, session: Session): HTMLElement {
  const where = whereOf(session);
  const since = moment(begunAt(session));
  const words = element(
    "div",
    {},
    element(
      "p",
      { class: "session-how" },
      where,
      " ",
      session.current ? element("span", { class: "badge badge-good" }, "This session") : undefined,
    ),
    element("p", { class: "quiet" }, howAndPlaceOf(session)),
    element("p", { class: "quiet" }, `Since ${since}. Ends on ${moment(session.expires * 1000)}.`),
  );
  if (session.current) return element("li", { class: "session", "aria-current": "true" }, words);
  const end = button(
    "Sign out",
    "button button-plain button-small",
    () => void signOut(account, session, end),
  );
  end.setAttribute("aria-label", `Sign out the session with ${where} since ${since}`);
  return element("li", { class: "session" }, words, end);
}

async function signOut(account: CustomerAccount, session: Session, end: HTMLButtonElement): Promise<void> {
  end.disabled = true;
  try {
    await account.signOut(session.id).catch(ifNotGone);
    draw(account, await account.sessions());
    say("That session is signed out.");
    // The focused button was removed.
    part("sessions-title").focus();
  } catch (failure) {
    end.disabled = false;
    end.focus();
    refuse(failure);
  }
}

/** Ignores the error of a session that has ended meanwhile. */
function ifNotGone(failure: unknown): void {
  if (!(failure instanceof ApiError && failure.code === "customer_token_not_found")) throw failure;
}

/** If this session itself has ended, reloads the page, which then says so. */
function refuse(failure: unknown): void {
  if (hasEnded(failure)) location.reload();
  else showFailure(explain(failure));
}

const say = (text: string): void => {
  part("sessions-note").textContent = text;
};

const howOf = ({ profile_name, authentication_mechanism }: Session): string =>
  profile_name ?? (authentication_mechanism === "password" ? "E-mail and password" : "Another provider");

/** Browser and operating system, in words. */
const whereOf = ({ browser, operating_system }: Session): string =>
  browser === null ? "An unknown browser" : [browser, operating_system].filter(Boolean).join(" on ");

const howAndPlaceOf = (session: Session): string => {
  const how = `Signed in with ${howOf(session)}`;
  if (session.network === null) return `${how}.`;
  return /^(127\.|0:0:0:0::)/.test(session.network)
    ? `${how}, on this machine.`
    : `${how}, from the network ${session.network}.`;
};

const begunAt = (session: Session): number => Date.parse(session.meta.timestamps.created_at);

const moment = (ms: number): string =>
  new Date(ms).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
