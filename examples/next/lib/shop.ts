import { ApiError, createStorefront } from "@latchkey/sdk";
import { cookies } from "next/headers";
import { NextResponse } from "next/server";

/** This file runs on the server only. No variable has the prefix NEXT_PUBLIC_, so none reaches a page. */
const { LATCHKEY_URL = "", LATCHKEY_CLIENT_ID = "", SHOP_URL = "http://localhost:3000" } = process.env;
const { origin, protocol } = new URL(SHOP_URL);
const connection = { baseUrl: LATCHKEY_URL, clientId: LATCHKEY_CLIENT_ID };

export const redirectUri = `${origin}/signed-in`;
export const shop = createStorefront(connection);

const isHttps = protocol === "https:";
// Browsers accept a `__Host-` cookie only from this host over https, so another subdomain cannot set it.
const nameOf = (name: string) => (isHttps ? "__Host-" : "") + name.replace(":", "-");
const attributes = { httpOnly: true, sameSite: "lax", secure: isHttps, path: "/" } as const;
const SESSION = nameOf("customer");
const NOTICE = nameOf("notice");
const PROMPT = nameOf("prompt");

/**
 * Stores each open sign-on in a cookie of the browser that began it. In another browser the answer is
 * refused.
 */
export async function storefrontOfBrowser() {
  const jar = await cookies();
  return createStorefront({
    ...connection,
    storage: {
      getItem: (name) => jar.get(nameOf(name))?.value ?? null,
      setItem: (name, value) => jar.set(nameOf(name), value, { ...attributes, maxAge: 900 }),
      removeItem: (name) => jar.delete({ name: nameOf(name), ...attributes }),
    },
  });
}

export const findToken = async () => (await cookies()).get(SESSION)?.value;

export async function keepToken({ token, expiresAt }: { token: string; expiresAt: number }) {
  const jar = await cookies();
  jar.set(SESSION, token, { ...attributes, expires: expiresAt });
  for (const name of [NOTICE, PROMPT]) jar.delete({ name, ...attributes });
}

export const dropToken = async () => (await cookies()).delete({ name: SESSION, ...attributes });

/** The signed-in customer; undefined if there is no token, or the service refuses it. */
export async function findCustomer() {
  const token = await findToken();
  if (!token) return undefined;
  try {
    return await shop.customer(token).get();
  } catch (error) {
    if (error instanceof ApiError && error.code === "customer_token_invalid") return undefined;
    throw error;
  }
}

export const findPrompt = async () => (await cookies()).get(PROMPT)?.value;

type Notice = { message: string; reference?: string | undefined };

/**
 * Puts the notice into a cookie for a minute, not into the URL, so that a link cannot show a shopper a
 * message of its author.
 */
export async function leaveNotice({ code, message, reference }: ApiError) {
  const jar = await cookies();
  const notice = new URLSearchParams({ message, ...(reference && { reference }) });
  jar.set(NOTICE, String(notice), { ...attributes, maxAge: 60 });
  // The provider still has a session and would send the same person again, so the next sign-on uses `prompt=login`.
  if (code === "access_denied" || code === "sign_on_refused")
    jar.set(PROMPT, "login", { ...attributes, maxAge: 900 });
}

export async function findNotice(): Promise<Notice | undefined> {
  const notice = new URLSearchParams((await cookies()).get(NOTICE)?.value);
  const message = notice.get("message");
  // On localhost another program may have set a cookie of this name, which has no message.
  return message === null ? undefined : { message, reference: notice.get("reference") ?? undefined };
}

/** 303 makes the next request a GET. The origin comes from the configuration, never from a header. */
export const goTo = (path: string) => NextResponse.redirect(new URL(path, origin), 303);

/**
 * `Origin` names the site of the page that sends a POST. Refuse forms of other sites, even with valid
 * cookies.
 */
export const isFromHere = (request: Request) => request.headers.get("Origin") === origin;

export const refuse = () => new NextResponse("This form was sent from another site.", { status: 403 });
