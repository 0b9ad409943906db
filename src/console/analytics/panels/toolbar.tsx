import { Button, NativeSelect, Switch } from '@mantine/core';
import { useMemo, useRef, useState } from 'react';
import type { KpiComparison } from '../../../client/index.ts';
import { useAnalytics } from '../context.ts';
import { useSavedSegments } from '../segments.ts';
import { AGAINST, type Against } from '../view/against.ts';
import { type Minutes, PRESETS, type Preset, type Range } from '../view/range.ts';
import { allZones, MINUTE_MS, ownZone, TEHRAN, UTC, wallAt, type Zone } from '../view/zone.ts';
import { useWords } from '../words.ts';
import { useLack } from './change-mark.tsx';
import { Chips } from './chips.tsx';
import { CustomRange } from './custom-range.tsx';
import { Find } from './find.tsx';
import { PeriodSteps } from './period-steps.tsx';
import { SaveFilters, SegmentChoice } from './segments.tsx';

const CUSTOM = 'custom';

interface ToolbarProps {
  /** The bounds of the other period whose figures are shown. */
  readonly compared: Pick<KpiComparison['current'], 'from' | 'to'> | undefined;
}

/** The choices of the person: the range, its zone, what to compare it with, and a text to find. */
export function Toolbar({ compared }: ToolbarProps) {
  const { view, change, range } = useAnalytics();
  const { text } = useWords();
  const saved = useSavedSegments();
  const [isCustom, setIsCustom] = useState(false);
  const [isOpen, setIsOpen] = useState(false);
  const isShown = isCustom || typeof view.choice === 'object';
  const choose = (value: string): void => {
    setIsCustom(value === CUSTOM);
    if (value !== CUSTOM) change({ choice: value as Preset });
  };
  return (
    <div className="toolbar">
      <div className="toolbar-row">
        <NativeSelect
          label={text.range.label}
          value={isShown ? CUSTOM : (view.choice as Preset)}
          onChange={(event) => choose(event.currentTarget.value)}
          data={[
            ...PRESETS.map((value) => ({ value, label: text.range.presets[value] })),
            { value: CUSTOM, label: text.range.custom },
          ]}
        />
        <PeriodSteps />
        <Button
          variant="default"
          className="toolbar-open"
          aria-expanded={isOpen}
          aria-controls="choices"
          onClick={() => setIsOpen(!isOpen)}
        >
          {text.choices}
        </Button>
        <div className="toolbar-more" id="choices" data-open={isOpen}>
          <ZoneChoice />
          <AgainstChoice />
          {view.list === null && <Find label={text.find} />}
        </div>
      </div>
      {isShown && (
        <CustomRange
          key={`${range.from} ${range.to} ${view.zone}`}
          first={minutesIn(range, view.zone)}
          onChoose={(choice) => change({ choice })}
        />
      )}
      {view.against === 'custom' && view.againstMinutes !== null && (
        <CustomRange
          key={`${view.againstMinutes.from} ${view.againstMinutes.to}`}
          title={text.againstCustom}
          first={view.againstMinutes}
          onChoose={(againstMinutes) => change({ againstMinutes })}
        />
      )}
      <div className="filters">
        <SegmentChoice saved={saved} />
        <Chips />
        <SaveFilters saved={saved} />
      </div>
      <PeriodLine compared={compared} />
    </div>
  );
}

const minutesIn = ({ from, to }: Range, zone: Zone): Minutes => ({
  from: wallAt(from, zone),
  to: wallAt(to, zone),
});

/** The minutes that are shown, and those that they are compared with. */
function PeriodLine({ compared }: ToolbarProps) {
  const { view, range, against, now } = useAnalytics();
  const { text, period } = useWords();
  const lack = useLack();
  // While the next minute of it is on its way, the figures are those of the one before, and so are these words.
  const bounds = against === null || compared === undefined ? null : boundsOf(compared);
  const said = useSaid(period(range, view.zone));
  return (
    <p className="period">
      <span className="unseen" role="status">
        {said}
      </span>
      <span>{text.period(period(range, view.zone))}</span>
      {bounds !== null && <span>{text.againstIs(period(bounds, view.zone))}</span>}
      {bounds !== null && range.from < now && range.to > now && (
        <span className="period-note">{text.inProgress}</span>
      )}
      {lack !== null && <span>{text.lacks(lack)}</span>}
    </p>
  );
}

/** Says the period to screen readers when another one was chosen, be it by a key. */
function useSaid(period: string): string {
  const { view } = useAnalytics();
  const first = useRef(view.choice);
  const isOther = useRef(false);
  isOther.current ||= first.current !== view.choice;
  return isOther.current ? period : '';
}

const boundsOf = ({ from, to }: Pick<KpiComparison['current'], 'from' | 'to'>): Range => ({
  from: Date.parse(from),
  to: Date.parse(to),
});

function ZoneChoice() {
  const { view, change } = useAnalytics();
  const { text } = useWords();
  const groups = useMemo(() => {
    const near = [...new Set([UTC, TEHRAN, ownZone(), view.zone])];
    const label = (value: Zone) => ({ value, label: text.range.zones[value] ?? value.replaceAll('_', ' ') });
    const others = [...new Set(allZones())].filter((zone) => !near.includes(zone));
    return [
      { group: text.range.nearZones, items: near.map(label) },
      { group: text.range.allZones, items: others.map(label) },
    ];
  }, [text, view.zone]);
  return (
    <NativeSelect
      className="toolbar-zone"
      label={text.range.zone}
      value={view.zone}
      data={groups}
      onChange={(event) => change({ zone: event.currentTarget.value })}
    />
  );
}

function AgainstChoice() {
  const { view, change, range } = useAnalytics();
  const { text } = useWords();
  const choose = (against: Against): void => {
    const length = range.to + 1 - range.from;
    const earlier = { from: range.from - length, to: range.from - MINUTE_MS };
    const againstMinutes = view.againstMinutes ?? minutesIn(earlier, view.zone);
    change(against === 'custom' ? { against, againstMinutes } : { against });
  };
  return (
    <>
      <NativeSelect
        label={text.compare}
        value={view.against}
        data={AGAINST.map((value) => ({ value, label: text.against[value] }))}
        onChange={(event) => choose(event.currentTarget.value as Against)}
      />
      <Switch
        className="toolbar-switch"
        label={text.beside}
        checked={view.isCompared && view.against !== 'none'}
        disabled={view.against === 'none'}
        onChange={(event) => change({ isCompared: event.currentTarget.checked })}
      />
    </>
  );
}
