import type { account } from './en/account.ts';
import type { analytics } from './en/analytics.ts';
import type { apps } from './en/apps.ts';
import type { common } from './en/common.ts';

/** The sections of one file each. English has the shape that all languages have. */
export type CommonTexts = typeof common;
export type AccountTexts = typeof account;
export type AppsTexts = typeof apps;
export type AnalyticsTexts = typeof analytics;

/** Every text of the console. */
export type Texts = CommonTexts &
  AccountTexts & { readonly apps: AppsTexts; readonly analytics: AnalyticsTexts };
