import { parsed, resultOf } from './answer.ts';
import type { AppSummary, CreatedApp, NewApp } from './answers.ts';
import { AbortError, ApiError, type ClientError, ConnectionError, UnclearCreationError } from './errors.ts';
import { jsonOf } from './input.ts';
import type { Send } from './send.ts';
import type { CreateOptions, Result, Retry } from './types.ts';

/** Codes of failures before anything was sent. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

/**
 * Creates an app. The service keeps one app for a domain of an account, so a repeated attempt creates no second one.
 * It is refused with 409 if there is an app, also if an attempt before has created it.
 */
export async function createApp(
  send: Send,
  url: string,
  app: NewApp,
  options: CreateOptions,
): Promise<Result<CreatedApp>> {
  let isUnclear = false;
  const onRetry = (retry: Retry): void => {
    isUnclear ||= mayHaveArrived(retry.error);
    options.onRetry?.(retry);
  };
  try {
    return await send({ ...options, onRetry, url, body: jsonOf(app) }, async (response, attempt) => {
      const text = await attempt.within(response.text());
      return resultOf(response.headers, parsed<CreatedApp>(response.status, text, false));
    });
  } catch (error) {
    if (!isUnclear || !(error instanceof ApiError) || error.code !== 'domain_conflict') throw error;
    throw new UnclearCreationError(error, await appOf(send, url, app.domain, options));
  }
}

const mayHaveArrived = (error: ClientError): boolean =>
  error instanceof ConnectionError
    ? !NOT_SENT.includes(error.code ?? '')
    : error instanceof ApiError && error.status !== 429;

/** Looks up the account's app of a domain; null if that fails. */
async function appOf(
  send: Send,
  url: string,
  domain: string,
  options: CreateOptions,
): Promise<AppSummary | null> {
  try {
    return await send({ ...options, url }, async (response, attempt) => {
      const text = await attempt.within(response.text());
      const apps = parsed<AppSummary[]>(response.status, text, true);
      const isIt = (app: AppSummary): boolean =>
        app.access === 'owner' && hostOf(app.domain) === hostOf(domain);
      return apps.find(isIt) ?? null;
    });
  } catch (error) {
    if (error instanceof AbortError) throw error;
    return null;
  }
}

/** What the service compares: the scheme's own port is left out, and the scheme does not count. */
const hostOf = (domain: string): string => new URL(domain).host;
