/** Catches what no page expects, a part of the application that can't be fetched among it. */

import { Component, type ReactNode } from "react";

export class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <main className="state-page">
        <p className="wordmark">Chopin</p>
        <h1>This page has failed</h1>
        <div className="state-page__text">
          <p>Something in it went wrong, or a part of it could not be fetched.</p>
        </div>
        <p className="actions">
          <button type="button" className="button button--primary" onClick={() => window.location.reload()}>
            Reload
          </button>
        </p>
      </main>
    );
  }
}
