import type { CLICommand } from './command.js';
import { createCompletionCommand } from './completion.js';
import { backupCommand, restoreCommand } from './backup.js';
import { checkCommand } from './check.js';
import { headCommand } from './head.js';
import { deliverFileCommand } from './deliver-file.js';
import { driftCommand, forgetGatewayCommand, listGatewaysCommand } from './gateways.js';
import { doctorCommand } from './doctor.js';
import { initCommand, migrateStoreCommand, serveCommand } from './installation.js';
import { issueCommand, listCredentialsCommand, revokeCommand, rotateCredentialCommand } from './credentials.js';
import { applyCommand } from './keys/apply.js';
import {
  deleteCommand,
  resetCommand,
  revertCommand,
  cancelRotationCommand,
  restoreKeyCommand,
  rotateKeyCommand,
} from './keys/change.js';
import { createCommand, patchCommand, putCommand } from './keys/define.js';
import { followCommand, historyCommand } from './keys/history.js';
import { listCommand } from './keys/list.js';
import { diffCommand, getCommand } from './keys/read.js';
import { discardKeyCommand } from './keys/damaged.js';
import { exportCommand } from './keys/export.js';
import { importCommand } from './keys/import.js';
import { previewCommand } from './keys/preview.js';
import { usageCommand } from './keys/usage.js';
import {
  diffPoliciesCommand,
  importPoliciesCommand,
  listPoliciesCommand,
  policyHistoryCommand,
  removePolicyCommand,
} from './policies.js';
import {
  approveProposalCommand,
  listProposalsCommand,
  rejectProposalCommand,
  showProposalCommand,
  withdrawProposalCommand,
} from './proposals.js';
import {
  addKeyCommand,
  promoteKeyCommand,
  secretsStatusCommand,
  pruneCommand,
  rotateKeyRingCommand,
} from './secrets.js';
import {
  addWebhookCommand,
  listDeadLettersCommand,
  discardDeadLettersCommand,
  listWebhooksCommand,
  pauseWebhookCommand,
  removeWebhookCommand,
  replayDeadLettersCommand,
  resumeWebhookCommand,
  rotateWebhookCommand,
  testWebhookCommand,
} from './webhooks.js';

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
  listCommand,
  getCommand,
  createCommand,
  putCommand,
  patchCommand,
  diffCommand,
  applyCommand,
  deleteCommand,
  restoreKeyCommand,
  rotateKeyCommand,
  cancelRotationCommand,
  revertCommand,
  resetCommand,
  historyCommand,
  usageCommand,
  followCommand,
  importCommand,
  exportCommand,
  previewCommand,
  discardKeyCommand,
  deliverFileCommand,
  listGatewaysCommand,
  forgetGatewayCommand,
  driftCommand,
  importPoliciesCommand,
  listPoliciesCommand,
  diffPoliciesCommand,
  policyHistoryCommand,
  removePolicyCommand,
  listProposalsCommand,
  showProposalCommand,
  approveProposalCommand,
  rejectProposalCommand,
  withdrawProposalCommand,
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
