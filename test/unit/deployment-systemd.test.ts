import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig, SETTINGS } from '../../src/config.ts';

const UNIT = 'deploy/systemd/session-analytics.service';
const lines = readFileSync(UNIT, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('['))
  .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
const valuesOf = (name: string): string[] => lines.filter(([key]) => key === name).map(([, value]) => value);

describe('the unit of systemd', () => {
  test('sets settings that the service knows, and leaves the rest to a file', () => {
    const own = Object.fromEntries(
      valuesOf('Environment').map((text) => text.replace('%S', '/var/lib').split('=')),
    ) as Record<string, string>;
    const { NODE_ENV, TMPDIR, ...settings } = own;
    expect([NODE_ENV, TMPDIR]).toEqual(['production', settings['DATA_DIR']]);
    expect(Object.keys(settings).filter((name) => !SETTINGS.includes(name))).toEqual([]);
    expect(readConfig(settings)).toMatchObject({
      dataDir: `/var/lib/${valuesOf('StateDirectory')[0]}`,
      store: { kind: 'embedded' },
    });
    expect(valuesOf('EnvironmentFile')).toEqual(['-/etc/session-analytics/settings']);
  });

  test('lets it end, starts it again after a failure, and lets it write to its own folder alone', () => {
    expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThanOrEqual(40);
    expect(lines).toEqual(
      expect.arrayContaining([
        ['Restart', 'on-failure'],
        ['DynamicUser', 'yes'],
        ['NoNewPrivileges', 'yes'],
        ['CapabilityBoundingSet', ''],
        ['ProtectSystem', 'strict'],
        ['SystemCallFilter', '@system-service @pkey'],
      ]),
    );
    expect(valuesOf('ReadWritePaths')).toEqual([]);
  });

  test('systemd accepts it, and finds little to harden', () => {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) {
      process.stderr.write(
        `Not checked: ${UNIT}, because this machine has no systemd-analyze (Debian: systemd).\n`,
      );
      return;
    }
    const folder = mkdtempSync(join(tmpdir(), 'analytics-unit-'));
    try {
      // The program must be there.
      const unit = join(folder, 'session-analytics.service');
      const [program = ''] = valuesOf('ExecStart').map((command) => command.split(' ')[0]);
      const own = resolve('deploy/bin/session-analytics');
      writeFileSync(unit, readFileSync(UNIT, 'utf8').replace(program, own));
      const analyze = (...args: string[]) => {
        const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
        return { status, said: `${stdout}${stderr}` };
      };
      expect(analyze('verify', '--man=no', unit)).toEqual({ status: 0, said: '' });
      // From 0 (nothing is exposed) to 100.
      const security = analyze('security', '--offline=true', '--no-pager', '--threshold=20', unit);
      expect(security, security.said).toMatchObject({ status: 0 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
