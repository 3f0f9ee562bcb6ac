import { useEffect, useState } from "react";

type Props = { text: string; what: string; word?: boolean; label?: string };

/** A button that copies text, and shows for a moment on the button that it has worked. */
export function Copy({ text, what, word = false, label = "Copy" }: Props) {
  const [state, setState] = useState<"ready" | "copied" | "refused">("ready");
  useEffect(() => {
    if (state === "ready") return;
    const timer = setTimeout(() => setState("ready"), 2500);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState("copied"),
      () => setState("refused"),
    );
  const says = { ready: label, copied: "Copied", refused: "Not allowed" }[state];
  return (
    <button
      type="button"
      className={word ? "button-word" : "button button-plain button-small"}
      onClick={() => void copy()}
      aria-label={state === "ready" ? `${label} ${what}` : `${says}: ${what}`}
    >
      {says}
    </button>
  );
}

/** A value to copy, with its button. */
export function Copyable({ text, what }: { text: string; what: string }) {
  return (
    <div className="copyable">
      <code>{text}</code>
      <Copy text={text} what={what} />
    </div>
  );
}
