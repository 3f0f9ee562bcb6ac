import type { ReactNode } from "react";

type Props = { onSubmit: () => void; noValidate?: boolean; children: ReactNode };

/** A form that the browser does not submit. `onSubmit` handles the input. */
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
