import type { CLICommand } from './command.js';
import { createCompletionCommand } from './commands/completion.js';
import { backupCommand } from './commands/backup.js';
import { checkCommand } from './commands/check.js';
import { headCommand } from './commands/head.js';
import { doctorCommand } from './commands/doctor.js';
import { initCommand } from './commands/init.js';
import { issueCommand } from './commands/credentials/issue.js';
import { listCredentialsCommand } from './commands/credentials/list.js';
import { revokeCommand } from './commands/credentials/revoke.js';
import { rotateCredentialCommand } from './commands/credentials/rotate.js';
import { applyCommand } from './commands/files/apply.js';
import { createCommand } from './commands/keys/create.js';
import { deleteCommand } from './commands/keys/delete.js';
import { diffCommand } from './commands/keys/diff.js';
import { getCommand } from './commands/keys/get.js';
import { historyCommand } from './commands/keys/history.js';
import { discardKeyCommand } from './commands/keys/discard.js';
import { exportCommand } from './commands/files/export.js';
import { importCommand } from './commands/files/import.js';
import { listCommand } from './commands/keys/list.js';
import { migrateStoreCommand } from './commands/migrate-store.js';
import { previewCommand } from './commands/files/preview.js';
import { putCommand } from './commands/keys/put.js';
import { resetCommand } from './commands/keys/reset.js';
import { restoreCommand } from './commands/restore.js';
import { revertCommand } from './commands/keys/revert.js';
import { addKeyCommand, promoteKeyCommand, secretsStatusCommand } from './commands/secrets/stages.js';
import { pruneCommand } from './commands/secrets/prune.js';
import { rotateKeyRingCommand } from './commands/secrets/rotate.js';
import { serveCommand } from './commands/serve.js';
import { tailCommand } from './commands/keys/tail.js';
import { undeleteCommand } from './commands/keys/undelete.js';
import { addWebhookCommand } from './commands/webhooks/add.js';
import { listDeadLettersCommand } from './commands/webhooks/dead.js';
import { discardDeadLettersCommand } from './commands/webhooks/discard.js';
import { listWebhooksCommand } from './commands/webhooks/list.js';
import { pauseWebhookCommand } from './commands/webhooks/pause.js';
import { removeWebhookCommand } from './commands/webhooks/remove.js';
import { replayDeadLettersCommand } from './commands/webhooks/replay.js';
import { resumeWebhookCommand } from './commands/webhooks/resume.js';
import { rotateWebhookCommand } from './commands/webhooks/rotate.js';
import { testWebhookCommand } from './commands/webhooks/test.js';

/** All commands, in the order of the help. */
export const commands: readonly CLICommand[] = [
  serveCommand,
  initCommand,
  issueCommand,
  listCredentialsCommand,
  rotateCredentialCommand,
  revokeCommand,
  addWebhookCommand,
  listWebhooksCommand,
  testWebhookCommand,
  pauseWebhookCommand,
  resumeWebhookCommand,
  rotateWebhookCommand,
  removeWebhookCommand,
  listDeadLettersCommand,
  replayDeadLettersCommand,
  discardDeadLettersCommand,
  importCommand,
  exportCommand,
  discardKeyCommand,
  previewCommand,
  listCommand,
  getCommand,
  diffCommand,
  createCommand,
  putCommand,
  applyCommand,
  resetCommand,
  deleteCommand,
  undeleteCommand,
  historyCommand,
  tailCommand,
  revertCommand,
  backupCommand,
  restoreCommand,
  migrateStoreCommand,
  checkCommand,
  headCommand,
  doctorCommand,
  secretsStatusCommand,
  addKeyCommand,
  promoteKeyCommand,
  rotateKeyRingCommand,
  pruneCommand,
  createCompletionCommand(() => commands),
];
