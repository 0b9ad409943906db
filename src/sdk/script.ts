/**
 * The script behind `GET /sdk.js`. Starts from the data attributes of its own script tag, and sets
 * `sessionAnalytics`.
 */
import { init, type Settings, track } from './index.ts';

const script = document.currentScript as HTMLScriptElement | null;
const { appId, secretKey, endpoint, respectDoNotTrack } = (script?.dataset ?? {}) as Record<
  string,
  string | undefined
>;

const start = (settings: Settings): void =>
  init({ endpoint: endpoint ?? new URL(script?.src || location.href).origin, ...settings });

Object.assign(window, { sessionAnalytics: { init: start, track } });

if (appId && secretKey) start({ appId, secretKey, respectDoNotTrack: respectDoNotTrack !== 'false' });
