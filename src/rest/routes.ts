import { consumeOrgQuota } from './operations/consume-org-quota.js';
import { createOrgKey } from './operations/create-org-key.js';
import { deliverKey, deliverKeys } from './operations/deliver-keys.js';
import { deleteOrgKey } from './operations/delete-org-key.js';
import { generateOrgKey } from './operations/generate-org-key.js';
import { getOrgKey } from './operations/get-org-key.js';
import { getOrgKeyUsage } from './operations/get-org-key-usage.js';
import { listOrgKeys } from './operations/list-org-keys.js';
import { patchOrgKey } from './operations/patch-org-key.js';
import { previewKey } from './operations/preview-key.js';
import { cancelKeyRotation } from './operations/cancel-key-rotation.js';
import { restoreOrgKey } from './operations/restore-org-key.js';
import { rotateOrgKey } from './operations/rotate-org-key.js';
import { updateOrgKey } from './operations/update-org-key.js';
import { verifyKeys } from './operations/verify-keys.js';

/** Every operation of the key API. The router, the documentation and the tests read this list. */
export const routes = [
  previewKey,
  updateOrgKey,
  patchOrgKey,
  listOrgKeys,
  getOrgKey,
  getOrgKeyUsage,
  generateOrgKey,
  createOrgKey,
  deleteOrgKey,
  restoreOrgKey,
  rotateOrgKey,
  cancelKeyRotation,
  consumeOrgQuota,
  verifyKeys,
  deliverKeys,
  deliverKey,
] as const;
