import { CLIENT_ID, LATCHKEY_URL } from "./config.js";
import { createStorefront } from "./latchkey.js";

const shop = createStorefront({ baseUrl: LATCHKEY_URL, clientId: CLIENT_ID });
const redirectUri = location.origin + location.pathname;
const part = (id) => document.getElementById(id);

/**
 * Keeps the token for this tab until it closes. Every script of the site can read it, so the page loads no
 * other scripts.
 */
const kept = {
  find: () => JSON.parse(sessionStorage.getItem("customer")),
  keep: (token) => sessionStorage.setItem("customer", JSON.stringify(token)),
  drop: () => sessionStorage.removeItem("customer"),
};

if (mayKeep()) {
  await comeBack();
  await show();
} else {
  tell({
    message:
      "Your browser does not let this shop store data, which sign-in needs. Allow cookies and site data for it, then load the page again.",
  });
}

/**
 * Reading `localStorage` throws if the browser forbids storage. The SDK needs it for the state of an open
 * sign-on.
 */
function mayKeep() {
  try {
    return Boolean(sessionStorage && localStorage);
  } catch {
    return false;
  }
}

/** If the URL is the answer to a sign-on, removes the answer from the address bar and redeems its code. */
async function comeBack() {
  const answer = location.href;
  if (!shop.isSignOnAnswer(answer)) return;
  history.replaceState(null, "", redirectUri);
  try {
    // Refuses an answer with a `state` of another browser.
    kept.keep(await shop.completeSignOn(answer));
    sessionStorage.removeItem("prompt");
  } catch (error) {
    // The provider still has a session and would send the same person again, so the next sign-on uses `prompt=login`.
    if (error.code === "access_denied" || error.code === "sign_on_refused")
      sessionStorage.setItem("prompt", "login");
    // Back or reload: this sign-on is finished, and the shopper is signed in.
    const isOver = error.code === "callback_replay" || error.code === "state_unknown";
    if (!isOver || !kept.find()) tell(error);
  }
}

async function show() {
  const customer = await findCustomer();
  if (!customer) return showProviders();
  part("customer").hidden = false;
  part("title").textContent = `Hello, ${customer.name}`;
  part("price").textContent = "€ 108, instead of € 120";
  part("name").textContent = customer.name;
  part("email").textContent = customer.email;
}

/** The service checks the token; a token that no longer works is deleted. */
async function findCustomer() {
  const token = kept.find();
  if (!token) return undefined;
  try {
    return await shop.customer(token).get();
  } catch (error) {
    if (error.code === "customer_token_invalid") kept.drop();
    else tell(error);
    return undefined;
  }
}

async function showProviders() {
  try {
    const providers = await shop.listProviders();
    part("providers").replaceChildren(...providers.flatMap(elementsOf));
    part("no-providers").hidden = providers.length > 0;
    part("stranger").hidden = false;
  } catch (error) {
    tell(error);
  }
}

function elementsOf(provider) {
  const button = document.createElement("button");
  button.className = "button";
  button.textContent = `Continue with ${provider.name}`;
  button.disabled = !provider.isUp;
  button.onclick = () => leaveFor(provider).catch(tell);
  if (provider.isUp) return [button];
  const note = document.createElement("p");
  note.className = "quiet";
  note.textContent = `${provider.name} does not answer right now. Please try again soon.`;
  return [button, note];
}

async function leaveFor(provider) {
  const prompt = sessionStorage.getItem("prompt") ?? undefined;
  const { url } = await shop.beginSignOn(provider, { redirectUri, scope: "openid email profile", prompt });
  location.assign(url);
}

part("sign-out").onclick = async ({ currentTarget }) => {
  currentTarget.disabled = true;
  const token = kept.find();
  kept.drop();
  try {
    await shop.customer(token).signOut();
  } catch (error) {
    // The shop signs out anyway. The token works until it expires.
    console.error("The token could not be revoked:", error.message);
  }
  location.assign(redirectUri);
};

function tell({ message, reference, requestId }) {
  const found = reference ?? requestId;
  part("notice").hidden = false;
  part("message").textContent = message;
  part("reference").hidden = !found;
  part("reference").lastElementChild.textContent = found ?? "";
}
