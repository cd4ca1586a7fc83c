import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  createClient,
  KeyfrontError,
  PreviewKeyDocument,
  ViewerDocument,
  type Client,
  type Credential,
  type KeyScope,
  type ViewerQuery,
} from '../client/client.js';
import type { SignedOn } from '../http/sign-on/browser/sign-on.js';
import { createConnection, type Connection, type ConnectionState } from './connection.js';

/** The kind of a credential. */
export type Kind = 'management' | 'service';

/** The service credential of the page: its label, its organization and what it may do. */
export type Viewer = NonNullable<ViewerQuery['viewer']>;

/** The credentials of this page, in memory only: a reload discards them. */
export interface ConsoleSession {
  /** A client for each credential that the user has signed in with. */
  readonly clients: Readonly<Partial<Record<Kind, Client>>>;
  readonly viewer: Viewer | undefined;
  /** Whether the service has rejected the present credential of this kind. Views keep their state meanwhile. */
  readonly isRejected: (kind: Kind) => boolean;
  /** Whether the service credential has a scope. */
  readonly can: (scope: KeyScope) => boolean;
  /** @throws {KeyfrontError} UNAUTHENTICATED if the service does not accept the credential */
  readonly signIn: (kind: Kind, secret: string) => Promise<void>;
  /**
   * Uses the token of a person for everything that it permits.
   *
   * @param kind - what the view needs
   * @throws {KeyfrontError} UNAUTHENTICATED if the token does not permit that; the reason of the signal when it is aborted. The tokens
   * are forgotten then.
   */
  readonly signOn: (kind: Kind, person: SignedOn, signal: AbortSignal) => Promise<void>;
  readonly signOut: () => void;
  readonly connection: Connection;
}

const SessionContext = createContext<ConsoleSession | undefined>(undefined);

/** Provides the session to its children. */
export function SessionProvider({ children }: { readonly children: ComponentChildren }) {
  const [clients, setClients] = useState<ConsoleSession['clients']>({});
  const [viewer, setViewer] = useState<Viewer>();
  const [rejected, setRejected] = useState<ReadonlySet<Client | undefined>>(new Set());
  const [connection] = useState(createConnection);
  const person = useRef<SignedOn | undefined>(undefined);
  const session = useMemo<ConsoleSession>(() => {
    const reject = (client: Client) => setRejected((all) => new Set([...all, client]));
    return {
      clients,
      viewer,
      connection,
      isRejected: (kind) => rejected.has(clients[kind]),
      can: (scope) => viewer?.scopes.includes(scope) === true,
      signIn: async (kind, secret) => {
        const client = connect(connection, kind, secret, reject);
        if (kind === 'service') {
          const { data } = await client.send(ViewerDocument, {});
          setViewer(data.viewer ?? undefined);
        } else await client.send(PreviewKeyDocument, { input: {} });
        setClients((others) => ({ ...others, [kind]: client }));
      },
      signOn: async (kind, signedOn, signal) => {
        const [service, management] = (['service', 'management'] as const).map((one) =>
          connect(connection, one, signedOn.token, reject, signedOn.renew),
        );
        const check = async () => {
          const accepted = await service?.send(ViewerDocument, {}, { signal }).catch((error: unknown) => {
            // It may permit previews alone.
            if (kind === 'service') throw error;
            return undefined;
          });
          if (!accepted) await management?.send(PreviewKeyDocument, { input: {} }, { signal });
          signal.throwIfAborted();
          return accepted;
        };
        const found = await check().catch((error: unknown) => {
          void signedOn.signOut();
          throw error;
        });
        void person.current?.signOut();
        person.current = signedOn;
        setViewer(found?.data.viewer ?? undefined);
        setClients({ ...(management && { management }), ...(found && service && { service }) });
      },
      signOut: () => {
        void person.current?.signOut();
        person.current = undefined;
        setClients({});
        setViewer(undefined);
      },
    };
  }, [clients, viewer, rejected]);
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>;
}

/** Returns the session. */
export function useSession(): ConsoleSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error('There is no session.');
  return session;
}

/** Returns the client of a view that is shown only with a credential of this kind. */
export function useClient(kind: Kind): Client {
  const client = useSession().clients[kind];
  if (!client) throw new Error(`There is no ${kind} credential.`);
  return client;
}

/** Returns the state of the connection, and renders again when it changes. */
export function useConnection(): ConnectionState {
  const { connection } = useSession();
  const [state, setState] = useState(connection.state);
  useEffect(() => {
    const update = () => setState(connection.state());
    update();
    return connection.subscribe(update);
  }, [connection]);
  return state;
}

/**
 * Creates a client that reports when the service rejects its credential, such as after a revocation. A token that can be renewed
 * is, and the request is sent again.
 */
function connect(
  connection: Connection,
  kind: Kind,
  secret: Credential,
  onRejected: (client: Client) => void,
  renew: () => Promise<boolean> = () => Promise.resolve(false),
): Client {
  const client = createClient({
    url: location.origin,
    [kind]: secret,
    trustedDocuments: true,
    fetch: connection.fetch,
  });
  const isRejection = (error: unknown) => error instanceof KeyfrontError && error.code === 'UNAUTHENTICATED';
  const check = (error: unknown): never => {
    if (isRejection(error)) onRejected(connected);
    throw error;
  };
  const connected: Client = {
    send: (document, variables, options) =>
      client
        .send(document, variables, options)
        .catch(async (error: unknown) => {
          if (!isRejection(error) || !(await renew())) throw error;
          return client.send(document, variables, options);
        })
        .catch(check),
    async *follow(document, variables, options) {
      const release = connection.expectStream();
      let { after } = variables;
      try {
        for (;;) {
          try {
            for await (const event of client.follow(document, { ...variables, after }, options)) {
              after = event.data.orgKeyChanged.cursor;
              yield event;
            }
            return;
          } catch (error) {
            // The service ends the stream when the token with which it was opened expires.
            if (!isRejection(error) || !(await renew())) check(error);
          }
        }
      } finally {
        release();
      }
    },
  };
  return connected;
}
