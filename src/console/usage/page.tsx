import { NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import { useAnswer } from '../answers.ts';
import type { Answer } from '../api.ts';
import { BarChart } from '../chart/bar-chart.tsx';
import { useFormat, useSpeech, useText } from '../i18n/use-text.ts';
import { PageHead } from '../parts/page-head.tsx';
import { Link } from '../shell/router.tsx';
import { EmptyState, Shown } from '../states.tsx';
import { added, type Hour, type KeyUsage } from './hours.ts';
import { UsageTable } from './table.tsx';

const ALL = '';

/** The requests of each key in the last 24 hours, against its limit. */
export function UsagePage() {
  const { usage: text } = useText();
  const format = useFormat();
  const usage = useAnswer('GET /usage');
  return (
    <>
      <PageHead title={text.title}>
        {usage.data !== undefined && text.intro(format.number(usage.data.requestsPerMinute))}
      </PageHead>
      <Shown of={usage}>
        {(answer) =>
          answer.keys.length === 0 ? (
            <EmptyState title={text.none} action={<Link to="/dashboard/api-keys">{text.toKeys}</Link>}>
              {text.noneText}
            </EmptyState>
          ) : (
            <Usage of={answer} />
          )
        }
      </Shown>
    </>
  );
}

function Usage({ of: { keys, requestsPerMinute } }: { readonly of: Answer<'GET /usage'> }) {
  const { usage: text, keys: keyText } = useText();
  const [chosen, setChosen] = useState(ALL);
  const isAlone = (name: string): boolean => keys.filter((key) => key.name === name).length === 1;
  // A rotated key has the same name as the one before.
  const nameOf = ({ name, keyId }: KeyUsage): string =>
    name !== null && isAlone(name) ? name : `${name ?? keyText.unnamed} (${keyId.slice(0, 8)})`;
  const shown = keys.filter(({ keyId }) => chosen === ALL || keyId === chosen);
  const hours = added(shown.map((key) => key.hours));
  const isLimited = keys.some((key) => key.hours.some(({ limited }) => limited > 0));
  const choices = keys.map((key) => ({ value: key.keyId, label: nameOf(key) }));
  const title = choices.find(({ value }) => value === chosen)?.label ?? text.all;
  return (
    <div className="sections">
      <div className="usage-chart">
        <NativeSelect
          label={text.key}
          value={chosen}
          data={[{ value: ALL, label: text.all }, ...choices]}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
        <HoursChart hours={hours} label={text.chart(title)} />
        <ul className="legend">
          <li className="tip-first">{text.answered}</li>
          <li className="tip-bad">{text.limited}</li>
        </ul>
        <Text size="sm" c="dimmed">
          {text.late}
        </Text>
      </div>
      {isLimited && (
        <Text className="note" component="p">
          {text.tooMany}
        </Text>
      )}
      <UsageTable keys={keys} nameOf={nameOf} requestsPerMinute={requestsPerMinute} />
    </div>
  );
}

function HoursChart({ hours, label }: { readonly hours: readonly Hour[]; readonly label: string }) {
  const { usage: text } = useText();
  const { language } = useSpeech();
  const format = useFormat();
  const at = (hour: string, options: Intl.DateTimeFormatOptions): string =>
    format.dateWith(hour, { ...options, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return (
    <BarChart
      label={label}
      isRtl={language.direction === 'rtl'}
      labels={hours.map(({ hour }) => ({
        short: at(hour, {}),
        long: at(hour, { day: 'numeric', month: 'short' }),
      }))}
      parts={[
        {
          name: text.answered,
          colour: 'first',
          values: hours.map(({ requests, limited }) => requests - limited),
        },
        { name: text.limited, colour: 'bad', values: hours.map(({ limited }) => limited) },
      ]}
      format={(value) => format.number(value)}
    />
  );
}
