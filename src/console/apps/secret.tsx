import { Button, NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import { useDeed } from '../answers.ts';
import { ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { type Overlap, secondsOf, useOverlaps } from '../parts/choices.ts';
import { Dialog } from '../parts/dialog.tsx';
import { OwnerButton } from '../parts/owner-button.tsx';
import { Problem } from '../parts/problem.tsx';
import { useSession } from '../shell/session.tsx';
import { type App, keepSecret } from './apps.ts';

/** Makes another secret, which the snippet then holds. */
export function RotateSecret({
  app,
  onRotated,
}: {
  readonly app: App;
  readonly onRotated: (secret: string) => void;
}) {
  const { actions } = useText();
  const { secret: text } = useText().apps;
  const { mayChange } = useSession();
  const overlaps = useOverlaps();
  const [overlap, setOverlap] = useState<Overlap>('day');
  const [isDone, setIsDone] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  const deed = useDeed(() =>
    ask('POST /apps/:appId/rotate-secret', {
      params: { appId: app.id },
      body: { overlapSeconds: secondsOf(overlap) },
    }),
  );
  const rotate = async (): Promise<void> => {
    setIsDone(false);
    const made = await deed.run();
    if (made === undefined) return;
    setIsAsking(false);
    keepSecret(app.id, made.secretKey);
    onRotated(made.secretKey);
    setIsDone(true);
  };
  return (
    <>
      <div className="field-row">
        <NativeSelect
          label={text.overlap}
          data={overlaps}
          value={overlap}
          disabled={!mayChange}
          onChange={(event) => setOverlap(event.currentTarget.value as Overlap)}
        />
        <OwnerButton onClick={() => setIsAsking(true)}>{text.rotate}</OwnerButton>
      </div>
      {isAsking && (
        <Dialog title={text.title} onClose={() => setIsAsking(false)} isHeld={deed.isRunning}>
          <Text>{text.consequences[overlap === 'none' ? 'atOnce' : 'later']}</Text>
          <Problem error={deed.error} />
          <div className="buttons">
            <Button color="red" loading={deed.isRunning} onClick={() => void rotate()}>
              {text.confirm}
            </Button>
            <Button variant="default" onClick={() => setIsAsking(false)} data-autofocus>
              {actions.cancel}
            </Button>
          </div>
        </Dialog>
      )}
      <p role="status" className="said">
        {isDone && text.rotated}
      </p>
    </>
  );
}
