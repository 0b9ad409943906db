import { ActionIcon, Anchor, Button, CopyButton, Popover } from '@mantine/core';
import type { FigureName } from '../../../answers/figures.ts';
import type { LiveQuestion, Params } from '../../../client/index.ts';
import { useLink } from '../../link/context.ts';
import { curlOf } from '../curl.ts';
import { useWords } from '../words.ts';

/** The question behind some figures. */
export interface Call<Q extends LiveQuestion> {
  readonly question: Q;
  readonly params: Params<Q>;
  readonly figures: readonly FigureName[];
}

/** A button that shows the meaning of figures, and the call of the API that gives them. */
export function About<Q extends LiveQuestion>({
  name,
  call,
}: {
  readonly name: string;
  readonly call: Call<Q>;
}) {
  const { text } = useWords();
  return (
    <Popover width={340} position="bottom-end" shadow="md" withinPortal trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" className="about" aria-label={text.about(name)}>
          <svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true">
            <circle cx="10" cy="10" r="7.5" fill="none" stroke="currentColor" strokeWidth="1.6" />
            <path
              d="M10 9v5M10 6v.5"
              fill="none"
              stroke="currentColor"
              strokeWidth="1.8"
              strokeLinecap="round"
            />
          </svg>
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={text.about(name)}>
        <Explained call={call} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Explained<Q extends LiveQuestion>({
  call: { question, params, figures },
}: {
  readonly call: Call<Q>;
}) {
  const { text } = useWords();
  const curl = curlOf(location.origin, question, params);
  return (
    <div className="explained">
      <dl>
        {figures.map((figure) => (
          <div key={figure}>
            <dt>{text.labels[figure]}</dt>
            <dd>{text.meanings[figure]}</dd>
          </div>
        ))}
      </dl>
      {/* Somebody who opened a link has no key. */}
      {useLink() === null && (
        <>
          <div className="explained-title">{text.call}</div>
          <div className="hint">{text.callText}</div>
          <pre dir="ltr" className="curl">
            <code>{curl}</code>
          </pre>
        </>
      )}
      <div className="explained-foot">
        {useLink() === null && (
          <CopyButton value={curl}>
            {({ copied, copy }) => (
              <Button size="compact-xs" variant="default" onClick={copy}>
                {copied ? text.copied : text.copyCall}
              </Button>
            )}
          </CopyButton>
        )}
        <Anchor size="sm" href={`/docs/figures#${question}`}>
          {text.meaningOfAll}
        </Anchor>
      </div>
    </div>
  );
}
