import { ApiError, createStorefront } from "@latchkey/sdk";
import { cookies } from "next/headers";
import { NextResponse } from "next/server";

/** Everything here runs on the server. No name begins with NEXT_PUBLIC_: none of it reaches a page. */
const { LATCHKEY_URL = "", LATCHKEY_CLIENT_ID = "", SHOP_URL = "http://localhost:3000" } = process.env;
const { origin, protocol } = new URL(SHOP_URL);
const connection = { baseUrl: LATCHKEY_URL, clientId: LATCHKEY_CLIENT_ID };

export const redirectUri = `${origin}/signed-in`;
export const shop = createStorefront(connection);

const isHttps = protocol === "https:";
// A browser takes a `__Host-` cookie only from this very host, over https: another subdomain cannot plant one.
const nameOf = (name: string) => (isHttps ? "__Host-" : "") + name.replace(":", "-");
const attributes = { httpOnly: true, sameSite: "lax", secure: isHttps, path: "/" } as const;
const SESSION = nameOf("customer");
const NOTICE = nameOf("notice");
const PROMPT = nameOf("prompt");

/** Each open sign-on is a cookie of the browser that began it. An answer that is brought to another browser finds none there. */
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

/** Who is signed in. The service checks the token: with one that has ended, nobody is. */
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

/** In a cookie rather than in the address: nobody can send a shopper a link with a message of their own. It lives for a minute. */
export async function leaveNotice({ code, message, reference }: ApiError) {
  const jar = await cookies();
  const notice = new URLSearchParams({ message, ...(reference && { reference }) });
  jar.set(NOTICE, String(notice), { ...attributes, maxAge: 60 });
  // The provider remembers who was there, and would send the same person into the same refusal: next time it is to ask.
  if (code === "access_denied" || code === "sign_on_refused")
    jar.set(PROMPT, "login", { ...attributes, maxAge: 900 });
}

export async function findNotice(): Promise<Notice | undefined> {
  const notice = new URLSearchParams((await cookies()).get(NOTICE)?.value);
  const message = notice.get("message");
  // On localhost other programs may have a cookie of this name: theirs has no message.
  return message === null ? undefined : { message, reference: notice.get("reference") ?? undefined };
}

/** 303: whatever was sent, the next request is a GET. The address comes from the configuration, never from a header. */
export const goTo = (path: string) => NextResponse.redirect(new URL(path, origin), 303);

/** A browser names the page that sends a POST. Another site's form is refused, whatever cookies it comes with. */
export const isFromHere = (request: Request) => request.headers.get("Origin") === origin;

export const refuse = () => new NextResponse("This form was sent from another site.", { status: 403 });
