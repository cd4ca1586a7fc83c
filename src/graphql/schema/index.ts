// Every file that adds root fields, in one place for those who build a schema of them.
import './scalars.js';
import '../operations/preview-key.js';
import '../operations/update-org-key.js';
import '../operations/bulk.js';
import '../operations/consume-org-quota.js';
import '../operations/key-lifecycle.js';
import '../operations/org-keys.js';
import '../operations/org-key-changed.js';
export { builder } from './builder.js';
