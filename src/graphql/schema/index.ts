// Imports every file that adds root fields to the builder.
import './scalars.js';
import '../operations/preview-key.js';
import '../operations/org-key.js';
import '../operations/update-org-key.js';
import '../operations/preview-org-key-update.js';
import '../operations/update-org-keys.js';
import '../operations/reset-org-quotas.js';
import '../operations/consume-org-quota.js';
import '../operations/create-org-key.js';
import '../operations/delete-org-key.js';
import '../operations/restore-org-key.js';
import '../operations/revert-org-key.js';
import '../operations/org-keys.js';
import '../operations/org-key-changed.js';
export { builder } from './builder.js';
