import type { SignOn } from "@latchkey/sdk/admin";
import { duration } from "../parts/text/instants.ts";
import { checkInWords } from "./check-words.ts";
import { type Step, timelineOf } from "./journey.ts";

/** The steps of both legs, from the click to the token. */
export function Timeline({ signOn, isOfMember = false }: { signOn: SignOn; isOfMember?: boolean }) {
  return (
    <ol className="timeline">
      {timelineOf(signOn, isOfMember).map((step) => (
        <StepLine key={step.title} step={step} />
      ))}
    </ol>
  );
}

const STATUS = { done: "done", failed: "failed here", unreached: "not reached" };

function StepLine({ step }: { step: Step }) {
  const { leg, title, status, ms, checks } = step;
  return (
    <li className={`step step-${leg} step-${status}`}>
      <span className="step-leg">Leg {leg}</span>
      <span className="step-line" aria-hidden="true">
        <span className="step-mark">
          <Mark status={status} />
        </span>
      </span>
      <div className="step-body">
        <p className="step-title">
          <span>
            {title}
            <span className={status === "failed" ? "" : "only-read-out"}>
              {status === "failed" ? ": " : ", "}
              {STATUS[status]}
            </span>
          </span>
          {ms !== undefined && <span className="step-ms">{duration(ms)}</span>}
        </p>
        {checks.length > 0 && <Checks checks={checks} />}
      </div>
    </li>
  );
}

function Mark({ status }: { status: Step["status"] }) {
  const path = { done: "m5 12 5 5 9-10", failed: "m6 6 12 12M18 6 6 18", unreached: "M7 12h10" }[status];
  return (
    <svg viewBox="0 0 24 24">
      <title>{STATUS[status]}</title>
      <path d={path} />
    </svg>
  );
}

function Checks({ checks }: { checks: SignOn["checks"] }) {
  return (
    <table className="checks">
      <thead>
        <tr>
          <th scope="col">Check</th>
          <th scope="col">Expected</th>
          <th scope="col">Found</th>
          <th scope="col">Result</th>
        </tr>
      </thead>
      <tbody>
        {checks.map(({ check, passed, expected, found }) => (
          <tr key={check} className={passed ? "" : "check-failed"}>
            <th scope="row">{checkInWords(check)}</th>
            <Side says="Expected" value={expected} />
            <Side says="Found" value={found} />
            <td>{passed ? "Passed" : "Failed"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Beside its heading on a wide screen; after its label on a narrow screen. Absent without a value. */
const Side = ({ says, value }: { says: string; value: string | undefined }) => (
  <td data-says={says} className={value === undefined ? "check-silent" : ""}>
    {value ?? "–"}
  </td>
);
