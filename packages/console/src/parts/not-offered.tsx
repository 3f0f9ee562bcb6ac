import { type Act, whyNot } from "../session/can.ts";
import { useSession } from "../session/session.ts";

/** Stands where an act would be, for a role that may not do it. */
export function NotOffered({ act }: { act: Act }) {
  const { role } = useSession();
  return <p className="quiet small">{whyNot(role, act)}</p>;
}
