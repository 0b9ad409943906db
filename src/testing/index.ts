import './node-version.ts';

export { SessionAnalyticsContainer } from './container.ts';
export { startTestService } from './start.ts';
export type {
  AccountSeed,
  AppSeed,
  ContextSeed,
  CreatedApp,
  EventSeed,
  Failing,
  Fault,
  InProcessOptions,
  InProcessService,
  Instant,
  KeySeed,
  Planted,
  Seed,
  SessionSeed,
  TestAccount,
  TestClock,
  TestKey,
  TestService,
  Window,
} from './types.ts';
