// Loaded before all else (node --require): versions of Node that are too old cannot even read the rest.
const { engines } = require('../../package.json');

const needed = engines.node.replace('>=', '');
const [major, minor] = needed.split('.').map(Number);
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  process.stderr.write(
    `session-analytics needs Node ${needed} or later. This is Node ${process.versions.node} (${process.execPath}).\n`,
  );
  process.exit(1);
}
