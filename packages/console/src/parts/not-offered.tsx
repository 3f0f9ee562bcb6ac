import { type Act, whyNot } from "../session/can.ts";

type Props = {
  act: Act;
  /** The screen has nothing else for this role. */
  isWhole?: boolean;
};

/** For a role that may not do this: once on top of a screen that can only be read, or in place of a button. */
export const NotOffered = ({ act, isWhole = false }: Props) => (
  <p className="quiet small">{whyNot(act, isWhole)}</p>
);
