import type { ReactNode } from "react";

type Props = { onSubmit: () => void; noValidate?: boolean; children: ReactNode };

/** The browser itself sends nothing: what is typed goes where `onSubmit` takes it. */
export function Form({ onSubmit, noValidate = false, children }: Props) {
  return (
    <form
      className="form"
      noValidate={noValidate}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
