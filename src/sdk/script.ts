/**
 * The script behind `GET /sdk.js`. Starts from the data attributes of its own script tag, and sets
 * `sessionAnalytics`.
 */
import { init, optOut, pageview, type Settings, track } from './index.ts';
import { isOn } from './settings.ts';

const script = document.currentScript as HTMLScriptElement | null;
// A module does not know its tag.
const tags = script ? [script] : document.querySelectorAll<HTMLScriptElement>('[type=module]');

const started =
  (tag: HTMLScriptElement | null) =>
  (settings: object): void =>
    init({ endpoint: new URL(tag?.src || location.href).origin, ...settings } as Settings);

(window as unknown as Record<string, object>)['sessionAnalytics'] = {
  init: started(script),
  track,
  pageview,
  optOut,
};

for (const tag of tags) {
  const { dataset } = tag;
  const routes = ['hash', 'manual'].find((name) => isOn(dataset[name]));
  // With one of both, init says that the other is missing.
  if ('appId' in dataset || 'secretKey' in dataset) started(tag)({ routes, ...dataset });
}
