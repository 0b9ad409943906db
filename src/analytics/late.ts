import type { Span } from '../domain/time.ts';
import type { SessionValues } from './figures.ts';

/* What late events change of the facts: see late-sessions.ts and late-pages.ts. */

/** A session as answers count it. */
export interface SessionRow extends SessionValues {
  readonly visitor: string;
  /** What it is listed under. */
  readonly words: readonly string[];
  /** '' without coordinates. */
  readonly place: string;
  /** Source, medium, campaign, term, content; the source is '' where it has none. */
  readonly campaign: readonly string[];
}

/** To be added (1) or taken away (-1). */
interface Signed {
  readonly sign: 1 | -1;
  /** Epoch ms. */
  readonly startedAt: number;
}
export interface SignedSession extends Signed, SessionRow {}

/** A session and the start of the one before it of the same visitor; -1 where there is none. */
export interface Link extends Signed {
  readonly prev: number;
}
/** The same of sessions that came by the same campaign. */
export interface CampaignLink extends Link {
  readonly campaign: readonly string[];
}

/** All changes by late events to the sealed sessions of an app. */
export interface LateSessions {
  readonly sessions: readonly SignedSession[];
  readonly links: readonly Link[];
  /** By the visitor's name, of those whose sessions changed: the starts of all their sealed sessions, in order. */
  readonly visits: ReadonlyMap<string, readonly number[]>;
  campaigns(): Promise<LateCampaigns>;
}

export interface LateCampaigns {
  readonly links: readonly CampaignLink[];
  /** By visitor and campaign. */
  readonly visits: ReadonlyMap<string, readonly number[]>;
}

export const NO_CAMPAIGNS: LateCampaigns = { links: [], visits: new Map() };
export const NONE_LATE: LateSessions = {
  sessions: [],
  links: [],
  visits: new Map(),
  campaigns: async () => NO_CAMPAIGNS,
};

/** Late events change more than a question can take into account: raw rows have to answer from the first of them on. */
export class TooManyLate extends Error {}

/** Those that started in the span. */
export const startedIn = <Row extends Signed>(rows: readonly Row[], { start, end }: Span): readonly Row[] =>
  rows.length === 0 ? rows : rows.filter(({ startedAt }) => startedAt >= start && startedAt < end);

/** What a session did with a key in a sealed hour: to be added (1) or taken away (-1). */
export interface LateKey {
  readonly sign: 1 | -1;
  /** Epoch ms. */
  readonly hour: number;
  readonly kind: string;
  readonly key: string;
  readonly events: number;
  readonly engagedMs: number;
  readonly engagements: number;
  /** When the session had met the key last before the hour (epoch ms); -1 where it had not. Of pages and errors alone. */
  readonly prevAt: number;
  /** When it met it first in the hour. */
  readonly firstAt: number;
}
