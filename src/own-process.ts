/**
 * The process itself. Under Jest, `process` is a copy for each test file, whose `exit` event nobody hears.
 */
export const ownProcess: NodeJS.Process = process.getBuiltinModule('node:process');
