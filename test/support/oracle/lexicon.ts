import type { Session } from './model.ts';

/** What words from outside mean: families of user agents, hosts of referrers, channels. '' is unknown or none. */
export interface Lexicon {
  technology(userAgent: string): Technology;
  /** The canonical BCP 47 form. */
  language(tag: string): string;
  /** Without port and `www.`; '' for the app's own domain too. */
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

/** The first channel for which any of a session's fields speaks. */
export const strongest = (spoken: readonly Channel[]): Channel =>
  CHANNELS.find((channel) => spoken.includes(channel)) ?? 'direct';
