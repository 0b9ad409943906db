import { Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useDeed } from '../answers.ts';
import { ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { DeedForm } from '../parts/deed-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import type { App, AppLink } from './apps.ts';

export const sitesIn = (lines: string): string[] => lines.split(/[\s,]+/).filter((line) => line !== '');

interface FieldProps {
  readonly lines: string;
  readonly onChange: (lines: string) => void;
}

/** The sites that may show a link in a frame, one a line. */
export function SitesField({ lines, onChange }: FieldProps) {
  const { links: text } = useText().apps;
  return (
    <Textarea
      label={text.sites}
      description={text.sitesHint}
      value={lines}
      dir="ltr"
      spellCheck={false}
      autosize
      minRows={2}
      maxRows={10}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface ChangeProps {
  readonly app: App;
  readonly link: AppLink;
  readonly onClose: () => void;
}

export function ChangeSites({ app, link: { linkId, name, origins }, onClose }: ChangeProps) {
  const { links: text } = useText().apps;
  const [lines, setLines] = useState(origins.join('\n'));
  const deed = useDeed(() =>
    ask('PUT /apps/:appId/links/:linkId/origins', {
      params: { appId: app.id, linkId },
      body: { origins: sitesIn(lines) },
    }),
  );
  return (
    <Dialog title={text.sitesOf(name)} onClose={onClose} isHeld={deed.isRunning}>
      <DeedForm deed={deed} button={text.saveSites} onDone={onClose} onClose={onClose}>
        <Text>{text.sitesText}</Text>
        <SitesField lines={lines} onChange={setLines} />
      </DeedForm>
    </Dialog>
  );
}
