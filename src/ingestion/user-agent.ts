import Bowser from 'bowser';
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
/** Desktop computers that are no device to Bowser: the BSDs, other systems under X11, and PCs with HarmonyOS. */
const DESKTOP = /\bX11\b|\b(?:Free|Open|Net)BSD\b|\bDragonFly\b|\bPC; OpenHarmony\b/i;

const technologies = new LRUCache<string, Technology>({ max: REMEMBERED });

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
    device: deviceOf(platform.type ?? (DESKTOP.test(userAgent) ? 'desktop' : 'other')),
  };
  technologies.set(userAgent, technology);
  return technology;
}

const deviceOf = (type: string): Device => (DEVICES.has(type) ? (type as Device) : 'other');
