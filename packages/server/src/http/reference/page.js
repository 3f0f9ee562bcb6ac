// Puts the reader's own values into the commands, copies them, and sends them. Values are kept in the page alone.
const tokens = document.querySelector("#tokens");
const said = tokens.querySelector("[role=status]");
const forms = [...document.querySelectorAll("form.try")];
/** The service's address, and the path of it that the browser asks below. */
const { base, below } = document.querySelector("main").dataset;

tokens.hidden = false;
for (const part of document.querySelectorAll(".try > [hidden]")) {
  // Nothing to fill in, nothing to open.
  part.hidden = part.matches("details") && !part.querySelector("input, textarea");
}
if (matchMedia("(max-width: 60rem)").matches) document.querySelector("nav > details").open = false;

/** Of each type the latest id that an answer has brought, or the first of a list: it stands where a path asks for one. */
const known = {};
const TYPES = {
  realms: "authentication-realm",
  profiles: "oidc-profile",
  deliveries: "integration-delivery",
  "application-keys": "application_key",
  "customer-authentication": "customer-authentication-settings",
};

function learnFrom({ data }) {
  if (Array.isArray(data)) for (const { type, id } of data) known[type] ??= id;
  else if (data?.id) known[data.type] = data.id;
  showAll();
}

/** What was deleted stands in no command any more. */
function forget(url) {
  for (const [type, id] of Object.entries(known))
    if (url.split("?")[0].endsWith(`/${id}`)) delete known[type];
  showAll();
}

/** `/v2/customers/{id}` asks for the id of a customer. */
function knownFor(path, name) {
  const [, segment] = new RegExp(`/([\\w-]+)/\\{${name}\\}`).exec(path) ?? [];
  return known[TYPES[segment] ?? segment?.replace(/s$/, "")];
}

const tokenOf = (name) => tokens.elements[name].value.trim();

/** The request that a form stands for. What is not filled in keeps its name in capital letters. */
function requestOf(form) {
  const { method, path, type } = form.dataset;
  const fields = [...form.querySelectorAll("[data-in]")];
  const filled = (where) => fields.filter((field) => field.dataset.in === where && field.value !== "");
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const given = filled("path").find((field) => field.name === name);
    return given ? encodeURIComponent(given.value.trim()) : (knownFor(path, name) ?? name.toUpperCase());
  });
  const query = filled("query").map(({ name, value }) => `${name}=${encodeURIComponent(value)}`);
  const headers = Object.fromEntries(filled("header").map(({ name, value }) => [name, value]));
  const shows = form.dataset.shows.split(" ");
  const customerToken = tokenOf("customer_token") || "CUSTOMER_TOKEN";
  if (shows.includes("client") && tokenOf("client_id"))
    headers.Authorization = `Basic ${btoa(`${tokenOf("client_id")}:${tokenOf("client_secret")}`)}`;
  if (shows.includes("asBearer")) headers.Authorization = `Bearer ${customerToken}`;
  if (shows.includes("bearer")) headers.Authorization = `Bearer ${tokenOf("access_token") || "ACCESS_TOKEN"}`;
  if (shows.includes("customer") && (tokenOf("customer_token") || !tokenOf("access_token")))
    headers["X-Customer-Token"] = customerToken;
  const [body] = filled("body");
  if (body) headers["Content-Type"] = type;
  const url = `${place}${query.length > 0 ? `?${query.join("&")}` : ""}`;
  return { url, init: { method, headers, ...(body && { body: body.value }) } };
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curlOf({ url, init: { method, headers, body } }) {
  const parts = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(base + url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ];
  return parts.join(" \\\n  ");
}

const show = (form) => {
  form.querySelector("pre code").textContent = curlOf(requestOf(form));
};
const showAll = () => forms.forEach(show);

async function send(form) {
  const output = form.querySelector("output");
  const { url, init } = requestOf(form);
  output.textContent = "Asking…";
  try {
    // Without `omit` a 401 with a Basic challenge makes the browser ask for a password.
    const answer = await fetch(below + url, { ...init, redirect: "manual", credentials: "omit" });
    const text = await answer.text();
    const isJson = /json/.test(answer.headers.get("content-type") ?? "");
    const body = isJson && text ? JSON.parse(text) : text;
    output.textContent = `${answer.status} ${answer.statusText}\n${isJson ? JSON.stringify(body, null, 2) : text}`;
    if (isJson) learnFrom(body);
    if (init.method === "DELETE" && answer.ok) forget(url);
  } catch (error) {
    output.textContent = `There was no answer: ${error.message}`;
  }
}

tokens.addEventListener("input", showAll);
async function getToken() {
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: tokenOf("client_id"),
    client_secret: tokenOf("client_secret"),
  });
  const answer = await fetch(`${below}/oauth/access_token`, { method: "POST", body, credentials: "omit" });
  const { access_token, error_description } = await answer.json();
  if (!access_token) return error_description ?? `The answer was ${answer.status}, without a token.`;
  tokens.elements.access_token.value = access_token;
  for (const url of ["/v2/store", "/v2/authentication-realms"]) {
    const found = await fetch(below + url, { headers: { Authorization: `Bearer ${access_token}` } });
    learnFrom(await found.json());
  }
  return "Every command below now has the token. IDs from answers are filled in, too.";
}

tokens.addEventListener("submit", async (event) => {
  event.preventDefault();
  said.textContent = "Asking…";
  said.textContent = await getToken().catch((error) => `There was no answer: ${error.message}`);
});

for (const form of forms) {
  form.addEventListener("input", () => show(form));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await send(form);
  });
  const copy = form.querySelector("[data-act=copy]");
  const name = copy.ariaLabel;
  copy.addEventListener("click", async () => {
    const isCopied = await navigator.clipboard.writeText(curlOf(requestOf(form))).then(
      () => true,
      () => false,
    );
    copy.textContent = isCopied ? "Copied" : "Not allowed";
    copy.ariaLabel = `${copy.textContent}. ${name}`;
    setTimeout(() => {
      copy.textContent = "Copy";
      copy.ariaLabel = name;
    }, 2000);
  });
}
