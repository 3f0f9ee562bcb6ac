import type { DeliveryAttempt } from "@latchkey/sdk/admin";
import { Instant } from "../parts/text/instant.tsx";
import { duration } from "../parts/text/instants.ts";

/** One attempt, with the receiver's answer. */
export function Attempt({ attempt }: { attempt: DeliveryAttempt }) {
  const { at, status, reason, milliseconds, answer } = attempt;
  return (
    <div className="hint">
      <p>
        {status === null ? "No answer" : `Answered ${status}`}
        {reason && reason !== "status" && ` (${reason.replaceAll("_", " ")})`} after {duration(milliseconds)},{" "}
        <Instant at={at} isExact />
      </p>
      {answer && <pre className="answer">{answer}</pre>}
    </div>
  );
}
