/** Previews a definition. */
export function PreviewView() {
  return null;
}
