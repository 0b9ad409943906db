import { jsonOption } from './admin-options.ts';
import type { CommandLine } from './command-line.ts';

const WHERE =
  'DIR is a folder of the machine whose disk holds the store: with CLICKHOUSE_URL that of the ClickHouse server, below its\nbackups.allowed_path.';

type Shown = (work: Promise<unknown>, json: boolean | undefined) => Promise<void>;
interface Json {
  readonly json?: boolean;
}

export function addBackupCommands(parent: CommandLine, shown: Shown): void {
  parent
    .command('backup')
    .description('Makes a backup of the running service, which goes on meanwhile.')
    .argument('<DIR>', 'A folder that does not exist yet.')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `\n${WHERE}\nThe backup goes on if this command is interrupted. docs/backups.md says what is in it.\n\nExample:\n  session-analytics backup /backups/2026-11-22`,
    )
    .action(async (dir: string, { json }: Json) => shown((await import('./backups.ts')).backupOf(dir), json));
  parent
    .command('restore')
    .description('Restores a backup into an empty store. Stop the service first.')
    .argument('<DIR>', 'The folder of the backup.')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `\n${WHERE}\nA restore that was interrupted is simply repeated; no service starts on its store before.\n\nExample:\n  DATA_DIR=/var/lib/restored session-analytics restore /backups/2026-11-22`,
    )
    .action(async (dir: string, { json }: Json) =>
      shown((await import('./backups.ts')).restoreFrom(dir), json),
    );
}
