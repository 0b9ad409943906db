/**
 * The script behind `GET /sdk.js`. Starts from the data attributes of its own script tag, and sets
 * `sessionAnalytics`.
 */
import { init, type Settings, track } from './index.ts';
import { warn } from './voice.ts';

const script = document.currentScript as HTMLScriptElement | null;
const { appId, secretKey, endpoint, respectDoNotTrack, debug } = (script?.dataset ?? {}) as Record<
  string,
  string | undefined
>;

const start = (settings: Settings): void =>
  init({ endpoint: endpoint ?? new URL(script?.src || location.href).origin, ...settings });

Object.assign(window, { sessionAnalytics: { init: start, track } });

if (!/^(true|false)?$/.test(respectDoNotTrack ?? '')) {
  warn('data-respect-do-not-track is not true or false');
}

// With one of both, init says that the other is missing.
if (appId !== undefined || secretKey !== undefined) {
  start({
    appId: appId ?? '',
    secretKey: secretKey ?? '',
    respectDoNotTrack: respectDoNotTrack !== 'false',
    debug: (debug ?? 'false') !== 'false',
  });
}
