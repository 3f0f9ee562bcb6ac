import { RECIPES } from "virtual:recipes";
import type { Profile, ProfileLinks } from "@latchkey/sdk/admin";
import type { ReactNode } from "react";
import { Copyable } from "../parts/forms/copy.tsx";
import { Words } from "../parts/text/words.tsx";
import { SetupLinks } from "../providers/setup-links.tsx";
import { stepsAt } from "./recipe-steps.ts";

type RegisterProps = {
  realmId: string;
  profile: Profile;
  links: ProfileLinks;
  recipe: string;
  onNext: () => void;
};

/** The second step: the values to register at the provider, or a link that shows them to its administrator. */
export function Register({ realmId, profile, links, recipe, onNext }: RegisterProps) {
  const known = RECIPES[recipe];
  return (
    <div className="form">
      <h2>Register Latchkey at the provider</h2>
      <p className="quiet">
        Create a client with these values there. Some products call it an application or an app registration.
      </p>
      <dl className="values">
        <Value name="Redirect URI" hint="Exactly as shown, without a wildcard.">
          <Copyable text={links["callback-endpoint"]} what="redirect URI" />
        </Value>
        <Value
          name="Back-channel logout URL (optional)"
          hint="Ends the session in the shop when it ends there."
        >
          <Copyable text={links["backchannel-logout-endpoint"]} what="back-channel logout URL" />
        </Value>
        <Value name="Scopes">
          <Copyable text="openid email profile" what="scopes" />
        </Value>
        <Value name="Client type">
          Confidential web application, <code>client_secret_basic</code>, Authorization Code Flow
        </Value>
      </dl>
      {known && (
        <section className="part" aria-labelledby="recipe">
          <h3 id="recipe">The steps in {known.name}</h3>
          <ol className="walk">
            {stepsAt(known.steps, links).map((step) => (
              <li key={step}>
                <Words of={step} />
              </li>
            ))}
          </ol>
        </section>
      )}
      <section className="part" aria-labelledby="setup-links">
        <div className="stack-tight">
          <h3 id="setup-links">Does another person run the provider?</h3>
          <p className="quiet">
            Send a set-up link. Its page needs no account: it shows these values, and which requirements are
            met.
          </p>
        </div>
        <SetupLinks realmId={realmId} profileId={profile.id} />
      </section>
      <div className="form-actions">
        <button type="button" className="button" onClick={onNext}>
          I’ve registered it
        </button>
      </div>
    </div>
  );
}

type ValueProps = { name: string; hint?: string; children: ReactNode };

const Value = ({ name, hint, children }: ValueProps) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {children}
      {hint && <small>{hint}</small>}
    </dd>
  </div>
);
