import {
  Combobox,
  ComboboxGroup,
  ComboboxGroupLabel,
  ComboboxItem,
  ComboboxList,
  ComboboxProvider,
} from "@ariakit/react/combobox";
import { Dialog, DialogDismiss } from "@ariakit/react/dialog";
import { type ChangeEvent, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useOpener } from "../parts/forms/modal.tsx";
import { Outcome } from "../parts/text/outcome.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { countInWords, type Entry } from "./entries.ts";
import { SearchIcon } from "./search-icon.tsx";
import { LOOK_UP, useResults } from "./use-results.ts";

/**
 * Finds screens, keys, providers, customers and sign-ons, by the keyboard alone: the combobox of the ARIA Authoring
 * Practices in a dialog. The focus stays in the field, and the arrow keys move through the results.
 */
export function Palette({ onClose }: { onClose: () => void }) {
  const opener = useOpener();
  const [typed, setTyped] = useState("");
  const [pasted, setPasted] = useState<string>();
  /** After a choice the new screen takes the focus, not the opener. */
  const isChosen = useRef(false);
  const [path, navigate] = useLocation();
  const { groups, exact, isPending, error, again } = useResults(typed, typed === pasted);
  const choose = (to: string) => {
    isChosen.current = to !== path;
    onClose();
  };
  const isNothing = !isPending && error === undefined && groups.every(({ label }) => label === LOOK_UP);
  const isFound = exact !== undefined && typed === pasted;
  // biome-ignore lint/correctness/useExhaustiveDependencies: opens once, when the pasted text is found
  useEffect(() => {
    if (!isFound) return;
    choose(exact);
    navigate(exact);
  }, [isFound]);
  return (
    <Dialog
      open
      onClose={onClose}
      aria-label="Search"
      autoFocusOnHide={() => !isChosen.current}
      finalFocus={opener}
      backdrop={<div className="dialog-back" />}
      className="dialog palette"
    >
      <ComboboxProvider open inputValue={typed} setInputValue={setTyped} includesBaseElement={false}>
        <div className="palette-field">
          <SearchIcon />
          <Combobox
            className="palette-input"
            aria-label="Screen, name, e-mail, reference or id"
            placeholder="Name, e-mail, reference"
            autoSelect="always"
            autoCapitalize="off"
            autoCorrect="off"
            spellCheck={false}
            onChange={(event) => setPasted(pastedIn(event))}
          />
          <DialogDismiss className="button button-plain button-small">Close</DialogDismiss>
        </div>
        {error !== undefined && <Problem error={error} again={again} />}
        {isNothing && <p className="palette-note">{NOTHING}</p>}
        <ComboboxList className="palette-list" aria-label="Results" aria-busy={isPending}>
          {groups.map(({ label, entries }) => (
            <ComboboxGroup key={label} className="palette-group">
              <ComboboxGroupLabel className="palette-label">{label}</ComboboxGroupLabel>
              {entries.map((entry) => (
                <Row key={entry.to} entry={entry} onChoose={choose} />
              ))}
            </ComboboxGroup>
          ))}
        </ComboboxList>
        <p className="palette-foot" aria-hidden="true">
          <kbd>↑</kbd> <kbd>↓</kbd> to move, <kbd>Enter</kbd> to open, <kbd>Esc</kbd> to close
          <span>{isPending ? "Searching…" : ""}</span>
        </p>
        <p className="only-read-out" role="status">
          {isPending ? "Searching" : `${isNothing ? `${NOTHING} ` : ""}${countInWords(groups)}`}
        </p>
      </ComboboxProvider>
    </Dialog>
  );
}

/** The whole text, if it has just been pasted or dropped. */
const pastedIn = ({ nativeEvent, target }: ChangeEvent<HTMLInputElement>): string | undefined =>
  /^insertFrom(Paste|Drop)$/.test((nativeEvent as InputEvent).inputType ?? "") ? target.value : undefined;

const NOTHING =
  "Nothing begins with these words. The search finds screens, keys, providers, customers and sign-ons.";

/** A link, so that Ctrl-click opens it in a new tab, as elsewhere. */
function Row({
  entry: { to, name, detail, outcome },
  onChoose,
}: {
  entry: Entry;
  onChoose: (to: string) => void;
}) {
  return (
    <ComboboxItem
      className="palette-item"
      focusOnHover
      render={(props) => <Link {...props} href={to} />}
      onClick={({ ctrlKey, metaKey, shiftKey }) => {
        if (!ctrlKey && !metaKey && !shiftKey) onChoose(to);
      }}
    >
      <span className="palette-name">{name}</span>
      {detail && <span className="palette-detail">{detail}</span>}
      {outcome && <Outcome of={outcome} />}
    </ComboboxItem>
  );
}
