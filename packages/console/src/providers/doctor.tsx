import type { ProfileReport } from "@latchkey/sdk/admin";
import { useState } from "react";
import { useAct } from "../parts/forms/use-act.ts";
import { Pill, type Tone } from "../parts/text/pill.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { Words } from "../parts/text/words.tsx";
import { useAdmin } from "../session/session.ts";

const STATUS: Record<ProfileReport["checks"][number]["status"], { tone: Tone; word: string }> = {
  met: { tone: "good", word: "Met" },
  not_met: { tone: "bad", word: "Not met" },
  unknown: { tone: "plain", word: "Not known yet" },
};

/** A difference of one or two seconds may come from the network. */
function clockInWords(offsetSeconds: number | null): string {
  if (offsetSeconds === null || Math.abs(offsetSeconds) <= 2) return "";
  return ` Its clock is ${Math.abs(offsetSeconds)} seconds ${offsetSeconds > 0 ? "ahead of" : "behind"} ours.`;
}

/** A line for each requirement. The lines appear one after the other. */
function Report({ report }: { report: ProfileReport }) {
  return (
    <div className="stack">
      <p className="quiet">
        {report.answer_ms === null
          ? "Its document could not be read."
          : `It answered in ${report.answer_ms} ms.`}
        {clockInWords(report.clock_offset_seconds)}
      </p>
      <ol className="doctor">
        {report.checks.map((check, at) => {
          const { tone, word } = STATUS[check.status];
          return (
            <li key={check.id} className="doctor-line" style={{ animationDelay: `${at * 90}ms` }}>
              <span>{check.id}</span>
              <div>
                <p>
                  <strong>
                    <Words of={check.requirement} />
                  </strong>
                </p>
                <p className="quiet small">
                  <Words of={check.evidence} />
                </p>
                {check.remedy && check.status !== "met" && (
                  <p className="small">
                    <Words of={check.remedy} />
                  </p>
                )}
              </div>
              <span>
                <Pill tone={tone}>{word}</Pill>
              </span>
            </li>
          );
        })}
      </ol>
      {report.warnings.map((warning) => (
        <p key={warning} className="hint hint-warn">
          <Words of={warning} />
        </p>
      ))}
    </div>
  );
}

/** Runs the nine checks on a button press. */
export function Doctor({ realmId, profileId }: { realmId: string; profileId: string }) {
  const admin = useAdmin();
  const [report, setReport] = useState<ProfileReport>();
  const { isBusy, error, run } = useAct(async () =>
    setReport((await admin.profiles(realmId).check(profileId)).data),
  );
  return (
    <div className="stack">
      <p>
        <button type="button" className="button button-plain" disabled={isBusy} onClick={() => run()}>
          {isBusy ? "Examining…" : report ? "Examine again" : "Examine now"}
        </button>
      </p>
      {error !== undefined && <Problem error={error} />}
      <div aria-live="polite">{report && <Report key={JSON.stringify(report)} report={report} />}</div>
    </div>
  );
}
