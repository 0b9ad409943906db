import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ListParams, LiveQuestion } from '../../../client/index.ts';
import type { Loaded } from '../../answers.ts';
import { folded } from '../../parts/readable.ts';
import { Link, usePath } from '../../shell/router.tsx';
import { useAnalytics, useEarlierFigures, useFigures, useInView } from '../context.ts';
import { compared, type List, listOf, mostRows, rowsOf } from '../lists.ts';
import { type Group, type ListId, searchOf, TABS } from '../view/view.ts';
import { wholeOf } from '../whole/whole-lists.ts';
import { useWords } from '../words.ts';
import { useExport } from './export-list.ts';
import type { ListedRow } from './list-csv.ts';
import { ListTable } from './list-table.tsx';
import { Figures, Panel } from './panel.tsx';

/** How many rows the page asks for. An export asks for all. */
export const ASKED_ROWS = 500;

/** Lists of one subject, one of them shown. */
export function ListGroup({ group }: { readonly group: Exclude<Group, 'places'> }) {
  const { view, change } = useAnalytics();
  const { text } = useWords();
  const id: ListId = view.tabs[group];
  return (
    <ListPanel
      key={id}
      list={listOf(id)}
      title={text.groups[group]}
      controls={
        <Tabs
          value={id}
          onChange={(tab) => change({ tabs: { ...view.tabs, [group]: tab } })}
          keepMounted={false}
          variant="pills"
        >
          <Tabs.List aria-label={text.groups[group]}>
            {TABS[group].map((tab) => (
              <Tabs.Tab key={tab} value={tab}>
                {text.lists[tab]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
      }
    />
  );
}

export interface ListPanelProps {
  readonly list: List;
  readonly title: string;
  readonly controls?: ReactNode;
  /** Something above the list that shows its rows too. */
  readonly picture?: (rows: readonly ListedRow[]) => ReactNode;
}

/** A list with its export. */
export function ListPanel({ list, title, controls, picture }: ListPanelProps) {
  const { view, params, before, overview } = useAnalytics();
  const path = usePath();
  const { text, format, name } = useWords();
  const { ref, isInView } = useInView<HTMLDivElement>();
  const { current, rows, mostListed } = useRows(list, isInView);
  const exported = useExport(wholeOf(list.id));
  const isOverview = list.question === 'getExtendedOverview';
  const written = (row: ListedRow): string =>
    row.names
      .map((part, i) => name(list.kind === 'place' && i === 2 ? 'country' : list.kind, part))
      .join(' ');
  const wish = folded(view.find.trim());
  const found =
    wish === ''
      ? rows
      : rows?.filter((row) => folded(`${written(row)} ${row.names.join(' ')}`).includes(wish));
  const isCut = rows !== undefined && rows.length >= mostListed;
  const note = isOverview
    ? isCut
      ? text.firstTen
      : undefined
    : isCut
      ? text.firstRows(format.number(mostListed))
      : undefined;
  return (
    <div ref={ref}>
      <Panel
        title={title}
        note={note}
        about={{
          question: list.question as LiveQuestion,
          params,
          figures: list.figures,
        }}
        csv={{ name: list.id, text: exported }}
        controls={controls}
        isBusy={isOverview ? overview.isLoading : current.isLoading}
      >
        <Figures of={{ ...current, data: found }} lines={12}>
          {(shown) => (
            <div className={picture === undefined ? undefined : 'beside'}>
              {picture?.(shown)}
              <div>
                <ListTable
                  list={list}
                  rows={shown}
                  isCompared={before !== null}
                  isFiltered={wish !== ''}
                  label={text.lists[list.id]}
                />
                <Link
                  className="show-all"
                  to={`${path}${searchOf({ ...view, list: list.id })}`}
                  aria-label={text.whole.showAllOf(text.lists[list.id])}
                >
                  {text.whole.showAll}
                </Link>
              </div>
            </div>
          )}
        </Figures>
      </Panel>
    </div>
  );
}

/** The rows of a list, with those of the period before if the person compares. */
function useRows(list: List, isInView: boolean) {
  const { params, before, overview, overviewBefore, version } = useAnalytics();
  const isOverview = list.question === 'getExtendedOverview';
  const question = isOverview ? 'getDataBounds' : list.question;
  const limited = (of: ListParams): ListParams | null => {
    if (isOverview) return null;
    return list.question === 'listUtmCampaigns' ? of : { ...of, limit: ASKED_ROWS };
  };
  const own = useFigures(question, limited(params), version, { isAsked: isInView });
  const ownBefore = useEarlierFigures(question, before === null ? null : limited(before.params), version, {
    isAsked: isInView,
    like: before?.like,
  });
  const current: Loaded<unknown> = isOverview ? overview : own;
  const previous: Loaded<unknown> = isOverview ? overviewBefore : ownBefore;
  const mostListed = mostRows(list, ASKED_ROWS);
  const rows = current.data === undefined ? undefined : rowsOf(list, current.data);
  const earlier = before === null || previous.data === undefined ? null : rowsOf(list, previous.data);
  const listed: readonly ListedRow[] | undefined =
    rows === undefined || earlier === null ? rows : compared(rows, earlier, mostListed);
  return { current, rows: listed, mostListed };
}
