import { preferredLanguage } from '../../i18n/languages.ts';
import { keep, kept } from '../../parts/kept.ts';
import { TEHRAN, UTC, type Zone, zoneNamed } from './zone.ts';

/** The first zone of a language's people, where it is not UTC. */
const FIRST: Readonly<Record<string, Zone>> = { fa: TEHRAN };

const keptUnder = (appId: string): string => `console-zone-${appId}`;

/** The zone in which this browser last showed the app; before the first time that of the language. */
export const zoneOf = (appId: string): Zone =>
  zoneNamed(kept(keptUnder(appId)) ?? '') ?? FIRST[preferredLanguage()] ?? UTC;

export const keepZone = (appId: string, zone: Zone): void => keep(keptUnder(appId), zone);
