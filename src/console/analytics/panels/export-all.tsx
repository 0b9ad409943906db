import { Button } from '@mantine/core';
import { useState } from 'react';
import { useAnalytics } from '../context.ts';
import { daysOf, fileNameOf } from '../view/csv.ts';
import { useWords } from '../words.ts';
import { saveFile } from './save.ts';

interface Progress {
  readonly done: number;
  readonly all: number;
}

/** Exports every panel and every whole list as one zip. */
export function ExportAll() {
  const analytics = useAnalytics();
  const { text, format } = useWords();
  const [progress, setProgress] = useState<Progress | null>(null);
  const [failed, setFailed] = useState(false);
  const run = async (): Promise<void> => {
    if (progress !== null) return;
    setFailed(false);
    setProgress({ done: 0, all: 0 });
    try {
      const { everything } = await import('../export/everything.ts');
      const zip = await everything(analytics, (done, all) => setProgress({ done, all }));
      const { appName = '', range, view } = analytics;
      saveFile(`${fileNameOf(appName, 'all', daysOf(range, view.zone))}.zip`, zip);
    } catch {
      setFailed(true);
    } finally {
      setProgress(null);
    }
  };
  const isCounting = progress !== null && progress.all > 0;
  return (
    <>
      {failed && (
        <span role="alert" className="failed">
          {text.exportFailed}
        </span>
      )}
      <Button
        size="compact-sm"
        variant="default"
        className="export-all"
        title={text.everything.exportText}
        aria-busy={progress !== null}
        onClick={() => void run()}
      >
        {isCounting
          ? text.everything.running(format.number(progress.done), format.number(progress.all))
          : text.everything.export}
      </Button>
    </>
  );
}
