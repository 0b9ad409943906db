import { Button, Input, NativeSelect, SegmentedControl, Switch, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useAnalytics } from '../context.ts';
import {
  type Choice,
  type Minutes,
  PRESETS,
  type Preset,
  periodBefore,
  rangeProblem,
} from '../view/range.ts';
import { instantOf, wallAt, wallMinute, ZONES, type Zone } from '../view/zone.ts';
import { useWords } from '../words.ts';

const CUSTOM = 'custom';

/** The choices of the person: the range, its zone, whether to compare, and a text to find. */
export function Toolbar() {
  const { view, change, range, now } = useAnalytics();
  const { text, period } = useWords();
  const { before } = useAnalytics();
  const [isCustom, setIsCustom] = useState(typeof view.choice === 'object');
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
        <div className="field">
          <Input.Label component="div" id="zone-label">
            {text.range.zone}
          </Input.Label>
          <SegmentedControl
            aria-labelledby="zone-label"
            value={view.zone}
            onChange={(zone) => change({ zone: zone as Zone })}
            data={ZONES.map((value) => ({ value, label: text.range.zones[value] }))}
          />
        </div>
        <Find />
        <Switch
          className="toolbar-switch"
          label={text.compare}
          checked={view.isCompared}
          onChange={(event) => change({ isCompared: event.currentTarget.checked })}
        />
      </div>
      {isShown && (
        <CustomRange
          key={`${range.from} ${range.to} ${view.zone}`}
          first={{ from: wallAt(range.from, view.zone), to: wallAt(range.to, view.zone) }}
          zone={view.zone}
          onChoose={(choice) => change({ choice })}
        />
      )}
      <p className="period">
        {text.period(period(range, view.zone))}
        <span>
          {(before === null ? text.againstIs : text.beforeIs)(period(periodBefore(range), view.zone))}
        </span>
        {range.to > now && <span>{text.inProgress}</span>}
      </p>
    </div>
  );
}

/** Two minutes, as clocks of the zone show them. */
function CustomRange({
  first,
  zone,
  onChoose,
}: {
  readonly first: Minutes;
  readonly zone: Zone;
  readonly onChoose: (choice: Choice) => void;
}) {
  const { text, format } = useWords();
  const [from, setFrom] = useState<string>(first.from);
  const [to, setTo] = useState<string>(first.to);
  const [problem, setProblem] = useState<string | null>(null);
  const show = (): void => {
    const minutes = { from: wallMinute(from), to: wallMinute(to) };
    if (minutes.from === null || minutes.to === null) {
      setProblem(text.range.empty);
      return;
    }
    const found = rangeProblem(minutes as Minutes);
    setProblem(found === null ? null : text.range[found]);
    if (found === null) onChoose(minutes as Minutes);
  };
  /** The date in the language's own calendar, under a field that shows the browser's. */
  const beside = (value: string): string => {
    const wall = wallMinute(value);
    return wall !== null && format.gregorian(0) !== '' ? format.dateTime(instantOf(wall, zone), zone) : '';
  };
  return (
    <form
      className="toolbar-row"
      onSubmit={(event) => {
        event.preventDefault();
        show();
      }}
    >
      <TextInput
        type="datetime-local"
        label={text.range.from}
        description={beside(from)}
        inputWrapperOrder={['label', 'input', 'description']}
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        label={text.range.to}
        description={beside(to)}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        error={problem}
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <Button type="submit" className="toolbar-apply">
        {text.range.apply}
      </Button>
    </form>
  );
}

/** How long after the last letter the lists are cut. */
const PAUSE_MS = 250;

function Find() {
  const { view, change } = useAnalytics();
  const { text } = useWords();
  const [typed, setTyped] = useState(view.find);
  const { find } = view;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the typed text is waited for.
  useEffect(() => {
    if (typed === find) return;
    const timer = setTimeout(() => change({ find: typed }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  // Back and forward in the history.
  useEffect(() => setTyped(find), [find]);
  return (
    <TextInput
      type="search"
      className="toolbar-find"
      label={text.find}
      placeholder={text.findPlaceholder}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  );
}
