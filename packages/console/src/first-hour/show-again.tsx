import { Link } from "wouter";
import { useCan } from "../session/can.ts";
import { ofDevice } from "../session/member.ts";
import { useSession } from "../session/session.ts";
import { openNotes } from "./notes.ts";

/** Brings back the first steps of a store that were done or hidden. */
export function ShowFirstSteps() {
  const can = useCan();
  const { store } = useSession();
  if (!can("administer")) return null;
  return (
    <section className="card stack-tight" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <p className="quiet">
        What a new store needs, from the first provider to the first colleague, and what is done already.
      </p>
      <p>
        <Link href="/" onClick={() => openNotes(ofDevice).write(store.id, "recalled")}>
          Show the first steps on Home
        </Link>
      </p>
    </section>
  );
}
