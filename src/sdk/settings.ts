/** Settings of the SDK, passed to `init` or as data attributes of the script tag. */
export interface Settings {
  /** The app's UUID. */
  readonly appId: string;
  /** The app's own credential (`app_secret_…`), never an account's API key. */
  readonly secretKey: string;
  /**
   * Address of the service, with or without a path, or a path on the page's own host. The script's own origin by default
   * (as a module: the page's).
   */
  readonly endpoint?: string;
  /**
   * What a page is. `path` (default): the path of the address. `hash`: also the route after `#/` or `#!/`. `manual`:
   * pageviews are only counted by `pageview`.
   */
  readonly routes?: 'path' | 'hash' | 'manual';
  /** Returns the path to send instead of the page's own, such as `/order/:id` for `/order/123`. */
  readonly path?: (path: string) => string;
  /** Count clicks on links to other hosts, as custom events. Default: false. */
  readonly outboundLinks?: boolean;
  /** Count clicks on links to files, as custom events. Default: false. */
  readonly fileDownloads?: boolean;
  /** Count submitted forms, as custom events. Default: false. */
  readonly formSubmissions?: boolean;
  /** Stay silent for visitors who send Do Not Track or Global Privacy Control. Default: true. */
  readonly respectDoNotTrack?: boolean;
  /** Show the SDK's actions on the console. Default: false, only problems. */
  readonly debug?: boolean;
}

/** True for a switch that is on. As a data attribute it is a text, and may be empty. */
export const isOn = (value: boolean | string | undefined): boolean =>
  !/^(false|off|no|0|undefined)$/.test(value as string);

export const unslashed = (text: string): string => text.replace(/\/+$/, '');

/** Says why nothing can be sent with these settings; undefined if they may be right. They may come from JavaScript. */
export function problemOf({ appId, secretKey, endpoint = '/' }: Partial<Settings>): string | undefined {
  if (!/^[\da-f-]{36}$/i.test(appId as string)) return 'data-app-id (appId) is not a UUID';
  if (!/^app_secret_./.test(secretKey as string))
    return "data-secret-key (secretKey) is not the app's secret (app_secret_…). An API key is not for pages: revoke it";
  return /^(https?:\/\/.|\/)/i.test(endpoint) ? undefined : 'data-endpoint (endpoint) is no address';
}

type Signals = Navigator & { readonly globalPrivacyControl?: boolean };

/** True if the visitor's browser asks not to be measured and the page does not override it. */
export const refused = ({ respectDoNotTrack = true }: Settings): boolean =>
  isOn(respectDoNotTrack) && (navigator.doNotTrack === '1' || !!(navigator as Signals).globalPrivacyControl);
