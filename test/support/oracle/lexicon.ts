import type { Session } from './model.ts';

/**
 * The meaning of words from outside: families of user agents, hosts of referrers, channels. '' is unknown or
 * none.
 */
export interface Lexicon {
  technology(userAgent: string): Technology;
  /** Returns the canonical BCP 47 form. */
  language(tag: string): string;
  /** Returns the host without port and `www.`; '' also for the app's own domain. */
  referrerHost(referrer: string, appDomain: string): string;
  channel(session: Session): Channel;
}

export interface Technology {
  readonly browser: string;
  readonly os: string;
  readonly device: 'desktop' | 'mobile' | 'tablet' | 'other';
}

/** In order of precedence. */
export const CHANNELS = ['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'] as const;
export type Channel = (typeof CHANNELS)[number];

/** Returns the channel with the highest precedence among a session's fields. */
export const strongest = (spoken: readonly Channel[]): Channel =>
  CHANNELS.find((channel) => spoken.includes(channel)) ?? 'direct';
