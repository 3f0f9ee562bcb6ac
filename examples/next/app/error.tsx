"use client";

/** The error itself is only in the server's log, where `digest` finds it. */
export default function Failure({ error }: { error: Error & { digest?: string } }) {
  return (
    <>
      <h1>This does not work right now</h1>
      <div className="notice" role="alert">
        <p>Please try again in a moment.</p>
        {error.digest && (
          <p>
            Reference <span className="reference">{error.digest}</span>
          </p>
        )}
      </div>
      <p>
        <a href="/">Back to the shop</a>
      </p>
    </>
  );
}
