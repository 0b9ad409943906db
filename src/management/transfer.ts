import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, open as openFile, rmSync, write } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { AppError } from '../domain/errors.ts';
import { accountId, isUuid } from '../domain/ids.ts';
import { isNoRoom } from '../domain/no-room.ts';
import { codeOf } from '../domain/thrown.ts';
import { replyToPost } from '../http/answer/reply.ts';
import { parseBody } from '../http/gate/validate.ts';
import { contextOf, targetOf } from '../http/request/context.ts';
import { pick } from '../http/request/methods.ts';
import { archiveOf, BrokenArchive } from '../transfer/archive.ts';
import { type ExportDeps, exported } from '../transfer/export.ts';
import { type ImportDeps, importApp } from '../transfer/import.ts';
import { AppParams } from './schemas.ts';
import { mayBeSilent } from './silence.ts';

const EXPORT = '/apps/:appId/export';
const IMPORT = '/app-imports';
export const TYPE = 'application/x-tar';

export const ImportQuery = z.strictObject({
  accountId: z.string().refine(isUuid, 'Must be a UUID.').transform(accountId).nullable().default(null),
  asNew: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
});

export interface TransferDeps extends Omit<ExportDeps, 'app'>, ImportDeps {
  readonly ingestion: ExportDeps['ingestion'] & ImportDeps['ingestion'];
  /** A folder for uploads that are being read. It is emptied. */
  readonly spool: string;
}

/**
 * Routes for moving apps, below /management/v1:
 *
 * - `GET /apps/{appId}/export` answers with the app as a tar archive.
 * - `POST /app-imports?accountId=…&asNew=true` takes such an archive.
 */
export function transferRouter({ spool, ...deps }: TransferDeps): Router {
  rmSync(spool, { recursive: true, force: true });
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  const router = Router({ caseSensitive: true, strict: true });
  router.all(EXPORT, async (req, res) => {
    contextOf(res).route = EXPORT;
    pick(new Map([['GET', true]]), req, res);
    await sendExport(deps, req, res).catch((error: unknown) => {
      // Nobody is there to be told.
      if (!(error instanceof AppError && error.code === 'bad_request' && res.headersSent)) throw error;
    });
  });
  router.all(IMPORT, async (req, res) => {
    contextOf(res).route = IMPORT;
    pick(new Map([['POST', true]]), req, res);
    await takeImport(deps, spool, req, res);
  });
  return router;
}

/** Sends an app as it is written. If that fails, the connection is cut, and the archive is not whole. */
async function sendExport(deps: Omit<TransferDeps, 'spool'>, req: Request, res: Response): Promise<void> {
  const { moving } = deps.metadata;
  const app = await moving.moved(parseBody(AppParams, req.params).appId);
  const { id, account, domain } = app;
  const deed = { account, actor: OPERATOR, action: 'app.export', subject: id, details: { domain } } as const;
  mayBeSilent(req);
  await moving.recorded(deed, async () => {
    const pieces = exported(deps, app);
    // The first piece is made before the status is sent: an app may have no quiet moment.
    const first = await pieces.next();
    async function* all() {
      if (first.done !== true) yield first.value;
      yield* pieces;
    }
    res.setHeader('Content-Type', TYPE);
    res.setHeader('Cache-Control', 'no-store');
    await pipeline(archiveOf(all()), res).catch((error: unknown) => {
      throw isLeft(error) ? left(error) : error;
    });
  });
}

/** The actor of the management API in the audit. */
const OPERATOR = 'operator';

async function takeImport(
  deps: Omit<TransferDeps, 'spool'>,
  spool: string,
  req: Request,
  res: Response,
): Promise<void> {
  const { search } = targetOf(req);
  const { accountId: account, asNew } = parseBody(
    ImportQuery,
    Object.fromEntries(new URLSearchParams(search)),
  );
  if (req.headers['content-type'] !== TYPE) {
    throw new AppError('unsupported_media_type', `Send an exported app as ${TYPE}.`);
  }
  mayBeSilent(req);
  const file = await unnamed(spool);
  try {
    await pipeline(req, createWriteStream('', { fd: file.fd, autoClose: false, fs: KEPT_OPEN })).catch(
      (error: unknown) => {
        if (isNoRoom(error)) throw noRoom(error);
        throw isLeft(error) ? left(error) : error;
      },
    );
    const read = () => file.createReadStream({ start: 0, autoClose: false });
    replyToPost(req, res, 201, await importApp(deps, read, { account, asNew, actor: OPERATOR }));
  } catch (error) {
    throw error instanceof BrokenArchive ? refused(error) : error;
  } finally {
    await file.close();
  }
}

/** After an error, the stream would close the number of the file, which the handle closes, too. */
const KEPT_OPEN = {
  open: openFile,
  write,
  close: (_file: number, done: (error: null) => void) => done(null),
};

/** Opens a file that is gone when it is closed, also if the process ends. */
async function unnamed(folder: string): Promise<FileHandle> {
  const path = join(folder, randomUUID());
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

/** True if the caller has closed the connection. */
const isLeft = (error: unknown): boolean =>
  codeOf(error) === 'ECONNRESET' || codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE';
const left = (cause: unknown): AppError =>
  new AppError('bad_request', 'The connection was closed before the end of the archive.', { cause });
const noRoom = (cause: unknown): AppError =>
  new AppError(
    'overloaded',
    'The disk of DATA_DIR is full: there is no room for the archive. Make room, and import it again.',
    {
      retryAfterSeconds: 60,
      cause,
    },
  );

const refused = (error: BrokenArchive): AppError =>
  new AppError('validation_failed', 'The file is not a whole export.', {
    errors: [{ field: 'file', message: `Nothing was imported: ${error.message}. Export the app again.` }],
    cause: error,
  });
