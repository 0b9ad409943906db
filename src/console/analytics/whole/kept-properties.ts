import { keep, kept } from '../../parts/kept.ts';

/** Events of the SDK's own have this one. */
const OF_SDK = 'url';
const MOST_KEPT = 20;

const keptUnder = (appId: string, event: string): string => `console-properties-${appId}-${event}`;

/** The properties of an event that somebody listed in this browser, newest first. */
export function keptProperties(appId: string, event: string): readonly string[] {
  const listed = (kept(keptUnder(appId, event)) ?? '').split('\n');
  return [...new Set([...listed, OF_SDK])].filter((each) => each !== '');
}

export function keepProperty(appId: string, event: string, property: string): void {
  const listed = [property, ...keptProperties(appId, event).filter((each) => each !== property)];
  keep(keptUnder(appId, event), listed.slice(0, MOST_KEPT).join('\n'));
}
