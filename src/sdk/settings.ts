/** How a page sets the SDK up, by `init` or by the script tag's data attributes. */
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

/** True when the visitor's browser asks not to be measured, and the page has not chosen otherwise. */
export const refused = (settings: Settings): boolean =>
  settings.respectDoNotTrack !== false &&
  (navigator.doNotTrack === '1' || (navigator as Signals).globalPrivacyControl === true);
