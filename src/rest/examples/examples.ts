import type { Route } from '../routes.js';
import type { Examples } from './example.js';
import { createExamples, deleteExamples, restoreExamples } from './life-examples.js';
import { previewExamples } from './preview-examples.js';
import { quotaExamples } from './quota-examples.js';
import { listExamples, readExamples } from './read-examples.js';
import { updateExamples } from './update-examples.js';

/** The examples of every operation. */
export const examples: Record<Route['operation'], Examples> = {
  previewKey: previewExamples,
  updateOrgKey: updateExamples,
  createOrgKey: createExamples,
  deleteOrgKey: deleteExamples,
  restoreOrgKey: restoreExamples,
  orgKey: readExamples,
  orgKeys: listExamples,
  consumeOrgQuota: quotaExamples,
};
