/** The import rules: imports go one way, and each boundary has one entrance. */
const only = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** The rooms of http/, each with the rooms that it may import. */
const HTTP_ROOMS = {
  request: [],
  gate: ['request'],
  forms: [],
  answer: ['request', 'forms'],
  docs: ['request', 'forms', 'answer'],
  live: ['request', 'gate', 'forms', 'answer'],
  console: ['request', 'gate', 'forms', 'answer', 'docs'],
  routes: ['request', 'gate', 'forms', 'answer', 'docs', 'live'],
  server: ['request'],
};

/** The same of analytics/. No room but `questions` knows a question. */
const ANALYTICS_ROOMS = {
  answers: [],
  range: [],
  memory: ['range'],
  input: ['range', 'memory'],
  late: ['range', 'input'],
  segments: ['range', 'memory', 'input', 'late'],
  events: ['answers', 'range', 'memory', 'input', 'segments'],
  sessions: ['answers', 'range', 'memory', 'input', 'late', 'segments'],
  lists: ['answers', 'range', 'memory', 'input', 'late', 'segments'],
  questions: ['answers', 'range', 'memory', 'input', 'late', 'segments', 'events', 'sessions', 'lists'],
};

/** The same of facts/: the tables and statements stand on nothing. */
const FACTS_ROOMS = { sql: [] };

/** Rules for the rooms of a folder: each imports only those that it stands on. */
const roomRules = (folder, rooms) =>
  Object.entries(rooms).map(([room, below]) =>
    only(
      `${folder}-${room}-stands-on-${below.join('-and-') || 'nothing'}`,
      `The rooms of ${folder}/ import one way.`,
      { path: `^src/${folder}/${room}/` },
      { path: `^src/${folder}/(?!(${[room, ...below].join('|')})/)` },
    ),
  );

export default {
  forbidden: [
    only('no-circular', 'A cycle has no file that can be read first.', {}, { circular: true }),
    only(
      'domain-is-the-ground',
      'Types and pure rules import no other part of src/.',
      { path: '^src/domain' },
      { path: '^src/(?!domain)' },
    ),
    only(
      'answers-stand-on-the-domain',
      'The shapes of answers are said without those who compute or send them.',
      { path: '^src/answers/' },
      { path: '^src/(?!(answers|domain)/)' },
    ),
    only(
      'stores-know-no-business',
      'clickhouse/ and redis/ import none of the parts that use them.',
      { path: '^src/(clickhouse|redis)/' },
      { path: '^src/(http|endpoints|analytics|facts|snapshots|ingestion|metadata|management|cli)/' },
    ),
    only(
      'snapshots-stand-below-facts',
      'The state of the data is known without the facts and the questions.',
      { path: '^src/snapshots/' },
      { path: '^src/(facts|analytics)/' },
    ),
    only(
      'facts-stand-below-questions',
      'Facts are computed and tables described without the questions.',
      { path: '^src/facts/' },
      { path: '^src/analytics/' },
    ),
    only(
      'questions-know-no-http',
      'The questions do not know their callers.',
      { path: '^src/(analytics|facts|snapshots|ingestion|metadata)/' },
      { path: '^src/(http|endpoints|management|cli)/' },
    ),
    ...roomRules('http', HTTP_ROOMS),
    ...roomRules('facts', FACTS_ROOMS),
    ...roomRules('analytics', ANALYTICS_ROOMS),
    only(
      'only-http-knows-express',
      'Express stays in http/ and management/.',
      { path: '^src/', pathNot: '^src/(http|management)/|^src/start/app\\.ts$' },
      { path: 'node_modules/(@types/)?(express|pino-http|express-rate-limit|rate-limit-redis)/' },
    ),
    only(
      'one-file-knows-the-metrics-library',
      'Other parts call functions that they are given.',
      { path: '^src/', pathNot: '^src/metrics/' },
      { path: 'node_modules/prom-client/' },
    ),
    only(
      'one-file-knows-the-tracing-library',
      'Other parts know the spans of domain/tracing.ts.',
      { path: '^src/', pathNot: '^src/tracing/' },
      { path: 'node_modules/@opentelemetry/' },
    ),
    only(
      'one-file-knows-the-backend',
      'Only clickhouse/connect.ts chooses between embedded and server.',
      { path: '^src/', pathNot: '^src/clickhouse/connect\\.ts$' },
      { path: 'node_modules/(chdb|@clickhouse)/' },
    ),
    only(
      'one-file-knows-who-else-is-there',
      'Only sharing/choose.ts chooses between alone and shared. Others ask what they need of the object.',
      { path: '^src/', pathNot: '^src/sharing/choose\\.ts$' },
      { path: '^src/sharing/(alone|shared)\\.ts$' },
    ),
    only(
      'packages-stand-alone',
      'The client and the SDK are packages without dependencies.',
      { path: '^src/(client|sdk)/' },
      { pathNot: '^src/(client|sdk)/' },
    ),
    only(
      'the-front-end-runs-in-browsers',
      'The console is bundled with the client, the meanings of figures and the clock of Tehran, and knows the types of its answers.',
      { path: '^src/console/' },
      {
        path: '^src/',
        pathNot:
          '^src/(console|client)/|^src/answers/figures\\.ts$|^src/domain/tehran-clock\\.ts$|^src/http/console/schemas\\.ts$',
      },
    ),
    only(
      'the-front-end-takes-types-only',
      'The schemas would bring zod to the browser.',
      { path: '^src/console/' },
      { path: '^src/http/', dependencyTypesNot: ['type-only'] },
    ),
    only(
      'the-service-needs-no-front-end',
      'The service serves the built files.',
      { path: '^src/(?!console/)' },
      { path: '^src/console/' },
    ),
    only(
      'source-needs-no-tests',
      'src/ runs without test/ and bench/.',
      { path: '^src/' },
      { path: '^(test|bench)/' },
    ),
    only(
      'oracle-stands-alone',
      'The oracle shares no code with the queries; only subject.ts runs them, for the comparison.',
      { path: '^test/support/oracle', pathNot: 'subject\\.ts$' },
      { path: '^src/(analytics|facts|snapshots|clickhouse)/', dependencyTypesNot: ['type-only'] },
    ),
    only(
      'no-dev-in-src',
      'src/ uses production packages. Those of the test kit bring testcontainers themselves; the console is bundled.',
      { path: '^src/', pathNot: '^src/console/' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm-peer'] },
    ),
    only('resolvable', 'Every import exists.', {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // They run in other folders.
    exclude: { path: '^test/packages/programs/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
