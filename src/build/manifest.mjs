/**
 * The manifest of the published package: what a consumer's npm reads, without the scripts, development packages and settings
 * of the repository.
 *
 * @param {Readonly<Record<string, unknown>>} manifest That of the repository.
 */
export function publishedManifest(manifest) {
  const published = ['name', 'version', 'description', 'keywords', 'license', 'type', 'engines', 'bin', 'exports'];
  const places = ['homepage', 'repository', 'bugs'];
  const members = [...published, ...places, 'dependencies'].filter((name) => name in manifest);
  return Object.fromEntries(members.map((name) => [name, manifest[name]]));
}
