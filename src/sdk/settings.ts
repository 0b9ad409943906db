/** Settings of the SDK, passed to `init` or as data attributes of the script tag. */
export interface Settings {
  /** The app's UUID. */
  readonly appId: string;
  /** The app's own credential (`app_secret_…`), never an account's API key. */
  readonly secretKey: string;
  /** Origin of the service; the script's own origin by default (as a module: the page's). */
  readonly endpoint?: string;
  /** Stay silent for visitors who send Do Not Track or Global Privacy Control. Default: true. */
  readonly respectDoNotTrack?: boolean;
  /** Show the SDK's actions on the console. Default: false, only problems. */
  readonly debug?: boolean;
}

const APP_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Says why nothing can be sent with these settings; undefined if they may be right. They may come from JavaScript. */
export function problemOf({ appId = '', secretKey = '', endpoint }: Partial<Settings>): string | undefined {
  if ((appId + secretKey).includes('service_api_')) {
    return "an account's API key must never be in a page: revoke it, and use the app's secret (app_secret_…)";
  }
  const wrong = (name: string, value: string, needed: string): string =>
    `${name} is ${value ? `not ${needed}` : 'missing'}`;
  if (!APP_ID.test(appId)) return wrong('data-app-id (appId)', appId, 'a UUID');
  if (!/^app_secret_./.test(secretKey))
    return wrong('data-secret-key (secretKey)', secretKey, 'app_secret_…');
  if (endpoint !== undefined && !/^https?:\/\/./i.test(endpoint)) {
    return wrong('data-endpoint (endpoint)', endpoint, 'https://…');
  }
  return undefined;
}

type Signals = Navigator & { readonly globalPrivacyControl?: boolean };

/** True if the visitor's browser asks not to be measured and the page does not override it. */
export const refused = (settings: Settings): boolean =>
  settings.respectDoNotTrack !== false &&
  (navigator.doNotTrack === '1' || (navigator as Signals).globalPrivacyControl === true);
