import { Badge, Button, NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import { useAnswer } from '../answers.ts';
import type { Answer } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { When } from '../parts/when.tsx';
import { EmptyState, Shown } from '../states.tsx';

type Entry = Answer<'GET /audit'>[number];

/** The kinds of entries, by the beginnings of their actions. */
const KINDS = {
  all: [''],
  key: ['key.'],
  app: ['app.'],
  account: ['account.', 'segment.'],
  people: ['member.', 'link.', 'session.'],
} as const;
type Kind = keyof typeof KINDS;
const ENTRIES_AT_ONCE = 50;

/** The deeds in the account, and the people and keys that did them. */
export function AuditPage() {
  const { audit: text } = useText();
  const audit = useAnswer('GET /audit');
  return (
    <>
      <PageHead title={text.title}>{text.intro}</PageHead>
      <Shown of={audit}>
        {(entries) =>
          entries.length === 0 ? (
            <EmptyState title={text.none}>{text.noneText}</EmptyState>
          ) : (
            <Entries entries={entries} />
          )
        }
      </Shown>
    </>
  );
}

function Entries({ entries }: { readonly entries: readonly Entry[] }) {
  const { audit: text } = useText();
  const [kind, setKind] = useState<Kind>('all');
  const [shown, setShown] = useState(ENTRIES_AT_ONCE);
  const chosen = entries.filter(({ action }) => KINDS[kind].some((start) => action.startsWith(start)));
  const columns: Column<Entry>[] = [
    { label: text.at, cell: ({ at }) => <When at={at} /> },
    { label: text.actor, cell: (entry) => <Actor of={entry} /> },
    { label: text.action, cell: (entry) => <Action of={entry} /> },
    { label: text.subject, cell: (entry) => <Subject of={entry} /> },
    { label: text.outcome, cell: (entry) => <Outcome of={entry} /> },
  ];
  return (
    <div className="audit">
      <NativeSelect
        label={text.kind}
        value={kind}
        data={(Object.keys(KINDS) as Kind[]).map((value) => ({ value, label: text.kinds[value] }))}
        onChange={(event) => setKind(event.currentTarget.value as Kind)}
      />
      {chosen.length === 0 ? (
        <Text>{text.noMatch}</Text>
      ) : (
        <DataTable
          caption={text.title}
          columns={columns}
          rows={chosen.slice(0, shown)}
          keyOf={(entry) => String(entries.indexOf(entry))}
        />
      )}
      {chosen.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + ENTRIES_AT_ONCE)}>
          {text.more}
        </Button>
      )}
    </div>
  );
}

function Actor({ of: { actor } }: { readonly of: Entry }) {
  const { audit: text } = useText();
  if (!actor.startsWith('key ')) return <bdi>{text.actors[actor] ?? actor}</bdi>;
  return (
    <div className="lines">
      <span>{text.keyActor}</span>
      <code className="faint" dir="ltr">
        {actor.slice(4)}
      </code>
    </div>
  );
}

/** A deed that was refused, or whose end is not known, was only tried. */
function Action({ of: { action, outcome } }: { readonly of: Entry }) {
  const { audit: text } = useText();
  return (outcome === 'done' ? text.actions : text.attempts)[action] ?? action;
}

/** The names that the entry knows, and the id. */
function Subject({ of: { subject, details } }: { readonly of: Entry }) {
  const name = details['name'] ?? details['domain'];
  const other = details['account'] ?? details['role'] ?? details['plan'];
  return (
    <div className="lines">
      {name !== undefined && <bdi>{name}</bdi>}
      {other !== undefined && <bdi className="faint">{other}</bdi>}
      {subject !== '' && (
        <code className="faint" dir="ltr">
          {subject}
        </code>
      )}
    </div>
  );
}

function Outcome({ of: { outcome } }: { readonly of: Entry }) {
  const { outcomes } = useText().audit;
  const isKnown = outcome === 'done' || outcome === 'begun';
  return (
    <div className="lines">
      <Badge color={outcome === 'done' ? 'green' : 'gray'} variant="light" tt="none" miw="max-content">
        {isKnown ? outcomes[outcome] : outcomes.refused}
      </Badge>
      {!isKnown && (
        <code className="faint" dir="ltr">
          {outcome}
        </code>
      )}
    </div>
  );
}
