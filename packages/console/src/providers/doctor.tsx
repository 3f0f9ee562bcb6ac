import type { ProfileReport } from "@latchkey/sdk/admin";
import { useState } from "react";
import { useAct } from "../parts/forms/use-act.ts";
import { Problem } from "../parts/text/problem.tsx";
import { Words } from "../parts/text/words.tsx";
import { useAdmin } from "../session/session.ts";
import { forPeople } from "./for-people.ts";
import { Requirements } from "./requirements.tsx";

/** A difference of one or two seconds may come from the network. */
function clockInWords(offsetSeconds: number | null): string {
  if (offsetSeconds === null || Math.abs(offsetSeconds) <= 2) return "";
  return ` The provider’s clock is ${Math.abs(offsetSeconds)} seconds ${offsetSeconds > 0 ? "ahead of" : "behind"} Latchkey’s.`;
}

function Report({ report }: { report: ProfileReport }) {
  return (
    <div className="stack">
      <p className="quiet">
        {report.answer_ms === null
          ? "The provider’s document could not be read."
          : `The provider answered in ${report.answer_ms} ms.`}
        {clockInWords(report.clock_offset_seconds)}
      </p>
      <Requirements checks={report.checks} />
      {report.warnings.map((warning) => (
        <p key={warning} className="hint hint-warn">
          <Words of={forPeople(warning)} />
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
          {isBusy ? "Running checks…" : report ? "Run checks again" : "Run checks"}
        </button>
      </p>
      {error !== undefined && <Problem error={error} />}
      <div aria-live="polite">{report && <Report key={JSON.stringify(report)} report={report} />}</div>
    </div>
  );
}
