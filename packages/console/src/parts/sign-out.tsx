import { useQueryClient } from "@tanstack/react-query";
import { signOut } from "../session/session.ts";

/** Signs out, and clears the data that the screens have loaded. */
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
