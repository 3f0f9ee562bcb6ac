import { type Act, whyNot } from "../session/can.ts";
import { useSession } from "../session/session.ts";

/** Shown in place of a button, for a role that may not use it. */
export function NotOffered({ act }: { act: Act }) {
  const { role } = useSession();
  return <p className="quiet small">{whyNot(role, act)}</p>;
}
