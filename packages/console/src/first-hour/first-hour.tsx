import { useEffect, useState } from "react";
import { Link } from "wouter";
import { HelpLink } from "../help/help-link.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { ofDevice } from "../session/member.ts";
import { useSession } from "../session/session.ts";
import { useFacts } from "./facts.ts";
import { type Note, openNotes } from "./notes.ts";
import { type Step, stepsOf } from "./steps.ts";

const notes = openNotes(ofDevice);

/** The first steps of a store, for administrators, until they are done or hidden. */
export function FirstHour() {
  const can = useCan();
  const { store } = useSession();
  const [note, setNote] = useState(() => notes.read(store.id));
  if (!can("administer") || note === "closed") return null;
  const keep = (next: Note) => {
    if (next === note) return;
    notes.write(store.id, next);
    setNote(next);
  };
  return <Steps note={note} keep={keep} />;
}

function Steps({ note, keep }: { note: Note | undefined; keep: (note: Note) => void }) {
  const { facts, error, again } = useFacts();
  const steps = facts && stepsOf(facts);
  const done = steps?.filter(({ isDone }) => isDone).length ?? 0;
  const isOver = steps !== undefined && done === steps.length && note !== "recalled";
  useEffect(() => {
    if (isOver) keep("closed");
    else if (steps && note === undefined) keep("open");
  });
  // A store that is set up, in a new browser: nothing appears and disappears.
  if (isOver || (!steps && note === undefined)) return null;
  return (
    <section className="card" aria-labelledby="first-steps">
      <div className="card-head">
        <h2 id="first-steps">First steps</h2>
        <span className="row small">
          {steps && (
            <span className="quiet number" role="status">
              {done} of {steps.length} done
            </span>
          )}
          <button
            type="button"
            className="button-word"
            onClick={() => {
              keep("closed");
              say("The first steps are hidden. Settings can show them again.");
            }}
          >
            Hide
          </button>
        </span>
      </div>
      {error !== undefined && error !== null && <Problem error={error} again={again} />}
      {steps ? <StepList steps={steps} /> : error ? null : <SkeletonRows rows={5} />}
    </section>
  );
}

function StepList({ steps }: { steps: readonly Step[] }) {
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <ol className="first-steps">
      {steps.map((step) => (
        <li key={step.name} className="first-step" data-done={step.isDone}>
          <svg className="first-step-mark" viewBox="0 0 24 24" aria-hidden="true">
            <circle cx="12" cy="12" r="10" />
            {step.isDone && <path d="m7.5 12.5 3 3 6-6.5" />}
          </svg>
          <div className="first-step-words">
            <p className="item-name">
              {step.title}
              {step.isDone && <span className="only-read-out">: done</span>}
            </p>
            {!step.isDone && <p className="quiet small">{step.why}</p>}
          </div>
          {!step.isDone && <Act step={step} isNext={step === next} />}
        </li>
      ))}
    </ol>
  );
}

function Act({ step: { name, act }, isNext }: { step: Step; isNext: boolean }) {
  const className = `button button-small${isNext ? "" : " button-plain"}`;
  if (name === "shopper")
    return (
      <HelpLink to="docs/guides/storefront.md" className={className}>
        Open the guide
      </HelpLink>
    );
  return (
    act && (
      <Link className={className} href={act.to}>
        {act.label}
      </Link>
    )
  );
}
