import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import ipaddr from 'ipaddr.js';
import type { Authenticate } from '../credentials/credential.js';
import type { Logger } from '../lib/log.js';
import type { Telemetry } from '../telemetry/ports.js';
import { createRequestTracker } from '../telemetry/request-record.js';
import { logRequest, type Responder } from './respond.js';
import {
  createRequestContext,
  incomingFromFetch,
  incomingFromNode,
  type IncomingRequest,
  type RequestContext,
} from './request-context.js';
import { sendResponse, toFetchResponse, type HTTPResponse } from './response.js';

interface RequestHandlerDeps {
  readonly respond: Responder;
  readonly authenticate: Authenticate;
  /** The number of proxies in front of the service whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: number;
  readonly telemetry: Telemetry;
  readonly log: Logger;
}

/** The service as a function of requests. */
export interface RequestHandler {
  /** Responds to a request of `fetch`. */
  readonly fetch: (request: Request, socketAddress?: string) => Promise<Response>;
  /** Responds to a request of Node's server. `arrivedMs` is the time of its arrival by `performance.now()`. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, arrivedMs?: number) => void;
  /**
   * Serves a request that did not arrive over HTTP: with a context, a log line and metrics as for one that did. Fails as
   * `work` does.
   */
  readonly run: <T>(
    incoming: IncomingRequest,
    socketAddress: string,
    work: (request: RequestContext) => Promise<RunOutcome<T>>,
  ) => Promise<T>;
  /**
   * Ends the open event streams. Resolves when no request is being served any more, which can be long after its client has
   * closed the connection.
   */
  readonly finish: () => Promise<void>;
}

/** What a request that did not arrive over HTTP resulted in. */
interface RunOutcome<T> {
  readonly result: T;
  /** The status that a response would have. */
  readonly status: number;
  /** Resolves when the result does not need the service any more. Default: at once. */
  readonly ended?: Promise<void> | undefined;
}

/** Returns functions that create the context of each request, and send the response to it. */
export function createRequestHandler({
  respond,
  authenticate,
  trustedProxies,
  telemetry,
  log,
}: RequestHandlerDeps): RequestHandler {
  const track = createRequestTracker(telemetry);
  const requests = new Set<Promise<void>>();
  const streams = new Set<Readable>();
  let isFinishing = false;

  /** Resolves when the stream is closed, at once if the service is stopping. */
  function untilClosed(stream: Readable): Promise<void> {
    return new Promise((resolve) => {
      streams.add(stream);
      stream.once('close', () => {
        streams.delete(stream);
        resolve();
      });
      if (isFinishing) stream.destroy();
    });
  }

  function serve<T>(
    incoming: IncomingRequest,
    socketAddress: string | undefined,
    atMs: number,
    work: (request: RequestContext) => Promise<T>,
    untilEnd: (outcome: T) => Promise<void> | undefined,
  ): Promise<T> {
    const { method, headers } = incoming;
    const header = (name: string) => headers.get(name);
    const clientAddress = clientAddressOf(socketAddress, header('x-forwarded-for') ?? undefined, trustedProxies);
    const outcome = track({ method, header, atMs }, (record) =>
      work(createRequestContext(incoming, { record, clientAddress, authenticate })),
    );
    const served = outcome
      .then(untilEnd)
      .catch(() => undefined)
      .then(() => void requests.delete(served));
    requests.add(served);
    return outcome;
  }

  const respondTo = (
    incoming: IncomingRequest,
    socketAddress: string | undefined,
    atMs: number,
  ): Promise<HTTPResponse> =>
    serve(incoming, socketAddress, atMs, respond, ({ body }) =>
      body instanceof Readable ? untilClosed(body) : undefined,
    );

  return {
    fetch: async (request, socketAddress) =>
      toFetchResponse(await respondTo(incomingFromFetch(request), socketAddress, performance.now())),
    handle: (request, response, arrivedMs = performance.now()) => {
      // A closed socket has no address. All closed sockets count as one client.
      const socketAddress = request.socket.remoteAddress ?? 'unknown';
      respondTo(incomingFromNode(request, response), socketAddress, arrivedMs)
        .then((ready) => sendResponse(response, ready))
        .catch((error: unknown) => {
          log.error({ err: error }, 'internal error');
          response.destroy();
        });
    },
    run: async (incoming, socketAddress, work) => {
      const logged = async (request: RequestContext) => {
        const outcome = await work(request);
        logRequest(log, request.record, outcome.status);
        return outcome;
      };
      return (await serve(incoming, socketAddress, performance.now(), logged, ({ ended }) => ended)).result;
    },
    finish: async () => {
      isFinishing = true;
      for (const stream of streams) stream.destroy();
      await Promise.all(requests);
    },
  };
}

/**
 * The address of the client: the remote address of the socket, or the address that the outermost of `trustedProxies`
 * proxies added to `X-Forwarded-For`. Entries further left are not trusted and not read.
 */
export function clientAddressOf(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string | undefined {
  if (socketAddress === undefined) return undefined;
  const hops = trustedProxies === 0 ? [] : (forwardedFor ?? '').split(',').slice(-trustedProxies).reverse();
  let address = canonicalAddress(socketAddress);
  for (const hop of hops) {
    const hopAddress = canonicalAddress(hop.trim().replace(/^(?:\[([^\]]+)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/, '$1$2'));
    // A proxy that names no address hides the addresses behind it.
    if (isIP(hopAddress) === 0) break;
    address = hopAddress;
  }
  return address;
}

/**
 * Returns the canonical form of an address: IPv4-mapped IPv6 (`::ffff:192.0.2.1`) as IPv4, hexadecimal in lower case.
 */
function canonicalAddress(address: string): string {
  return isIP(address) === 0 ? address : ipaddr.process(address).toString();
}
