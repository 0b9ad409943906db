/**
 * Page facts go by the time of an event (pages, errors, clicks), session facts by the start of a session.
 * They are sealed separately.
 */
export type FactKind = 'page' | 'session';

export const FACT_KINDS: readonly FactKind[] = ['page', 'session'];
/** The kinds of rows of `ledger` with the same events. */
export const LEDGER_KIND = { page: 'event', session: 'session' } as const;
