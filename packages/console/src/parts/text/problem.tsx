import { ApiError } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Copy } from "../forms/copy.tsx";
import { Words } from "./words.tsx";

/**
 * Shows an error, its remedy, and the reference (for sign-on records) or request id (for the log) that finds
 * it. One press of "Try again" reads everything again that failed: after an outage several parts of a screen did.
 */
export function Problem({ error, again }: { error: unknown; again?: (() => void) | undefined }) {
  const queries = useQueryClient();
  const { code, messages, reference, requestId } = read(error);
  const remedy = useRemedy(code);
  const tryAgain = () => {
    again?.();
    const failed = {
      type: "active",
      predicate: ({ state }: { state: { status: string } }) => state.status === "error",
    } as const;
    void queries.refetchQueries(failed, { cancelRefetch: false });
  };
  return (
    <div className="problem" role="alert">
      {messages.map((message) => (
        <p key={message}>
          <Words of={message} />
        </p>
      ))}
      {remedy && (
        <p className="quiet">
          <Words of={remedy} />
        </p>
      )}
      <div className="problem-foot">
        <code>{code}</code>
        {reference && (
          <span>
            Reference <code>{reference}</code> <Copy text={reference} what="reference" word />
          </span>
        )}
        {requestId && (
          <span>
            Request <code>{requestId}</code> <Copy text={requestId} what="request id" word />
          </span>
        )}
        {again && (
          <button type="button" className="button button-plain button-small" onClick={tryAgain}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

type Read = {
  code: string;
  messages: string[];
  reference?: string | undefined;
  requestId?: string | undefined;
};

function read(error: unknown): Read {
  if (!(error instanceof ApiError)) return { code: "console_error", messages: [String(error)] };
  const details = error.errors.map(({ detail }) => detail);
  return {
    code: error.code,
    messages: details.length > 0 ? [...new Set(details)] : [error.message],
    reference: error.reference,
    requestId: error.requestId,
  };
}

/** Loaded with the first problem, because most visits need none. */
function useRemedy(code: string): string | undefined {
  const [remedies, setRemedies] = useState<Record<string, string>>();
  useEffect(() => {
    import("virtual:remedies").then(
      (module) => setRemedies(module.remedies),
      () => {},
    );
  }, []);
  return remedies?.[code];
}
