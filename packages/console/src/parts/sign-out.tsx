import { useQueryClient } from "@tanstack/react-query";
import { signOut } from "../session/session.ts";

/** What the screens have read goes with whoever has read it. */
export function SignOut({ isSmall = false }: { isSmall?: boolean }) {
  const queries = useQueryClient();
  return (
    <button
      type="button"
      className={isSmall ? "button button-plain button-small" : "button button-plain"}
      onClick={() => {
        signOut();
        queries.clear();
      }}
    >
      Sign out
    </button>
  );
}
