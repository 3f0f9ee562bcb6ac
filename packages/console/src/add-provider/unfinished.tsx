import { Link } from "wouter";
import { type Provider, useProviders } from "../parts/profiles.ts";
import { addressOf, isRegistered } from "./steps.ts";

/** Providers whose steps were begun and not finished, so that a person does not begin the same one twice. */
export function Unfinished() {
  const { data = [] } = useProviders();
  const begun = data.filter((provider) => !isRegistered(provider));
  if (begun.length === 0) return null;
  return (
    <div className="stack-tight">
      <strong>Started, not finished</strong>
      <ul className="plain stack-tight" aria-label="Not finished">
        {begun.map((provider) => (
          <li key={provider.id}>
            <Link href={continueAt(provider)}>{provider.name}</Link>{" "}
            <span className="quiet small">
              {provider.discovery_url} · {provider.realm.name}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const continueAt = ({ id, realm }: Provider): string => addressOf({ realm: realm.id, profile: id });
