import { Button, NativeSelect } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { ListParams, LiveQuestion, Params } from '../../../client/index.ts';
import { useSpeech } from '../../i18n/use-text.ts';
import { folded } from '../../parts/readable.ts';
import { Link, usePath } from '../../shell/router.tsx';
import { type Analytics, useAnalytics, useEarlierFigures, useFigures } from '../context.ts';
import { compared, type List, mostGiven, mostRows, rowsOf } from '../lists.ts';
import { useExport } from '../panels/export-list.ts';
import { Find } from '../panels/find.tsx';
import type { ListedRow } from '../panels/list-csv.ts';
import { Figures, Panel } from '../panels/panel.tsx';
import { MORE_LISTS, searchOf, TABS, type View, type WholeId } from '../view/view.ts';
import { useWords } from '../words.ts';
import { PropertyChoice } from './properties.tsx';
import { columnsOf, orderOf, sorted } from './sort.ts';
import { wholeIn } from './whole-lists.ts';
import { WholeTable } from './whole-table.tsx';

/** The most that the API gives to a question with a limit. An export has all rows. */
const MOST_ROWS = 10_000;
/** A view without a whole list. */
const NO_LIST = { list: null, sort: '', event: '', property: '', find: '' } as const;

/** One list with all its rows, in the place of the panels. */
export function WholeList() {
  const { view, change, before } = useAnalytics();
  const { text, format } = useWords();
  const { locale } = useSpeech().language;
  const list = wholeIn(view);
  const top = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the button that led to the properties of an event is gone.
  useEffect(() => {
    top.current?.focus();
    window.scrollTo(0, 0);
  }, [view.event]);
  const { current, rows, cutAt } = useWholeRows(list);
  const asked = useAsked(list);
  const exported = useExport(list);
  const written = useWritten(list);
  const wish = folded(view.find.trim());
  const found = rows?.filter((row) =>
    folded(
      `${row.names.map((_, part) => written(row, part) ?? '').join(' ')} ${row.names.join(' ')}`,
    ).includes(wish),
  );
  const order = orderOf(view.sort, columnsOf(list, before !== null));
  const shown = found === undefined ? undefined : sorted(found, list, order, { name: written, locale });
  const title = view.event === '' ? text.lists[list.id] : text.whole.propertiesOf(view.event);
  const isChoosing = view.event !== '' && view.property === '';
  const count = (of: readonly unknown[]): string => format.number(of.length);
  return (
    <div className="whole" ref={top} tabIndex={-1}>
      <Link to={`${usePath()}${searchOf({ ...view, ...NO_LIST })}`}>{text.whole.back}</Link>
      <Panel
        title={title}
        about={{
          question: list.question as LiveQuestion,
          params: asked as Params<LiveQuestion>,
          figures: list.figures,
        }}
        csv={{ name: view.property === '' ? list.id : 'properties', text: exported }}
        controls={
          <>
            <div className="whole-controls">
              <ListChoice />
              <Find label={text.whole.find} />
            </div>
            {view.event !== '' && <PropertyChoice />}
          </>
        }
        isBusy={!isChoosing && current.isLoading}
      >
        {isChoosing ? (
          <p className="nothing">{text.whole.choose}</p>
        ) : (
          <Figures of={{ ...current, data: shown }} lines={16}>
            {(all) => (
              <>
                <p className="hint" role="status">
                  {wish === ''
                    ? text.whole.rows(count(all))
                    : text.whole.found(count(all), count(rows ?? []))}
                </p>
                {cutAt !== null && (
                  <p className="hint">
                    {(cutAt === mostGiven(list) ? text.whole.cutForAll : text.whole.cut)(
                      format.number(cutAt),
                    )}
                  </p>
                )}
                {all.length === 0 ? (
                  <p className="nothing">{wish === '' ? text.nothing : text.nothingFound(view.find)}</p>
                ) : (
                  <WholeTable
                    key={`${list.id} ${view.property}`}
                    list={list}
                    rows={all}
                    order={order}
                    isCompared={before !== null}
                    label={title}
                    more={
                      view.list === 'customEvents' && view.event === ''
                        ? (row) => <Properties of={row} change={change} />
                        : undefined
                    }
                  />
                )}
              </>
            )}
          </Figures>
        )}
      </Panel>
    </div>
  );
}

/** The question of a list, without a limit. */
function useAsked(list: List): ListParams {
  const { params } = useAnalytics();
  return { ...params, ...('asks' in list ? list.asks : {}) };
}

function useWholeRows(list: List) {
  const { view, before, version } = useAnalytics();
  const question = list.question as 'listPageviews';
  const most = mostRows(list, MOST_ROWS);
  const limit = list.question === 'listUtmCampaigns' ? {} : { limit: MOST_ROWS };
  const asked = { ...useAsked(list), ...limit };
  const isAsked = view.event === '' || view.property !== '';
  const current = useFigures(question, isAsked ? asked : null, version);
  const askedBefore = before === null || !isAsked ? null : { ...asked, ...before.params };
  const key = JSON.stringify('asks' in list ? list.asks : list.id);
  const previous = useEarlierFigures(question, askedBefore, version, {
    like: before === null ? undefined : `${before.like} ${key}`,
  });
  const rows = current.data === undefined ? undefined : rowsOf(list, current.data);
  const earlier = previous.data === undefined ? null : rowsOf(list, previous.data);
  const listed: readonly ListedRow[] | undefined =
    rows === undefined || earlier === null ? rows : compared(rows, earlier, most);
  return { current, rows: listed, cutAt: rows !== undefined && rows.length >= most ? most : null };
}

/** The parts of a row's name as people read them; null for an absent one. */
function useWritten({ kind, parts }: List): (row: ListedRow, part: number) => string | null {
  const { name } = useWords();
  return ({ names }, part) => {
    const raw = names[part] ?? null;
    if (raw === null || raw === '' || raw === '(none)') return null;
    if (kind === 'place') return name(parts.length > 1 && part === 2 ? 'country' : kind, raw);
    return name(part === 0 ? kind : 'text', raw);
  };
}

/** Leads to another list, with the same filters. */
function ListChoice() {
  const { view, change } = useAnalytics();
  const { text } = useWords();
  const item = (value: WholeId) => ({ value, label: text.lists[value] });
  const groups = [
    ...(Object.keys(TABS) as (keyof typeof TABS)[]).map((group) => ({
      group: text.groups[group],
      items: TABS[group].map(item),
    })),
    { group: text.groups.more, items: (['campaigns', ...MORE_LISTS] as const).map(item) },
  ];
  return (
    <NativeSelect
      label={text.whole.list}
      value={view.list ?? ''}
      data={groups}
      onChange={({ currentTarget: { value } }) => change({ ...NO_LIST, list: value as WholeId })}
    />
  );
}

/** Leads to the properties of a custom event. */
function Properties({
  of: { names },
  change,
}: {
  readonly of: ListedRow;
  readonly change: Analytics['change'];
}) {
  const { text } = useWords();
  const [event] = names;
  if (typeof event !== 'string') return null;
  const next: Partial<View> = { event, property: '', sort: '', find: '' };
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={text.whole.propertiesOf(event)}
      onClick={() => change(next)}
    >
      {text.whole.properties}
    </Button>
  );
}
