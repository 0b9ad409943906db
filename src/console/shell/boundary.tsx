import { Component, type ReactNode } from 'react';

interface Props {
  /** A change of it shows the children again. */
  readonly resetKey: string;
  readonly fallback: (error: unknown) => ReactNode;
  readonly children: ReactNode;
}

interface State {
  readonly failedAt: string | null;
  readonly error: unknown;
}

/** Shows `fallback` in the place of a page that threw. The frame around it goes on. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { failedAt: null, error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { failedAt: location.pathname, error };
  }

  override componentDidUpdate({ resetKey }: Props): void {
    if (this.state.failedAt !== null && resetKey !== this.props.resetKey) this.setState({ failedAt: null });
  }

  override render(): ReactNode {
    const { failedAt, error } = this.state;
    return failedAt === null ? this.props.children : this.props.fallback(error);
  }
}
