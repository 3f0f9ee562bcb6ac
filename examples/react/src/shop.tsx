import { type Notice, type Provider, type Session, useAnswer } from "./ask";

/** Chooses one of three pages by the path. A router is not needed for sign-on. */
export function Shop() {
  const { answer: session, failure } = useAnswer<Session>(`/api/session${location.search}`);
  const isSignedIn = session?.customer !== undefined;
  return (
    <>
      <header>
        <a className="brand" href="/">
          Hazel <i>&amp;</i> Ash
        </a>
        <a className="button plain" href={isSignedIn ? "/account" : "/sign-in"}>
          {isSignedIn ? "Your account" : "Sign in"}
        </a>
      </header>
      <main>
        {failure && <Message {...failure} />}
        {session && location.pathname === "/sign-in" && <SignIn {...session} />}
        {session && location.pathname === "/account" && <Account {...session} />}
        {location.pathname === "/" && <Home {...session} />}
      </main>
      <footer>An example for Latchkey, made with React and Vite.</footer>
    </>
  );
}

function Home({ customer }: Session) {
  return (
    <>
      <h1>A stool of ash, for the kitchen</h1>
      <p className="quiet">
        Three legs, so that it stands on any floor. Customers who sign in pay ten per cent less.
      </p>
      <p className="price">
        {customer && <s>€ 120</s>} {customer ? "€ 108" : "€ 120"}
      </p>
    </>
  );
}

/** A form, not a `fetch`, because the browser must go to the identity provider. */
function SignIn({ notice }: Session) {
  const { answer: providers, failure } = useAnswer<Provider[]>("/api/providers");
  return (
    <>
      <h1>Good to see you</h1>
      {notice && <Message {...notice} />}
      {failure && <Message {...failure} />}
      {providers && (
        <form className="card providers" method="post" action="/sign-in">
          {providers.map(({ id, name, isUp }) => (
            <div className="providers" key={id}>
              <button className="button" type="submit" name="provider" value={id} disabled={!isUp}>
                Continue with {name}
              </button>
              {!isUp && <p className="quiet">{name} does not answer right now. Please try again soon.</p>}
            </div>
          ))}
          {providers.length === 0 && <p>There is no way to sign in yet.</p>}
        </form>
      )}
    </>
  );
}

function Account({ customer }: Session) {
  if (!customer)
    return (
      <>
        <h1>You are not signed in</h1>
        <a className="button" href="/sign-in">
          Sign in now
        </a>
      </>
    );
  return (
    <>
      <h1>Hello, {customer.name}</h1>
      <section className="card">
        <h2>What we know about you</h2>
        <dl>
          <div>
            <dt>Name</dt>
            <dd>{customer.name}</dd>
          </div>
          <div>
            <dt>E-mail</dt>
            <dd>{customer.email}</dd>
          </div>
        </dl>
      </section>
      <form method="post" action="/sign-out">
        <button className="button plain" type="submit">
          Sign out
        </button>
      </form>
    </>
  );
}

function Message({ message, reference }: Notice) {
  return (
    <div className="notice" role="alert">
      <p>{message}</p>
      {reference && (
        <p>
          Reference <span className="reference">{reference}</span>
        </p>
      )}
    </div>
  );
}
