// Every file that adds root fields, in one place for those who build a schema of them.
import './scalars.js';
import './preview-key.js';
import './update-org-key.js';
import './bulk.js';
import './consume-org-quota.js';
import './key-life.js';
import './org-keys.js';
import './org-key-changed.js';
export { builder } from './builder.js';
