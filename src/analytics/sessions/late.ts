import { number, rowOf, text } from '../../clickhouse/row.ts';
import { sql } from '../../clickhouse/sql.ts';
import type { SessionKey } from '../../domain/commits.ts';
import { isHeld } from '../../facts/late.ts';
import { sessionColumns } from '../../facts/sql/session-columns.ts';
import { rowsFromEvents } from '../../facts/sql/session-rows.ts';
import { GROUPED_FEW } from '../../facts/sql/session-states.ts';
import type { LateHour } from '../../snapshots/late-hours.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { bySession, type Changes, changesOf, ofSessions } from '../late/changes.ts';
import { sessionName } from '../late/search.ts';
import {
  mergedFor,
  namesOf,
  SESSION_PART,
  type SessionPart,
  type Single,
  type SingleSession,
  sessionSql,
  singleSession,
} from './singles.ts';

/** A form of a session: -1 as the facts count it, 1 as it is now. With its keys and values in several ways. */
interface Form extends Pick<SingleSession, 'sign' | 'startedAt' | 'visitor'> {
  readonly parts: readonly SessionPart[];
}

/**
 * Returns the sealed sessions with late events, in each of these ways to count them: each once as the facts count it,
 * to be subtracted, and once as it is now.
 */
export async function lateForms(facts: SessionFacts, singles: readonly Single[]): Promise<SingleSession[][]> {
  const columns = mergedFor(singles);
  const forms = await changesOf<Form>(
    facts,
    `sessions, ${namesOf(singles)}`,
    (sessions, hours) => readForms(facts, singles, sessions, hours),
    () => 5 + columns.length,
  );
  return singles.map((single, i) =>
    forms.map(({ sign, startedAt, visitor, parts }) =>
      singleSession(single, sign, startedAt, visitor, parts[i]),
    ),
  );
}

const FORM = rowOf([number, text, number, text], SESSION_PART);

async function readForms(
  { db, app }: SessionFacts,
  singles: readonly Single[],
  sessions: readonly SessionKey[],
  hours: readonly LateHour[],
): Promise<Changes<Form>> {
  const { where, params } = ofSessions(app, sessions, hours);
  const columns = mergedFor(singles);
  const rows = await db.rows(
    {
      name: `versions, ${namesOf(singles)}`,
      sql: sql`SELECT started, session_id, sign, ${sessionSql(singles)}
FROM
(
    SELECT toUnixTimestamp64Milli(s.started_at) AS started, s.session_id AS session_id, sign, ${sessionColumns(columns, GROUPED_FEW)}
    FROM ${rowsFromEvents(where, columns, sql`, session_id, ${isHeld('session', hours)} AS is_held`)} AS s
    ARRAY JOIN if(s.is_held, [-1, 1], [1]) AS sign
    GROUP BY s.started_at, s.session_id, sign
)`,
      row: FORM,
    },
    {},
    params,
  );
  const forms = rows.map(([startedAt, id, sign, visitor, ...parts]): [string, Form] => [
    sessionName(startedAt, id),
    { sign: sign < 0 ? -1 : 1, startedAt, visitor, parts },
  ]);
  return bySession(forms);
}
