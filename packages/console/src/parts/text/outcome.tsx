import type { SignOn } from "@latchkey/sdk/admin";
import { Link } from "wouter";
import { Instant } from "./instant.tsx";
import { Pill, type Tone } from "./pill.tsx";
import { Words } from "./words.tsx";

const OUTCOMES: Record<SignOn["outcome"], { tone: Tone; word: string }> = {
  exchanged: { tone: "good", word: "Signed in" },
  code_issued: { tone: "warn", word: "Code not redeemed yet" },
  expired: { tone: "warn", word: "Code not redeemed" },
  failed: { tone: "bad", word: "Failed" },
  logout_refused: { tone: "warn", word: "Sign-out refused" },
  tested: { tone: "good", word: "Test passed" },
};

export function Outcome({ of }: { of: SignOn["outcome"] }) {
  const { tone, word } = OUTCOMES[of];
  return <Pill tone={tone}>{word}</Pill>;
}

export function SignOnItem({ signOn }: { signOn: SignOn }) {
  return (
    <Link className="item" href={`/sign-ons/${signOn.id}`}>
      <span className="item-words">
        <span className="item-name mono">{signOn.reference}</span>{" "}
        <span className="quiet">{signOn.means ? <Words of={signOn.means} /> : signOn.profile_name}</span>
      </span>
      <span className="item-side">
        <Outcome of={signOn.outcome} />
        <Instant at={signOn.meta.timestamps.started_at} />
      </span>
    </Link>
  );
}
