import type { Span } from '../domain/time.ts';
import type { SessionValues } from './figures.ts';

/* Types of the corrections for late events, which late-sessions.ts and late-pages.ts compute. */

/** A session with the values that answers count. */
export interface SessionRow extends SessionValues {
  readonly visitor: string;
  /** Keys of the lists in which the session is counted. */
  readonly words: readonly string[];
  /** '' without coordinates. */
  readonly place: string;
  /** Source, medium, campaign, term, content. The source is '' if the session has none. */
  readonly campaign: readonly string[];
}

/** A correction: to be added (1) or subtracted (-1). */
interface Signed {
  readonly sign: 1 | -1;
  /** Epoch ms. */
  readonly startedAt: number;
}
export interface SignedSession extends Signed, SessionRow {}

/** A session's start, with the start of the same visitor's previous session; -1 if there is none. */
export interface Link extends Signed {
  readonly prev: number;
}
/** A link between sessions of the same visitor and campaign. */
export interface CampaignLink extends Link {
  readonly campaign: readonly string[];
}

/** All corrections to the sealed sessions of an app. */
export interface LateSessions {
  readonly sessions: readonly SignedSession[];
  readonly links: readonly Link[];
  /**
   * The starts of all sealed sessions of each visitor with late sessions, in order, by the visitor's name.
   */
  readonly visits: ReadonlyMap<string, readonly number[]>;
  campaigns(): Promise<LateCampaigns>;
}

export interface LateCampaigns {
  readonly links: readonly CampaignLink[];
  /** The same by visitor and campaign. */
  readonly visits: ReadonlyMap<string, readonly number[]>;
}

export const NO_CAMPAIGNS: LateCampaigns = { links: [], visits: new Map() };
export const NONE_LATE: LateSessions = {
  sessions: [],
  links: [],
  visits: new Map(),
  campaigns: async () => NO_CAMPAIGNS,
};

/**
 * Thrown if late events change more than a question can correct. Raw rows then answer from the first late
 * hour on.
 */
export class TooManyLate extends Error {}

/** Returns the corrections of sessions that started in the span. */
export const startedIn = <Row extends Signed>(rows: readonly Row[], { start, end }: Span): readonly Row[] =>
  rows.length === 0 ? rows : rows.filter(({ startedAt }) => startedAt >= start && startedAt < end);

/** A correction to the counts of a session and key in a sealed hour: to be added (1) or subtracted (-1). */
export interface LateKey {
  readonly sign: 1 | -1;
  /** Epoch ms. */
  readonly hour: number;
  readonly kind: string;
  readonly key: string;
  readonly events: number;
  readonly engagedMs: number;
  readonly engagements: number;
  /**
   * The pair's last occurrence before the hour (epoch ms); -1 if there is none. Only for pages and errors.
   */
  readonly prevAt: number;
  /** The pair's first occurrence in the hour. */
  readonly firstAt: number;
}
