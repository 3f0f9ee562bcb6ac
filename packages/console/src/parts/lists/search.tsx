import { useState } from "react";
import { useSearchParams } from "wouter";

type Props = { label: string; placeholder: string; isFirst?: boolean };

/** What is looked for stands in the address as `q`, so that it can be sent to somebody. */
export function Search({ label, placeholder, isFirst = false }: Props) {
  const [search, setSearch] = useSearchParams();
  const asked = search.get("q") ?? "";
  const [{ typed, over }, setTyped] = useState({ typed: asked, over: asked });
  const type = (text: string) => setTyped({ typed: text, over: asked });
  // Back, or a link to the screen itself, asks for something else than was typed.
  if (over !== asked) type(asked);
  return (
    <search>
      <form
        className="search"
        onSubmit={(event) => {
          event.preventDefault();
          setSearch(typed.trim() === "" ? {} : { q: typed.trim() });
        }}
      >
        <input
          className="input"
          type="search"
          aria-label={label}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          // biome-ignore lint/a11y/noAutofocus: a screen that is nothing but this field
          autoFocus={isFirst}
          value={typed}
          onChange={(event) => type(event.target.value)}
        />
        <button type="submit" className="button">
          Find
        </button>
      </form>
    </search>
  );
}
