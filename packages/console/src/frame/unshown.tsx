import { Component, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { Screen } from "../parts/screen.tsx";

type Props = { children: () => ReactNode; instead: (acts: ReactNode) => ReactNode };

/**
 * Stands in for what is in a file that could not be loaded. A file's name has a hash of what is in it, so a service that was upgraded
 * since the page was opened no longer has it; and React takes everything off the window for what nobody catches.
 */
export class Unshown extends Component<Props, { isUnshown: boolean }> {
  override state = { isUnshown: false };

  static getDerivedStateFromError() {
    return { isUnshown: true };
  }

  override render() {
    if (!this.state.isUnshown) return this.props.children();
    return this.props.instead(
      <div className="form-actions">
        <button type="button" className="button" onClick={() => this.setState({ isUnshown: false })}>
          Try again
        </button>
        <button type="button" className="button button-plain" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>,
    );
  }
}

const WHY =
  "The service could not be reached, or it was upgraded since this page was opened. After an upgrade the page must be loaded again";

export const insteadOfScreen = (acts: ReactNode) => (
  <Screen
    title="This screen could not be loaded"
    lead={`${WHY}; whoever signed in with a key enters it again.`}
  >
    {acts}
  </Screen>
);

/**
 * Above the screen, as the window would be that it stands in for: a screen may be long, and this must be seen. At the end of the page:
 * a window that is open lets nothing be pressed that was there before it.
 */
export const insteadOfContinue = (acts: ReactNode) =>
  createPortal(
    <div className="dialog" role="alert">
      <h2>Your session has ended</h2>
      <p>What it takes to go on could not be loaded. {WHY}, and what was typed is lost.</p>
      {acts}
    </div>,
    document.body,
  );
