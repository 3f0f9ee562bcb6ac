import { Link } from "wouter";
import { useProviders } from "../parts/profiles.ts";
import { ProviderMark } from "../providers/provider-mark.tsx";
import { continueAt, isHalfMade } from "./steps.ts";

/** Providers whose steps were begun and not finished, so that a person does not begin the same one twice. */
export function Unfinished() {
  const { data = [] } = useProviders();
  const begun = data.filter(isHalfMade);
  if (begun.length === 0) return null;
  return (
    <div className="stack-tight">
      <h2>Started, not finished</h2>
      <ul className="list" aria-label="Not finished">
        {begun.map((provider) => (
          <li key={provider.id}>
            <Link className="item" href={continueAt(provider)}>
              <span className="item-words marked">
                <ProviderMark of={provider} />
                <span>
                  <span className="item-name">{provider.name}</span>
                  <br />
                  <span className="quiet small">
                    {provider.discovery_url} · {provider.realm.name}
                  </span>
                </span>
              </span>
              <span className="item-side">
                <span className="continue">Continue setup</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
