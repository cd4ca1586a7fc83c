// Builds after an installation, except for `npx keyfront` in the checkout, which runs this script to link the command that
// `npm ci` has built: a build would replace the files that a service is running from.
import { execSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const isBuilt = existsSync(join(root, 'dist/bin/keyfront.js'));
if (process.env['npm_command'] !== 'exec' || !isBuilt) execSync('npm run build', { cwd: root, stdio: 'inherit' });
