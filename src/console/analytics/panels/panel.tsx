import { Button, Title } from '@mantine/core';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { LiveQuestion } from '../../../client/index.ts';
import type { Loaded } from '../../answers.ts';
import { ApiError } from '../../api.ts';
import { ErrorState, LoadingState } from '../../states.tsx';
import { useAnalytics } from '../context.ts';
import { daysOf, fileNameOf } from '../view/csv.ts';
import { useWords } from '../words.ts';
import { About, type Call } from './about.tsx';
import { Expired } from './expired.tsx';
import { asCsv, type Csv, nameOfCsv, saveCsv } from './save.ts';
import { Scroll } from './scroll.tsx';

export interface PanelProps<Q extends LiveQuestion> {
  readonly title: string;
  readonly note?: string | undefined;
  readonly about: Call<Q>;
  /** The rows of an export. `days` are those of its file's name; default: the range. */
  readonly csv: {
    readonly name: string;
    readonly days?: string;
    readonly text: () => string | Promise<Csv>;
  };
  /** Chosen figures and the like, beside the title. */
  readonly controls?: ReactNode;
  /** The same as a table, for a panel that shows a picture. */
  readonly table?: (() => ReactNode) | undefined;
  readonly isBusy: boolean;
  readonly children: ReactNode;
}

/** A titled part of the page with its meaning, its API call, its export and its table. */
export function Panel<Q extends LiveQuestion>({
  title,
  note,
  about,
  csv,
  controls,
  table,
  isBusy,
  children,
}: PanelProps<Q>) {
  const { text } = useWords();
  const [isTable, setIsTable] = useState(false);
  return (
    <section className="panel" aria-label={title} aria-busy={isBusy}>
      <header className="panel-head">
        <Title order={2} size="h4" className="panel-title">
          {title}
        </Title>
        <div className="panel-actions">
          {table !== undefined && (
            <Button
              size="compact-xs"
              variant="default"
              aria-pressed={isTable}
              onClick={() => setIsTable(!isTable)}
            >
              {text.asTable}
            </Button>
          )}
          <ExportButton title={title} csv={csv} />
          <About name={title} call={about} />
        </div>
      </header>
      {controls}
      {isTable && table !== undefined ? <Scroll label={title}>{table()}</Scroll> : children}
      {note !== undefined && <p className="hint">{note}</p>}
    </section>
  );
}

function ExportButton({
  title,
  csv: { name, days, text: make },
}: Pick<PanelProps<LiveQuestion>, 'title' | 'csv'>) {
  const { text } = useWords();
  const { appName = '', range, view } = useAnalytics();
  const [failed, setFailed] = useState(false);
  const save = async (): Promise<void> => {
    setFailed(false);
    try {
      const csv = asCsv(await make());
      saveCsv(fileNameOf(appName, nameOfCsv(name, csv), days ?? daysOf(range, view.zone)), csv);
    } catch {
      setFailed(true);
    }
  };
  return (
    <>
      {failed && (
        <span role="alert" className="failed">
          {text.exportFailed}
        </span>
      )}
      <Button
        size="compact-xs"
        variant="default"
        aria-label={text.exportCsv(title)}
        onClick={() => void save()}
      >
        {text.csv}
      </Button>
    </>
  );
}

/** The loaded figures; an error replaces them. While the next ones are loaded, they leave their room to these. */
export function Figures<T>({
  of,
  lines = 6,
  children,
}: {
  readonly of: Loaded<T>;
  readonly lines?: number;
  readonly children: (data: T) => ReactNode;
}) {
  const { data, error } = of;
  const room = useRef<HTMLDivElement>(null);
  const height = useRef(0);
  useLayoutEffect(() => {
    if (data !== undefined) height.current = room.current?.offsetHeight ?? 0;
  });
  if (error !== null) return <Failed of={of} />;
  return (
    <div
      className="figures"
      ref={room}
      style={data === undefined ? { minHeight: height.current } : undefined}
    >
      {data === undefined ? <LoadingState lines={lines} /> : children(data)}
    </div>
  );
}

/** Why there are no figures, and what can be done. */
export function Failed({ of: { error, reload } }: { readonly of: Loaded<unknown> }) {
  if (error instanceof ApiError && error.nearest !== null) return <Expired nearest={error.nearest} />;
  return <ErrorState error={error} retry={reload} />;
}
