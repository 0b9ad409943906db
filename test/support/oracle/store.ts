import { afterAll, beforeAll } from 'vitest';
import { type TestStore, testStore } from '../store.ts';
import type { Subject } from './compare.ts';
import { subjectOn } from './subject.ts';

/** A store and a subject on it for the tests of the file or group at hand, to be asked for within them. */
export function oracleStore(): { readonly store: TestStore; readonly subject: Subject } {
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
