import type { SignOn } from "@latchkey/sdk/admin";
import { duration } from "../parts/text/instants.ts";
import { checkInWords } from "./check-words.ts";
import { type Step, timelineOf } from "./journey.ts";

/** The steps of both legs, from the click to the token, below a line that explains the legs. */
export function Timeline({ signOn, isOfMember = false }: { signOn: SignOn; isOfMember?: boolean }) {
  const steps = timelineOf(signOn, isOfMember);
  const begins = isOfMember || signOn.test ? "console" : "storefront";
  return (
    <div className="stack-tight">
      <p className="quiet small">
        {steps.some(({ leg }) => leg === 1) && `Leg 1 is between the ${begins} and Latchkey. `}
        Leg 2 is between Latchkey and the identity provider.
      </p>
      <ol className="timeline">
        {steps.map((step) => (
          <StepLine key={step.title} step={step} />
        ))}
      </ol>
    </div>
  );
}

const STATUS = { done: "done", failed: "failed", unreached: "not reached" };

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
            {status !== "failed" && <span className="only-read-out">, {STATUS[status]}</span>}
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
