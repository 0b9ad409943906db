import type { Request, Response } from 'express';
import type { Versioned } from '../answer/answers.ts';
import { EVENT_STREAM } from '../forms/event-stream.ts';
import { contextOf } from '../request/context.ts';
import type { LiveQuestion } from './channel.ts';
import type { LiveHub } from './hub.ts';
import type { StreamCaller } from './stream.ts';
import { isSeen } from './wire.ts';

export interface Live extends Pick<StreamCaller, 'count' | 'confirm'> {
  readonly hub: LiveHub;
  readonly question: LiveQuestion;
}

/**
 * Answers a GET with a stream: the answer now, and each later one that differs. `Last-Event-ID` names the answer
 * that the caller has. An error before the first answer is an ordinary error.
 */
export async function replyWithStream(
  req: Request,
  res: Response,
  { hub, question, count, confirm }: Live,
): Promise<void> {
  hub.admit(question.holder, res);
  const askedAt = performance.now();
  const versioned = await question.ask();
  const lastEventId = req.get('last-event-id');
  const computed = await unseen(versioned, lastEventId);
  if (res.destroyed) return;
  contextOf(res).isStream = true;
  headers(res, (computed ?? versioned).asOf);
  hub.open(question, { res, requestId: req.id, count, confirm }, { versioned, askedAt, computed });
}

/** Returns the answer, or null if the caller has it. */
async function unseen(versioned: Versioned, lastEventId: string | undefined) {
  if (isSeen(lastEventId, versioned.tag)) return null;
  const computed = await versioned.result();
  return isSeen(lastEventId, computed.tag) ? null : computed;
}

function headers(res: Response, asOf: string | null): void {
  res.statusCode = 200;
  res.setHeader('Content-Type', EVENT_STREAM);
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Vary', 'Accept, Authorization');
  // A proxy must pass on each event at once. nginx knows this header.
  res.setHeader('X-Accel-Buffering', 'no');
  if (asOf !== null) res.setHeader('X-Data-As-Of', asOf);
}
