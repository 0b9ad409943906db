import { z } from 'zod';
import * as answers from '../answers.ts';
import { BackupBody } from '../backup.ts';
import { IdParams } from '../ingestion.ts';
import { RebuildBody } from '../seal.ts';
import { ACCOUNT, APP, AT, backup, KEY } from './examples.ts';
import { tagged } from './tagged.ts';

/** The handler's pattern has a class that only Unicode patterns know, and readers of JSON Schema need not. */
const BACKUP_BODY = z.strictObject({ path: BackupBody.shape.path.meta({ override: { pattern: '^/' } }) });

const INGESTION = {
  since: AT,
  acceptedEvents: 120,
  duplicateBatches: 1,
  rejected: { bot: 3 },
  refused: {},
  waiting: { batches: 0, events: 0, bytes: 0 },
  held: 0,
};

export const OPERATION = tagged('Operation', {
  'GET /ingestion': {
    operationId: 'getIngestion',
    summary: 'What this process has accepted, rejected and refused',
    answer: answers.IngestionState,
    example: INGESTION,
  },
  'POST /ingestion/repeat': {
    operationId: 'repeatHeld',
    summary: 'Repeats the steps of ingestion that the store refused',
    answer: answers.IngestionState,
    example: INGESTION,
  },
  'GET /ingestion/set-aside': {
    operationId: 'listSetAside',
    summary: 'Batches that the store refused alone',
    answer: z.array(answers.SetAside),
    example: [{ id: KEY, appId: APP, batchId: ACCOUNT, events: 20, code: 0, setAsideAt: AT }],
  },
  'POST /ingestion/set-aside/:id/repeat': {
    operationId: 'repeatSetAside',
    summary: 'Stores such a batch',
    params: IdParams,
    answer: z.strictObject({ id: z.string(), outcome: z.enum(['stored', 'duplicate']) }),
    example: { id: KEY, outcome: 'stored' },
    errors: ['overloaded'],
  },
  'DELETE /ingestion/set-aside/:id': {
    operationId: 'dropSetAside',
    summary: 'Drops such a batch for good',
    params: IdParams,
    answer: z.strictObject({ id: z.string(), dropped: z.literal(true) }),
    example: { id: KEY, dropped: true },
  },
  'GET /damage': {
    operationId: 'getDamage',
    summary: 'Damaged parts of the store',
    answer: answers.Damage,
    example: { message: null, parts: [] },
  },
  'POST /damage/accept': {
    operationId: 'acceptDamage',
    summary: 'Accepts the loss of damaged parts, and computes the rest anew',
    answer: answers.Lost,
    example: {
      lost: [
        {
          table: 'events',
          part: 'broken-on-start_202611_1_1_0',
          loss: 'events are gone from every figure',
        },
      ],
    },
  },
  'GET /backups': {
    operationId: 'getLastBackups',
    summary: 'The last backup that was made, and the last that failed',
    answer: answers.LastBackups,
    example: { made: backup, failed: null },
  },
  'POST /backups': {
    operationId: 'beginBackup',
    summary: "Begins a backup to a folder of the store's machine",
    body: { schema: BACKUP_BODY, example: { path: '/var/backups/analytics' } },
    status: 202,
    answer: answers.BackupUnderway,
    example: { id: KEY, path: '/var/backups/analytics', state: 'running' },
  },
  'GET /backups/:id': {
    operationId: 'getBackup',
    summary: 'How a backup goes that this process began',
    params: IdParams,
    answer: z.union([answers.Backup, answers.BackupUnderway]),
    example: backup,
  },
  'GET /seal': {
    operationId: 'getSealing',
    summary: 'How far each app is sealed',
    answer: answers.SealState,
    example: {
      lagSeconds: { page: 0, session: 0 },
      lastRunAt: AT,
      measuredAt: AT,
      apps: [
        {
          appId: APP,
          page: { sealedUntil: '2026-11-20T10:00:00.000Z', lagSeconds: 0 },
          session: { sealedUntil: '2026-11-19T10:00:00.000Z', lagSeconds: 0 },
        },
      ],
    },
  },
  'POST /seal/rebuild': {
    operationId: 'rebuildFacts',
    summary: 'Builds the facts of one app, or of all, again in the background',
    description: 'Answers stay exact meanwhile.',
    body: { schema: RebuildBody, example: { appId: APP } },
    status: 202,
    answer: z.strictObject({ apps: z.int(), rebuilding: z.literal(true) }),
    example: { apps: 1, rebuilding: true },
  },
});
