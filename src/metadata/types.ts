import type { AccountId, AppId, KeyId } from '../domain/ids.ts';
import type { AppRetention } from '../domain/retention.ts';
import type { Segment } from '../domain/segment.ts';

/** `suspended`: no new apps, analytics answer 403 `plan_blocked`, ingestion goes on. */
export type PlanName = 'free' | 'pro' | 'suspended';

export interface Plan {
  readonly name: PlanName;
  readonly maxApps: number;
  readonly analytics: boolean;
}

/** For how many days new apps of a plan keep raw events; a plan that is missing: for ever. */
export type RetentionOfPlans = Readonly<Partial<Record<PlanName, number>>>;

/** The account behind an API key or a session. */
export interface Principal {
  readonly accountId: AccountId;
  /** The key, the session or the link: requests are counted by it. */
  readonly keyId: KeyId;
  readonly plan: Plan;
  /** Who asks, as the audit names them. */
  readonly actor: string;
  /** What a link shows. Absent: everything that the account may read. */
  readonly only?: Shown;
}

/** The part of an account's analytics that a link shows. */
export interface Shown {
  readonly app: AppId;
  /** Its sessions alone; null: all. */
  readonly segment: Segment | null;
}

export interface AppSummary {
  readonly id: AppId;
  readonly name: string;
  readonly domain: string;
  readonly access: 'owner' | 'shared';
  readonly createdAt: string;
}

export interface CreatedApp extends AppSummary {
  readonly access: 'owner';
  readonly secretKey: string;
}

/** An app with the data that its SDK needs. */
export interface SdkApp {
  readonly id: AppId;
  /** `https://example.com`: origins of this host and its subdomains may send events. */
  readonly domain: string;
  /** For how long its events are kept; absent: for ever. */
  readonly retention?: AppRetention;
  /** Tells whether events from an address are left out; absent: from none. */
  readonly excludes?: (address: string) => boolean;
}

/** Access checks of the Public API and the SDK endpoint. Changes show within 5 s. */
export interface Access {
  /** Resolves to null alike for a missing, malformed, unknown, expired or revoked key. */
  authenticate(apiKey: string): Promise<Principal | null>;
  /** Resolves to null for wrong credentials of any kind, including malformed strings. */
  authenticateApp(appId: string, secretKey: string): Promise<SdkApp | null>;
  /** True for an owned or shared app. */
  canRead(account: AccountId, app: AppId): Promise<boolean>;
  /** Returns owned and shared apps, sorted by createdAt. */
  listApps(account: AccountId): Promise<AppSummary[]>;
  /** Throws AppError `domain_conflict` (409) or `plan_blocked` (403). `input` is validated already. */
  createApp(
    principal: Principal,
    input: { readonly name: string; readonly domain: string },
  ): Promise<CreatedApp>;
}
