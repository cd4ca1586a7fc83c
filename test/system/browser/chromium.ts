import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packed from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';

const own = process.env['CHROMIUM'];

/** Why no browser can be started here; undefined where one can. */
export const whyNoBrowser =
  own === undefined && `${process.platform} ${process.arch}` !== 'linux x64'
    ? 'the Chromium of the npm package is for linux x64; set CHROMIUM to the path of another'
    : undefined;

/** Starts the Chromium that CHROMIUM names, or else the one in the npm package, with the libraries and fonts it brings. */
export async function startBrowser(): Promise<Browser> {
  // Without these, a browser tries to reach hosts of its maker at every start.
  const args = ['--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-component-update'];
  if (own !== undefined) return chromium.launch({ executablePath: own, args });
  const folder = await unpack();
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
    FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    HOME: folder,
  };
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: [...args, '--font-render-hinting=none'],
    env,
  });
}

/** The version of the npm package, which is that of its browser. */
const { version } = JSON.parse(
  readFileSync(new URL('../../../node_modules/@sparticuz/chromium/package.json', import.meta.url), 'utf8'),
) as { version: string };

/** The folder of the unpacked browser, which is kept for the next time. Another version has another folder. */
async function unpack(): Promise<string> {
  const folder = join(tmpdir(), `keyfront-chromium-${version}-${process.getuid?.() ?? 0}`);
  if (existsSync(folder)) return folder;
  // The package unpacks to the folder for temporary files, and takes what it finds there for whole. Another run may be
  // at it too: the first to rename its folder wins.
  const mine = await mkdtemp(`${folder}-`);
  const { TMPDIR, AWS_EXECUTION_ENV } = process.env;
  try {
    process.env['TMPDIR'] = mine;
    // The libraries are those of the system that this names, and unpacked only where it is named.
    process.env['AWS_EXECUTION_ENV'] = 'AWS_Lambda_nodejs20.x';
    packed.setGraphicsMode = false;
    await packed.executablePath();
    await writeFile(
      join(mine, 'fonts.conf'),
      `<?xml version="1.0"?><fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>\n`,
    );
    await rename(mine, folder);
  } catch (error) {
    await rm(mine, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  } finally {
    restore('TMPDIR', TMPDIR);
    restore('AWS_EXECUTION_ENV', AWS_EXECUTION_ENV);
  }
  return folder;
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
