/** Events of the SDK's own have this one. */
const OF_SDK = 'url';
const MOST_KEPT = 20;

const keptUnder = (appId: string, event: string): string => `console-properties-${appId}-${event}`;

/** The properties of an event that somebody listed in this browser, newest first. */
export function keptProperties(appId: string, event: string): readonly string[] {
  const kept = (localStorage.getItem(keptUnder(appId, event)) ?? '').split('\n');
  return [...new Set([...kept, OF_SDK])].filter((each) => each !== '');
}

export function keepProperty(appId: string, event: string, property: string): void {
  const kept = [property, ...keptProperties(appId, event).filter((each) => each !== property)];
  localStorage.setItem(keptUnder(appId, event), kept.slice(0, MOST_KEPT).join('\n'));
}
