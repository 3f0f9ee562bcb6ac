import { Component, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { Screen } from "../parts/screen.tsx";

type Props = { children: () => ReactNode; instead: (acts: ReactNode) => ReactNode };

/**
 * Replaces a component whose file could not be loaded. File names contain a hash, so after an upgrade of the
 * service an open page may request a file that no longer exists. React would remove the whole page for an
 * uncaught error.
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
    lead={`${WHY}; if you signed in with a key, enter it again.`}
  >
    {acts}
  </Screen>
);

/** Escape and Close end it, as they would end the search. */
export const insteadOfSearch = (onClose: () => void) => (acts: ReactNode) =>
  createPortal(
    <div className="dialog" role="alert" onKeyDown={({ key }) => key === "Escape" && onClose()}>
      <h2>The search could not be loaded</h2>
      <p>{WHY}.</p>
      {acts}
      <button type="button" className="button button-plain" onClick={onClose}>
        Close
      </button>
    </div>,
    document.body,
  );

/**
 * Shown above the screen, as the dialog would be, because a screen may be long. Added at the end of the page,
 * because an open dialog blocks everything that was in the page before it.
 */
export const insteadOfContinue = (acts: ReactNode) =>
  createPortal(
    <div className="dialog" role="alert">
      <h2>Your session has ended</h2>
      <p>The next sign-in could not be loaded. {WHY}, and text that you have typed is lost.</p>
      {acts}
    </div>,
    document.body,
  );
