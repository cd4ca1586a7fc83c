// Imports every file that adds root fields to the builder, in the order of the fields in the served schema.
import './scalars.js';
import './preview.js';
import './key.js';
import './change.js';
import './bulk.js';
import './consume.js';
import './lifecycle.js';
import './key-list.js';
import './change-feed.js';
export { builder } from './builder.js';
