import { useFormat } from '../i18n/use-text.ts';

const DAY: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'short', day: 'numeric' };
const MINUTE: Intl.DateTimeFormatOptions = { ...DAY, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/** A time in the person's own time zone; in a language with another calendar also the Gregorian day. */
export function When({ at }: { readonly at: string }) {
  const format = useFormat();
  const gregorian = format.gregorian(at, Intl.DateTimeFormat().resolvedOptions().timeZone);
  return (
    <time dateTime={at} title={at} className="when">
      <span>{format.dateWith(at, MINUTE)}</span>
      {gregorian !== '' && <span className="when-other">{gregorian}</span>}
    </time>
  );
}
