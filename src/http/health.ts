/** Whether the process can do its work; asked by `/ready`. */
export interface Readiness {
  isReady(): Promise<boolean>;
}

/** Answers `/health` (the process runs) and `/ready` (it can read its database and is not stopping). */
export async function answerHealth(path: string, readiness: Readiness): Promise<Response | undefined> {
  if (path === '/health') return plain(200, 'ok');
  if (path !== '/ready') return undefined;
  return (await readiness.isReady()) ? plain(200, 'ready') : plain(503, 'not ready');
}

function plain(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' } });
}
