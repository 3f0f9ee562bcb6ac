import { useState } from "react";
import { useSearchParams } from "wouter";
import { withChange } from "./address.ts";

type Props = { label: string; placeholder: string; isFirst?: boolean };

/** The URL has the search text as `q`, so that the URL shows the same result to another person. */
export function Search({ label, placeholder, isFirst = false }: Props) {
  const [search, setSearch] = useSearchParams();
  const asked = search.get("q") ?? "";
  const [{ typed, over }, setTyped] = useState({ typed: asked, over: asked });
  const type = (text: string) => setTyped({ typed: text, over: asked });
  // After Back, or a link to the same screen, the URL has another text than the field.
  if (over !== asked) type(asked);
  return (
    <search>
      <form
        className="search"
        onSubmit={(event) => {
          event.preventDefault();
          setSearch((before) => withChange(before, { q: typed.trim() }));
        }}
      >
        <input
          className="input"
          type="search"
          aria-label={label}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          // biome-ignore lint/a11y/noAutofocus: the screen has only this field
          autoFocus={isFirst}
          value={typed}
          onChange={(event) => type(event.target.value)}
        />
        <button type="submit" className="button">
          Look up
        </button>
      </form>
    </search>
  );
}
