import type { AccountId, AppId, KeyId } from '../domain/ids.ts';

/** `suspended`: no new apps, analytics answer 403 `plan_blocked`, ingestion goes on. */
export type PlanName = 'free' | 'pro' | 'suspended';

export interface Plan {
  readonly name: PlanName;
  readonly maxApps: number;
  readonly analytics: boolean;
}

/** Who asks: the account behind an API key. */
export interface Principal {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly plan: Plan;
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

/** An app as its SDK sees it. */
export interface SdkApp {
  readonly id: AppId;
  /** `https://example.com`: origins of this host and its subdomains may send. */
  readonly domain: string;
}

/** What the Public API and the SDK endpoint ask of accounts, keys and apps. Changes show within 5 s. */
export interface Access {
  /** Null for a missing, malformed, unknown, expired or revoked key: all alike. */
  authenticate(apiKey: string): Promise<Principal | null>;
  /** Null for wrong credentials of any kind, malformed strings included. */
  authenticateApp(appId: string, secretKey: string): Promise<SdkApp | null>;
  /** Owned or shared. */
  canRead(account: AccountId, app: AppId): Promise<boolean>;
  /** Owned and shared, by createdAt. */
  listApps(account: AccountId): Promise<AppSummary[]>;
  /** Throws AppError `domain_conflict` (409) or `plan_blocked` (403). `input` has been validated. */
  createApp(
    principal: Principal,
    input: { readonly name: string; readonly domain: string },
  ): Promise<CreatedApp>;
}
