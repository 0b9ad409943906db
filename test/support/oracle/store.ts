import { afterAll, beforeAll } from 'vitest';
import { type TestStore, testStore } from '../store.ts';
import type { Subject } from './compare.ts';
import { subjectOn } from './subject.ts';

/** To be asked for within tests: before the first one begins there is no store. */
export interface OracleStore {
  readonly store: TestStore;
  readonly subject: Subject;
}

/** A store and a subject on it for the tests of the file or group at hand. */
export function oracleStore(): OracleStore {
  let store: TestStore;
  let subject: Subject;
  beforeAll(async () => {
    store = await testStore();
    subject = await subjectOn(store.db);
  });
  afterAll(async () => {
    await store.close();
  });
  return {
    get store() {
      return store;
    },
    get subject() {
      return subject;
    },
  };
}
