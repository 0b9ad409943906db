import type { EpochMs } from '../domain/time.ts';
import { judgeRequest, type LogLine, malformed } from './access-log.ts';
import { parseLogTime } from './combined-log.ts';
import { parseInstant } from './instant.ts';

type Fields = Readonly<Record<string, unknown>>;

/** True for the JSON value of a line of Caddy's access log. */
export const isCaddy = (value: unknown): boolean => {
  const { request } = fieldsOf(value);
  return 'method' in fieldsOf(request);
};

/** Judges one line of Caddy's access log, given as its JSON value. Pure. */
export function parseCaddy(value: unknown): LogLine {
  const { request: sent, ts, status } = fieldsOf(value);
  const request = fieldsOf(sent);
  // Before 2.5: `remote_addr` with the port. Since 2.7: `client_ip`, the client behind trusted proxies.
  const address =
    textOf(request['client_ip']) || textOf(request['remote_ip']) || textOf(request['remote_addr']);
  const [method, target] = [textOf(request['method']), textOf(request['uri'])];
  const at = timeOf(ts);
  if (method === '') return malformed('request.method', 'there is none');
  if (at === null) return malformed('ts', 'it is no time');
  if (typeof status !== 'number') return malformed('status', 'it is no number');
  const headers = fieldsOf(request['headers']);
  const [referrer, userAgent] = [headerOf(headers['Referer']), headerOf(headers['User-Agent'])];
  return judgeRequest({ address, at, method, target, status, referrer, userAgent });
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const headerOf = (values: unknown): string => (Array.isArray(values) ? textOf(values[0]) : '');

/** From these numbers on, `ts` counts ms or ns. In seconds they would be after the year 2286. */
const [LEAST_MS, LEAST_NS] = [1e10, 1e16];

/**
 * Reads `ts` in each of the encoder's forms that states an instant: seconds (the default), ms or ns since
 * 1970, RFC 3339, ISO 8601 (whose offset has no colon), and that of the common log.
 */
function timeOf(ts: unknown): EpochMs | null {
  if (typeof ts === 'string') {
    return parseInstant(ts.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')) ?? parseLogTime(ts);
  }
  if (typeof ts !== 'number' || !(ts >= 0)) return null;
  const ms = Math.floor(ts >= LEAST_NS ? ts / 1e6 : ts >= LEAST_MS ? ts : ts * 1000);
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? null : parseInstant(date.toISOString());
}
