import { openStore } from './local-store.ts';
import { forget } from './store.ts';

/** Holds the switch of this browser, for all apps of the site. */
const site = () => openStore('sa:');

/** True if this browser is not measured. */
export const isOff = (): unknown => site().get('off');

/** Switches this browser off or on. Off removes all that the SDK keeps here, first: so the switch fits in a full storage. */
export function switchBrowser(off: boolean): void {
  const store = site();
  if (off) forget(store);
  store.set('off', off || undefined);
}
