import { errorText } from './errors.ts';
import { on } from './listen.ts';
import type { Properties } from './properties.ts';
import { isOn, type Settings } from './settings.ts';
import { clickTarget, elementName } from './targets.ts';
import type { Detail, EventType } from './wire.ts';

type Record = (type: EventType, detail: Detail) => void;
type Track = (name: string, properties?: Properties) => void;

const FILE = /\.(7z|avi|csv|dmg|docx?|exe|gz|mov|mp[34]|pdf|pkg|pptx?|rar|rtf|txt|wav|wmv|xlsx?|zip)$/i;

/** Records what people click, and which of the links, files and forms the settings count. */
export function observeClicks(record: Record, track: Track, settings: Settings): void {
  const clicked = (event: MouseEvent): void => {
    const target = event.target as Element;
    // The middle button opens a link, the right one a menu.
    if (!event.isTrusted || event.button > 1) return;
    const clickedName = event.type === 'click' && clickTarget(target);
    if (clickedName) record('click', { target: clickedName });
    const link = target.closest<HTMLAnchorElement>('a[href]');
    // Of a telephone number there is none.
    if (!link?.host) return;
    const isFile = link.hasAttribute('download') || FILE.test(link.pathname);
    const name =
      isFile && isOn(settings.fileDownloads)
        ? 'File Download'
        : link.host !== location.host && isOn(settings.outboundLinks) && 'Outbound Link: Click';
    if (name) track(name, { url: link.origin + link.pathname });
  };
  on('click', clicked, true);
  on('auxclick', clicked, true);
  if (isOn(settings.formSubmissions)) {
    const sent = (event: Event): void =>
      track('Form: Submission', { form: elementName(event.target as Element) });
    on('submit', sent, true);
  }
}

/** Reports errors that the page does not catch, each by a function that makes its text: it may take long. */
export function observeErrors(report: (text: () => string) => void): void {
  on('error', (event: ErrorEvent) => {
    const { filename } = event;
    report(() =>
      errorText(
        event.error ?? event.message,
        filename && ` at ${filename.replace(/[?#].*/, '')}:${event.lineno}:${event.colno}`,
      ),
    );
  });
  on('unhandledrejection', (event: PromiseRejectionEvent) =>
    report(() => errorText(event.reason ?? 'Rejected without a reason')),
  );
}
