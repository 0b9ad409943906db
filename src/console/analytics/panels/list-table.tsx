import { Button } from '@mantine/core';
import { Fragment, type ReactNode, useState } from 'react';
import { changeOf } from '../changes.ts';
import { useAnalytics } from '../context.ts';
import { FILTERS, keyOf, type List } from '../lists.ts';
import { type FilterBy, filtersOf, filterValue, segmentOf, withValue } from '../view/filters.ts';
import { useWords } from '../words.ts';
import { ChangeMark } from './change-mark.tsx';
import type { ListedRow } from './list-csv.ts';
import { Scroll } from './scroll.tsx';

const FIRST_ROWS = 10;
const MORE_ROWS = 50;
/** Named, because browsers drop the roles of a table with another `display`, which wide lists have on a phone. */
const ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  column: { role: 'columnheader', scope: 'col' },
  name: { role: 'rowheader', scope: 'row' },
  cell: { role: 'cell' },
} as const;

export interface ListTableProps {
  readonly list: List;
  readonly rows: readonly ListedRow[];
  readonly isCompared: boolean;
  readonly isFiltered: boolean;
  readonly label: string;
}

/** A list as a table; behind each name a bar as long as its first value. */
export function ListTable({ list, rows, isCompared, isFiltered, label }: ListTableProps) {
  const { text, format, figure } = useWords();
  const { view } = useAnalytics();
  const [shown, setShown] = useState(FIRST_ROWS);
  const names = list.kind === 'place' ? ['place'] : list.parts;
  if (rows.length === 0) {
    return <p className="nothing">{isFiltered ? text.nothingFound(view.find) : text.nothing}</p>;
  }
  const most = Math.max(1, ...rows.map(({ values }) => values[0] ?? 0));
  const left = rows.length - shown;
  return (
    <>
      <Scroll label={label}>
        <table {...ROLES.table} className={names.length > 1 ? 'list list-wide' : 'list'}>
          <thead {...ROLES.group}>
            <tr {...ROLES.row}>
              {names.map((part) => (
                <th {...ROLES.column} key={part}>
                  {text.columns[part as keyof typeof text.columns]}
                </th>
              ))}
              {list.figures.map((name) => (
                <th {...ROLES.column} key={name} className="number">
                  {text.labels[name]}
                </th>
              ))}
              {isCompared && (
                <>
                  <th {...ROLES.column} className="number">
                    {text.columns.before}
                  </th>
                  <th {...ROLES.column} className="number">
                    {text.columns.change}
                  </th>
                </>
              )}
            </tr>
          </thead>
          <tbody {...ROLES.group}>
            {rows.slice(0, shown).map((row) => (
              <Row
                key={keyOf(row)}
                list={list}
                row={row}
                share={(row.values[0] ?? 0) / most}
                isCompared={isCompared}
                figure={figure}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
      {left > 0 && (
        <Button
          size="compact-sm"
          variant="subtle"
          className="more"
          onClick={() => setShown(shown + MORE_ROWS)}
        >
          {text.showMore(format.number(Math.min(left, MORE_ROWS)))}
        </Button>
      )}
    </>
  );
}

function Row({
  list,
  row: { names, values, before },
  share,
  isCompared,
  figure,
}: {
  readonly list: List;
  readonly row: ListedRow;
  readonly share: number;
  readonly isCompared: boolean;
  readonly figure: ReturnType<typeof useWords>['figure'];
}) {
  const { text } = useWords();
  const [first] = list.figures;
  const previous = before?.[0] ?? null;
  return (
    <tr {...ROLES.row}>
      <Names list={list} names={names} share={share} />
      {list.figures.map((name, i) => (
        <td {...ROLES.cell} key={name} className="number" data-label={text.labels[name]}>
          {figure(name, values[i] ?? 0)}
        </td>
      ))}
      {isCompared && first !== undefined && (
        <>
          <td {...ROLES.cell} className="number" data-label={text.columns.before}>
            {previous === null ? '–' : figure(first, previous)}
          </td>
          <td {...ROLES.cell} className="number" data-label={text.columns.change}>
            <ChangeMark figure={first} change={changeOf(values[0] ?? 0, previous)} />
          </td>
        </>
      )}
    </tr>
  );
}

function Names({
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
    const known = FILTERS[list.id].flatMap((by, i) => {
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
      <th {...ROLES.name} className="name" style={bar}>
        <Filtering by={known}>
          <bdi>{shown}</bdi>
        </Filtering>{' '}
        <span className="name-side">{side}</span>
      </th>
    );
  }
  return names.map((part, i) =>
    i === 0 ? (
      <th {...ROLES.name} key={list.parts[i]} className="name" style={bar}>
        <Name list={list} raw={part} by={FILTERS[list.id][i]}>
          {name(list.kind, part)}
        </Name>
      </th>
    ) : (
      <td
        {...ROLES.cell}
        key={list.parts[i]}
        className="name-part"
        data-label={text.columns[list.parts[i] as keyof typeof text.columns]}
        data-empty={part === null}
      >
        {part === null ? (
          <span className="name-side">–</span>
        ) : (
          <Filtering by={wantedOf(FILTERS[list.id][i], part)}>
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
