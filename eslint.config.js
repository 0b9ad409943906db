import tseslint from 'typescript-eslint';

/**
 * Only the rules that need types; Biome does the rest. In a trial with 18 dropped promises, Biome found 6.
 */
const WALL_CLOCK =
  "The time comes from a Clock. Only src/cli, tests, benches and what runs elsewhere read the machine's clock.";
const CLOCKS = [
  { selector: "MemberExpression[object.name='Date'][property.name='now']", message: WALL_CLOCK },
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: WALL_CLOCK },
];

/** Under Jest, what Node itself made is no instance of the realm's own classes. */
const BUILT_IN =
  '/^((Aggregate|Eval|Range|Reference|Syntax|Type|URI)?Error|DOMException|Date|RegExp|Promise|(Weak)?(Map|Set)|Array|Object|Function|(Shared)?ArrayBuffer|DataView|((Ui|I)nt(8|16|32)|Uint8Clamped|Float(32|64)|Big(Ui|I)nt64)Array|URL|AbortSignal)$/';
const REALMS = [
  {
    selector: `BinaryExpression[operator='instanceof'][right.name=${BUILT_IN}]`,
    message:
      'This may be of another realm: use isError, codeOf or messageOf of src/domain/thrown.ts, or node:util/types.',
  },
];

const SQL_FILE = 'src/clickhouse/sql.ts';
const SQL_CASTS = [
  ":matches(TSAsExpression, TSTypeAssertion) > TSTypeReference[typeName.name='Sql']",
  "TSTypePredicate TSTypeReference[typeName.name='Sql']",
].map((selector) => ({
  selector,
  message: `Text becomes SQL in ${SQL_FILE} alone: use sql, join, quoted or identifier.`,
}));
/** Each of them says why the text is nobody's input. */
const UNCHECKED_SQL = [
  'src/clickhouse/migrate.ts',
  'src/clickhouse/values.ts',
  'src/clickhouse/cluster-schema.ts',
  'src/damage/rebuild.ts',
  'src/ingestion/rehearsal.ts',
];

export default tseslint.config(
  // They run, and are compiled, in other folders.
  { ignores: ['test/packages/programs/**'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: {
        project: ['tsconfig.json', 'src/sdk/tsconfig.json', 'src/console/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      // `void` marks a promise that handles its own failures.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
    },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    // The SDK runs in browsers.
    ignores: ['src/sdk/**', 'src/config.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'config.ts alone reads the environment.' },
      ],
    },
  },
  {
    files: ['src/console/**/*.ts', 'src/console/**/*.tsx'],
    // Signing in needs cookies, which no browser gives to a page without storage.
    ignores: ['src/console/parts/kept.ts', 'src/console/sign-in/wanted.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['localStorage', 'sessionStorage'].map((name) => ({
          name,
          message: 'A frame of another site may have none: use src/console/parts/kept.ts.',
        })),
      ],
    },
  },
  {
    files: ['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    ignores: [SQL_FILE],
    rules: { 'no-restricted-syntax': ['error', ...SQL_CASTS] },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/sdk/**', 'src/client/**', 'src/console/**', 'src/cli/**'],
    rules: { 'no-restricted-syntax': ['error', ...SQL_CASTS, ...CLOCKS, ...REALMS] },
  },
  {
    files: ['src/cli/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...SQL_CASTS, ...REALMS] },
  },
  {
    // The client is a package of its own, with the caller's clock.
    files: ['src/client/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...SQL_CASTS] },
  },
  {
    files: [SQL_FILE],
    rules: { 'no-restricted-syntax': ['error', ...CLOCKS] },
  },
  {
    files: ['src/**/*.ts'],
    ignores: UNCHECKED_SQL,
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['**/sql.ts'],
              importNames: ['unchecked'],
              message: 'Only the files that eslint.config.js lists let text into a statement as it is.',
            },
          ],
        },
      ],
    },
  },
);
