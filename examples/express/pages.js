/** Escapes text for HTML. */
const escaped = (text) => String(text).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

const page = (title, main, { isSignedIn = false } = {}) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} – Hazel &amp; Ash</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/style.css">
  </head>
  <body>
    <header>
      <a class="brand" href="/">Hazel <i>&amp;</i> Ash</a>
      <a class="button plain" href="${isSignedIn ? "/account" : "/sign-in"}">${isSignedIn ? "Your account" : "Sign in"}</a>
    </header>
    <main>${main}</main>
    <footer>An example for Latchkey, made with Express.</footer>
  </body>
</html>`;

const noticeOf = ({ message, reference }) => `
  <div class="notice" role="alert">
    <p>${escaped(message)}</p>
    ${reference ? `<p>Reference <span class="reference">${escaped(reference)}</span></p>` : ""}
  </div>`;

export const homePage = ({ isSignedIn }) =>
  page(
    "A stool",
    `<h1>A stool of ash, for the kitchen</h1>
    <p class="quiet">Three legs, so that it stands on any floor. Customers who sign in pay ten per cent less.</p>
    <p class="price">${isSignedIn ? "<s>€ 120</s> € 108" : "€ 120"}</p>`,
    { isSignedIn },
  );

export const signInPage = ({ providers, notice }) =>
  page(
    "Sign in",
    `<h1>Good to see you</h1>
    ${notice ? noticeOf(notice) : ""}
    <form class="card providers" method="post" action="/sign-in">
      ${providers.map(providerButton).join("")}
      ${providers.length === 0 ? "<p>There is no way to sign in yet.</p>" : ""}
    </form>`,
  );

const providerButton = ({ id, name, isUp }) =>
  isUp
    ? `<button class="button" name="provider" value="${escaped(id)}">Continue with ${escaped(name)}</button>`
    : `<button class="button" disabled>Continue with ${escaped(name)}</button>
       <p class="quiet">${escaped(name)} does not answer right now. Please try again soon.</p>`;

export const accountPage = ({ customer }) =>
  page(
    "Your account",
    `<h1>Hello, ${escaped(customer.name)}</h1>
    <section class="card">
      <h2>What we know about you</h2>
      <dl>
        <div><dt>Name</dt><dd>${escaped(customer.name)}</dd></div>
        <div><dt>E-mail</dt><dd>${escaped(customer.email)}</dd></div>
      </dl>
    </section>
    <form method="post" action="/sign-out"><button class="button plain">Sign out</button></form>`,
    { isSignedIn: true },
  );

/** An `ApiError` of the SDK has a message for shoppers. Messages of other errors are only for the log. */
export const failurePage = ({ name, message, requestId }) =>
  page(
    "Not now",
    `<h1>This does not work right now</h1>
    ${noticeOf({ message: name === "ApiError" ? message : "Please try again in a moment.", reference: requestId })}
    <p><a href="/">Back to the shop</a></p>`,
  );
