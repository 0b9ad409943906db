import { Button, NativeSelect } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useAnalytics } from '../context.ts';
import { keyOf, type List } from '../lists.ts';
import type { ListedRow } from '../panels/list-csv.ts';
import { ListRowCells, ROLES } from '../panels/list-row.tsx';
import { MoreRows } from '../panels/more-rows.tsx';
import { Scroll } from '../panels/scroll.tsx';
import { useWords } from '../words.ts';
import { columnsOf, nextOrder, type Order } from './sort.ts';

const ROWS_AT_ONCE = 100;

interface WholeTableProps {
  readonly list: List;
  readonly rows: readonly ListedRow[];
  readonly order: Order | null;
  readonly isCompared: boolean;
  readonly label: string;
  /** Something more that can be done with a row. */
  readonly more: ((row: ListedRow) => ReactNode) | undefined;
}

/** All rows of a list. The heads of its columns sort it; on a phone, where there are none, a choice does. */
export function WholeTable({ list, rows, order, isCompared, label, more }: WholeTableProps) {
  const { text } = useWords();
  const [shown, setShown] = useState(ROWS_AT_ONCE);
  const columns = columnsOf(list, isCompared);
  const figures = new Set<string>(list.figures);
  const isName = (column: string): boolean =>
    !figures.has(column) && column !== 'before' && column !== 'change';
  const nameOf = (column: string): string =>
    figures.has(column)
      ? text.labels[column as keyof typeof text.labels]
      : text.columns[column as keyof typeof text.columns];
  const most = Math.max(1, ...rows.map(({ values }) => values[0] ?? 0));
  const left = rows.length - shown;
  return (
    <>
      <SortChoice columns={columns} nameOf={nameOf} isName={isName} order={order} />
      <Scroll label={label}>
        <table {...ROLES.table} className="list list-cards list-whole">
          <thead {...ROLES.group}>
            <tr {...ROLES.row}>
              {columns.map((column) => (
                <Head
                  key={column}
                  column={column}
                  order={order}
                  isName={isName(column)}
                  label={nameOf(column)}
                />
              ))}
              {more !== undefined && (
                <th {...ROLES.column}>
                  <span className="unseen">{text.whole.more}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody {...ROLES.group}>
            {rows.slice(0, shown).map((row) => (
              <ListRowCells
                key={keyOf(row)}
                list={list}
                row={row}
                share={(row.values[0] ?? 0) / most}
                isCompared={isCompared}
                more={more?.(row)}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
      <MoreRows left={left} step={ROWS_AT_ONCE} onMore={() => setShown(shown + ROWS_AT_ONCE)} />
    </>
  );
}

interface HeadProps {
  readonly column: string;
  readonly order: Order | null;
  readonly isName: boolean;
  readonly label: string;
}

function Head({ column, order, isName, label }: HeadProps) {
  const { change } = useAnalytics();
  const isOwn = order?.column === column;
  const sort = !isOwn ? undefined : order.isDescending ? 'descending' : 'ascending';
  return (
    <th {...ROLES.column} className={isName ? undefined : 'number'} aria-sort={sort}>
      <button
        type="button"
        className="sort"
        data-sort={sort}
        onClick={() => change({ sort: nextOrder(column, order, isName) })}
      >
        {label}
        <span aria-hidden="true" className="sort-mark">
          {sort === undefined ? '↕' : sort === 'descending' ? '↓' : '↑'}
        </span>
      </button>
    </th>
  );
}

interface SortChoiceProps {
  readonly columns: readonly string[];
  readonly nameOf: (column: string) => string;
  readonly isName: (column: string) => boolean;
  readonly order: Order | null;
}

function SortChoice({ columns, nameOf, isName, order }: SortChoiceProps) {
  const { change } = useAnalytics();
  const { text } = useWords();
  return (
    <div className="sort-choice">
      <NativeSelect
        label={text.whole.sort}
        value={order?.column ?? ''}
        data={[
          ...(order === null ? [{ value: '', label: text.whole.own }] : []),
          ...columns.map((value) => ({ value, label: nameOf(value) })),
        ]}
        onChange={({ currentTarget: { value } }) =>
          change({ sort: value === '' ? '' : nextOrder(value, null, isName(value)) })
        }
      />
      {order !== null && (
        <Button
          variant="default"
          className="beside-field"
          onClick={() => change({ sort: nextOrder(order.column, order, isName(order.column)) })}
        >
          {order.isDescending ? text.whole.descending : text.whole.ascending}
        </Button>
      )}
    </div>
  );
}
