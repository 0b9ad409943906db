import Bowser from 'bowser';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';

export type Device = 'desktop' | 'mobile' | 'tablet' | 'other';

/** The technology behind a user agent: family names without version, '' if unknown. */
export interface Technology {
  readonly browser: string;
  readonly os: string;
  readonly device: Device;
}

const UNKNOWN: Technology = { browser: '', os: '', device: 'other' };
const REMEMBERED = 5_000;
const DEVICES: ReadonlySet<string> = new Set(['desktop', 'mobile', 'tablet']);

const technologies = new LRUCache<string, Technology>({ max: REMEMBERED });
const bots = new LRUCache<string, boolean>({ max: REMEMBERED });

/**
 * Parses a user agent. Parsing takes about 30 µs, and a site sees the same few hundred user agents: hence the
 * cache.
 */
export function technologyOf(userAgent: string): Technology {
  if (userAgent === '') return UNKNOWN;
  const known = technologies.get(userAgent);
  if (known !== undefined) return known;
  const { browser, os, platform } = Bowser.parse(userAgent);
  const technology: Technology = {
    browser: browser.name ?? '',
    os: os.name ?? '',
    device: isDevice(platform.type) ? platform.type : 'other',
  };
  technologies.set(userAgent, technology);
  return technology;
}

const isDevice = (type: string | undefined): type is Device => type !== undefined && DEVICES.has(type);

/** True for a crawler, monitor or headless browser in `isbot`'s list. An empty user agent is no bot. */
export function isBot(userAgent: string): boolean {
  const known = bots.get(userAgent);
  if (known !== undefined) return known;
  const bot = isbot(userAgent);
  bots.set(userAgent, bot);
  return bot;
}

/**
 * True if the user agent of a sent session is a bot's. `isbot` also calls every HTTP library and app a bot.
 * But a native app, or a server that sends its visitors' sessions, is none, so the user agent also has to
 * claim to be a browser or a crawler.
 */
export const isBotSession = (userAgent: string): boolean =>
  /^Mozilla\/|bot|crawl|spider/i.test(userAgent) && isBot(userAgent);
