import { Fragment, type ReactNode, useState } from 'react';
import { useAnalytics } from '../context.ts';
import { filtersOfList, type List } from '../lists.ts';
import { type FilterBy, filtersOf, filterValue, segmentOf, withValue } from '../view/filters.ts';
import { useWords } from '../words.ts';

/** The cells that name a row, each of which filters the page by what it names. */
export function Names({
  list,
  names,
  share,
}: {
  readonly list: List;
  readonly names: readonly (string | null)[];
  readonly share: number;
}) {
  const { name, text, format } = useWords();
  const bar = { '--share': `${(share * 100).toFixed(1)}%` } as React.CSSProperties;
  if (list.kind === 'place') {
    const [city, region, country] = names;
    const known = filtersOfList(list).flatMap((by, i) => {
      const part = names[i] ?? '';
      return part === '' ? [] : [{ by, value: part }];
    });
    const place = [...new Set([city, region])]
      .filter((part): part is string => typeof part === 'string' && part !== '')
      .map((part) => name('place', part));
    const land = typeof country === 'string' && country !== '' ? format.country(country) : '';
    const [shown, side] =
      place.length === 0 ? [land === '' ? text.none : land, ''] : [place.join(', '), land];
    return (
      <th scope="row" className="name" style={bar}>
        <Filtering by={known}>
          <bdi>{shown}</bdi>
        </Filtering>{' '}
        <span className="name-side">{side}</span>
      </th>
    );
  }
  return names.map((part, i) =>
    i === 0 ? (
      <th scope="row" key={list.parts[i]} className="name" style={bar}>
        <Name list={list} raw={part} by={filtersOfList(list)[i]}>
          {name(list.kind, part)}
        </Name>
      </th>
    ) : (
      <td
        key={list.parts[i]}
        className="name-part"
        data-label={text.columns[list.parts[i] as keyof typeof text.columns]}
        data-empty={part === null}
      >
        {part === null ? (
          <span className="name-side">–</span>
        ) : (
          <Filtering by={wantedOf(filtersOfList(list)[i], part)}>
            <bdi>{part}</bdi>
          </Filtering>
        )}
      </td>
    ),
  );
}

/** A name as people read it, with the raw text on demand. */
function Name({
  list: { kind },
  raw,
  by,
  children: shown,
}: {
  readonly list: List;
  readonly by: FilterBy | undefined;
  readonly raw: string | null;
  readonly children: string;
}) {
  const { text } = useWords();
  const [isRaw, setIsRaw] = useState(false);
  const hasRaw = raw !== null && raw !== shown && (kind === 'path' || kind === 'host');
  const written = isRaw && raw !== null ? raw : shown;
  return (
    <>
      <Filtering by={wantedOf(by, raw)}>
        {kind === 'path' ? <Path>{written}</Path> : <bdi>{written}</bdi>}
      </Filtering>
      {hasRaw && (
        <button
          type="button"
          className="raw"
          title={raw}
          aria-label={text.rawOf(shown)}
          aria-pressed={isRaw}
          onClick={() => setIsRaw(!isRaw)}
        >
          {text.raw}
        </button>
      )}
    </>
  );
}

interface Wanted {
  readonly by: FilterBy;
  readonly value: string;
}

/** What a name filters by; nothing if it cannot. */
function wantedOf(by: FilterBy | undefined, name: string | null): readonly Wanted[] {
  const value = by === undefined ? null : filterValue(by, name);
  return by === undefined || value === null ? [] : [{ by, value }];
}

/** A name that filters the page by all that it names. */
function Filtering({
  by: wanted,
  children,
}: {
  readonly by: readonly Wanted[];
  readonly children: ReactNode;
}) {
  const { view, change } = useAnalytics();
  const { text } = useWords();
  if (wanted.length === 0) return children;
  const filter = (): void => {
    const filters = wanted.reduce((all, { by, value }) => withValue(all, by, value), filtersOf(view.segment));
    change({ segment: segmentOf(filters) });
  };
  return (
    <button
      type="button"
      className="filtering"
      title={text.filterBy(wanted.map(({ by }) => text.filters[by]).join(', '))}
      onClick={filter}
    >
      {children}
    </button>
  );
}

/** Its parts follow each other from left to right in every language, also those that are written from the right. */
const Path = ({ children }: { readonly children: string }) => (
  <bdi dir="ltr">
    {children.split('/').map((part, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is known by its place.
      <Fragment key={i}>
        {i > 0 && '/'}
        {/[^\p{ASCII}]/u.test(part) ? <bdi>{part}</bdi> : part}
      </Fragment>
    ))}
  </bdi>
);
