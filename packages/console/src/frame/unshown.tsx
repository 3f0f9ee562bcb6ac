import { Component, type ReactNode } from "react";
import { Screen } from "../parts/screen.tsx";

/**
 * Stands in for a screen whose file could not be loaded. A file's name has a hash of what is in it, so a service that was upgraded since
 * the page was opened no longer has it; and React takes everything off the window for what nobody catches.
 */
export class Unshown extends Component<{ children: () => ReactNode }, { isUnshown: boolean }> {
  override state = { isUnshown: false };

  static getDerivedStateFromError() {
    return { isUnshown: true };
  }

  override render() {
    if (!this.state.isUnshown) return this.props.children();
    return (
      <Screen
        title="This screen could not be loaded"
        lead="The service could not be reached, or it was upgraded since this page was opened. After an upgrade the page must be loaded again; whoever signed in with a key enters it again."
      >
        <div className="form-actions">
          <button type="button" className="button" onClick={() => this.setState({ isUnshown: false })}>
            Try again
          </button>
          <button type="button" className="button button-plain" onClick={() => location.reload()}>
            Load the page again
          </button>
        </div>
      </Screen>
    );
  }
}
