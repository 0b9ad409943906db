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
}

type Signals = Navigator & { readonly globalPrivacyControl?: boolean };

/** True if the visitor's browser asks not to be measured and the page does not override it. */
export const refused = (settings: Settings): boolean =>
  settings.respectDoNotTrack !== false &&
  (navigator.doNotTrack === '1' || (navigator as Signals).globalPrivacyControl === true);
