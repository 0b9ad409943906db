import { afterAll, beforeAll } from 'vitest';
import { type TestStore, testStore } from '../store.ts';
import type { Subject } from './compare.ts';
import { subjectOn } from './subject.ts';

/** Use it within tests: the store exists only after the first hook. */
export interface OracleStore {
  readonly store: TestStore;
  readonly subject: Subject;
}

/** Makes a store and a subject on it for the tests of a file or group. */
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
