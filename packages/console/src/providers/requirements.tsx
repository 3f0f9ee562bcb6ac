import type { ProfileReport } from "@latchkey/sdk/admin";
import { Pill, type Tone } from "../parts/text/pill.tsx";
import { Words } from "../parts/text/words.tsx";
import { forPeople } from "./for-people.ts";

type Check = ProfileReport["checks"][number];

const STATUS: Record<Check["status"], { tone: Tone; word: string }> = {
  met: { tone: "good", word: "Met" },
  not_met: { tone: "bad", word: "Not met" },
  unknown: { tone: "plain", word: "Not known yet" },
};

/** A line for each requirement. The lines appear one after the other. */
export const Requirements = ({ checks }: { checks: readonly Check[] }) => (
  <ol className="doctor">
    {checks.map((check, at) => (
      <li key={check.id} className="doctor-line" style={{ animationDelay: `${at * 90}ms` }}>
        <span>{check.id}</span>
        <div>
          <p>
            <strong>
              <Words of={check.requirement} />
            </strong>
          </p>
          <p className="quiet small">
            <Words of={forPeople(check.evidence)} />
          </p>
          {check.remedy && check.status !== "met" && (
            <p className="small">
              <Words of={forPeople(check.remedy)} />
            </p>
          )}
        </div>
        <span>
          <Pill tone={STATUS[check.status].tone}>{STATUS[check.status].word}</Pill>
        </span>
      </li>
    ))}
  </ol>
);
