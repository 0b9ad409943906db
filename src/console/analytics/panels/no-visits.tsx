import { Button } from '@mantine/core';
import { useText } from '../../i18n/use-text.ts';
import { useIsNarrowed, useLink } from '../../link/context.ts';
import { Link } from '../../shell/router.tsx';
import { EmptyState, Shown } from '../../states.tsx';
import { useAnalytics, useFigures } from '../context.ts';
import { minutesOf, rangeOf } from '../view/range.ts';
import { useWords } from '../words.ts';

/** The range has no visits: offers the days that have some, or the app's settings if it never had any. */
export function NoVisits() {
  const { appId, version, view, change } = useAnalytics();
  const { text } = useWords();
  const isNarrowed = useIsNarrowed();
  const bounds = useFigures('getDataBounds', isNarrowed ? null : { appId }, version);
  if (view.segment !== '') {
    return (
      <EmptyState
        title={text.noneFits}
        action={
          <Button variant="default" onClick={() => change({ segment: '' })}>
            {text.noFilters}
          </Button>
        }
      >
        {text.noneFitsText}
      </EmptyState>
    );
  }
  if (isNarrowed) return <EmptyState title={text.noData} />;
  return (
    <Shown of={bounds}>
      {({ oldest, newest }) =>
        oldest === null || newest === null ? (
          <NoData />
        ) : (
          <OtherRange oldest={Date.parse(oldest)} newest={Date.parse(newest)} />
        )
      }
    </Shown>
  );
}

function NoData() {
  const { appId } = useAnalytics();
  const { text } = useWords();
  const { apps } = useText();
  if (useLink() !== null) return <EmptyState title={text.noVisits} />;
  return (
    <EmptyState
      title={text.noVisits}
      action={<Link to={`/dashboard/apps/${appId}/settings`}>{apps.settings}</Link>}
    >
      {text.noVisitsText}
    </EmptyState>
  );
}

function OtherRange({ oldest, newest }: { readonly oldest: number; readonly newest: number }) {
  const { view, change, now } = useAnalytics();
  const { text, period } = useWords();
  const choice = minutesOf(oldest, newest, view.zone);
  const range = period(rangeOf(choice, view.zone, now), view.zone);
  return (
    <EmptyState
      title={text.noData}
      action={
        <Button variant="default" onClick={() => change({ choice })}>
          {text.noDataAction(range)}
        </Button>
      }
    >
      {text.noDataText}
    </EmptyState>
  );
}
