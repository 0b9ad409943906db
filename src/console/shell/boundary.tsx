import { Component, type ReactNode } from 'react';

interface Props {
  /** A change of it shows the children again. */
  readonly resetKey: string;
  readonly fallback: ReactNode;
  readonly children: ReactNode;
}

/** Shows `fallback` in the place of a page that threw. The frame around it goes on. */
export class ErrorBoundary extends Component<Props, { readonly failedAt: string | null }> {
  override state: { readonly failedAt: string | null } = { failedAt: null };

  static getDerivedStateFromError(): { readonly failedAt: string } {
    return { failedAt: location.pathname };
  }

  override componentDidUpdate({ resetKey }: Props): void {
    if (this.state.failedAt !== null && resetKey !== this.props.resetKey) this.setState({ failedAt: null });
  }

  override render(): ReactNode {
    return this.state.failedAt === null ? this.props.children : this.props.fallback;
  }
}
