import { newCookieJar } from "./honest-idp.ts";

const MOST_STEPS = 20;

/** Follows redirects, chooses a person on the provider's page, and ends at an address with this beginning. */
export async function walkAs(person: string, from: string, end: string): Promise<string> {
  const jar = newCookieJar();
  const ask = async (url: string, init: RequestInit = {}) => {
    const answer = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: { ...jar.headersFor(url), ...init.headers },
    });
    jar.keep(url, answer);
    return answer;
  };
  let at = from;
  for (let steps = 0; !at.startsWith(end); steps++) {
    if (steps === MOST_STEPS) throw new Error(`${at} is still not ${end}`);
    const shown = await ask(at);
    const headers = { origin: new URL(at).origin, "sec-fetch-site": "same-origin" };
    const answer =
      shown.status === 200
        ? await ask(at, { method: "POST", headers, body: new URLSearchParams({ person }) })
        : shown;
    const next = answer.headers.get("location");
    if (next === null) throw new Error(`${at} answers ${answer.status}`);
    at = new URL(next, at).href;
  }
  return at;
}
