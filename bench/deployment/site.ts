import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { CliError } from '../../src/cli/cli-error.ts';
import { messageOf } from '../../src/domain/thrown.ts';
import { adminOf } from '../../test/support/admin.ts';
import { known } from '../../test/support/oracle/known.ts';
import type { Delivery } from '../../test/support/oracle/model.ts';
import { createOracle, type Oracle } from '../../test/support/oracle/oracle.ts';
import type { Recording } from '../recording.ts';
import type { Answer, Deployment } from './deployment.ts';
import { history, sessionOf, wireSessions } from './traffic.ts';

const Created = z.object({ id: z.string(), domain: z.string(), secretKey: z.string() });
const Problem = z.object({ detail: z.string() });
const Accepted = z.object({
  accepted: z.number(),
  rejected: z.array(z.unknown()),
  duplicate: z.boolean().optional(),
});
const SESSIONS_PER_BATCH = 100;

/** A stored batch. */
interface Batch {
  readonly events: number;
  /** Until the acknowledgement. */
  readonly ms: number;
}

/** An app of the bench, and everything that it has stored there. */
export class Site {
  readonly deployment: Deployment;
  readonly id: string;
  readonly #app: z.infer<typeof Created>;
  readonly #stored: Delivery[] = [];

  constructor(deployment: Deployment, app: z.infer<typeof Created>) {
    this.deployment = deployment;
    this.#app = app;
    this.id = app.id;
  }

  get events(): number {
    return this.#stored.reduce((sum, { events }) => sum + events.length, 0);
  }

  get pageviews(): number {
    return this.#stored.flatMap(({ events }) => events).filter(({ type }) => type === 'pageview').length;
  }

  /** Counts what was acknowledged by walking over it. `now`: the time of the question. */
  oracle(now: number): Oracle {
    return createOracle(this.#stored, known, () => now);
  }

  /** Stores the sessions of some days. */
  async seed(
    recording: Recording,
    extent: { readonly events: number; readonly days: number },
  ): Promise<Batch[]> {
    const sessions = history(this.#app, { ...extent, now: Date.now() });
    const batches: Batch[] = [];
    recording.progress.begin('seeding', Math.ceil(sessions.length / SESSIONS_PER_BATCH));
    for (let at = 0; at < sessions.length; at += SESSIONS_PER_BATCH) {
      recording.signal.throwIfAborted();
      recording.progress.step('batches of events');
      batches.push(await this.#store(sessions.slice(at, at + SESSIONS_PER_BATCH)));
    }
    return batches;
  }

  /** Stores new sessions that end now. */
  async storeNew(sessions: number): Promise<Batch> {
    const from = this.#stored.length;
    const made = Array.from({ length: sessions }, (_, i) =>
      sessionOf(this.#app, from + i, Date.now() - 1_000),
    );
    return this.#store(made);
  }

  async #store(sessions: readonly Delivery[]): Promise<Batch> {
    // Before the answer: a batch whose answer is lost may have been stored.
    this.#stored.push(...sessions);
    const { id: appId, secretKey } = this.#app;
    const body = JSON.stringify({
      appId,
      secretKey,
      batchId: randomUUID(),
      sessions: wireSessions(sessions),
    });
    const answer = await this.deployment.patiently('/sdk/v1/events', { method: 'POST', body });
    const events = sessions.reduce((sum, one) => sum + one.events.length, 0);
    const read = Accepted.safeParse(jsonOf(answer));
    // A repeated batch was stored the first time.
    if (!read.success || (read.data.accepted !== events && read.data.duplicate !== true)) {
      throw new Error(`a batch was not accepted: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
    return { events, ms: answer.ms };
  }

  /**
   * Deletes the app with its data by the management API, with the settings of `admin`. The Public API has no way to
   * do that. If the management API cannot be reached from here, a note says what stays.
   */
  async remove(recording: Recording): Promise<void> {
    const arguments_ = ['app', 'delete', '--app', this.id, '--yes'];
    const reason = await this.#deleted(arguments_);
    if (reason === null) return;
    recording.note(
      `The app ${this.id} (${this.#app.domain}) stays at ${this.deployment.url}, with ${this.events} events. The Public API ` +
        `cannot delete an app, and the management API could not do it from here: ${reason} ` +
        `Run there: session-analytics admin ${arguments_.join(' ')}`,
    );
  }

  async #deleted(command: readonly string[]): Promise<string | null> {
    try {
      await adminOf(process.env as Readonly<Record<string, string>>)(...command);
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }
}

const jsonOf = ({ text }: Answer): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Makes an app under the account of the first key. Throws a CliError if the service refuses that. */
export async function newSite(deployment: Deployment): Promise<Site> {
  const domain = `https://bench-${randomUUID().slice(0, 8)}.example`;
  const body = JSON.stringify({ name: 'session-analytics bench', domain });
  const answer = await deployment.patiently('/api/v1/apps', {
    method: 'POST',
    key: deployment.firstKey,
    body,
  });
  const created = Created.safeParse(jsonOf(answer));
  if (created.success) return new Site(deployment, created.data);
  const problem = Problem.safeParse(jsonOf(answer));
  const said = problem.success ? problem.data.detail : answer.text.slice(0, 200);
  throw new CliError(`--key: the service made no app for the bench (status ${answer.status}): ${said}`);
}
