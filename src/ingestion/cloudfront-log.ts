import { judgeRequest, type LogLine, malformed, noAddress, quoted } from './access-log.ts';
import { parseInstant } from './instant.ts';

const FIELDS = '#Fields:';
/** Without these no request can be read. */
const NEEDED = ['date', 'time', 'c-ip', 'cs-method', 'cs-uri-stem', 'sc-status'];

/** The columns of a log by their position. */
export type CloudFrontFields = readonly string[];

/** Returns the columns that a line `#Fields: …` names. Null for any other line. */
export function cloudFrontFields(line: string): CloudFrontFields | null {
  if (!line.startsWith(FIELDS)) return null;
  const fields = line.slice(FIELDS.length).trim().split(/\s+/);
  return NEEDED.every((name) => fields.includes(name)) ? fields : null;
}

/** Judges one line of a CloudFront standard log: fields with tabs between them, after `#` lines. Pure. */
export function parseCloudFront(line: string, fields: CloudFrontFields): LogLine {
  const values = line.split('\t');
  if (values.length !== fields.length) {
    return malformed('#Fields', `names ${fields.length}, and the line has ${values.length}`);
  }
  const value = (name: string): string => {
    const text = values[fields.indexOf(name)] ?? '-';
    return text === '-' ? '' : text;
  };
  const at = parseInstant(`${value('date')}T${value('time')}Z`);
  const [address, method, status] = [value('c-ip'), value('cs-method'), value('sc-status')];
  if (at === null) return malformed('date and time', 'they are no time');
  if (address === '') return malformed('c-ip', noAddress(address));
  if (method === '') return malformed('cs-method', 'there is none');
  // 000: the viewer closed the connection before there was a status.
  if (!/^\d{3}$/.test(status)) return malformed('sc-status', `${quoted(status)} is no status`);
  const query = value('cs-uri-query');
  return judgeRequest({
    address,
    at,
    method,
    target: value('cs-uri-stem') + (query === '' ? '' : `?${query}`),
    status: status === '000' ? 499 : Number(status),
    referrer: decoded(value('cs(Referer)')),
    userAgent: decoded(value('cs(User-Agent)')),
  });
}

/** Undoes the encoding of a field. CloudFront encodes a `%` of a header again, in old logs also its own. */
function decoded(text: string): string {
  const once = decode(text);
  return once.includes('%20') && !once.includes(' ') ? decode(once) : once;
}

function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
