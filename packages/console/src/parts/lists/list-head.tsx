import type { ReactNode } from "react";
import { countOf, type Grown } from "./listed.ts";

type Props = {
  /** Absent: the service does not count this list. */
  found?: Pick<Grown<unknown>, "total" | "totalIsAtLeast">;
  children: ReactNode;
};

/** Above a list: how long it is, and what can be done with all of it. */
export const ListHead = ({ found, children }: Props) => (
  <div className="list-head">
    <p className="quiet">{found && `${countOf(found)} in all`}</p>
    {children}
  </div>
);
