import { createContext, type ComponentChildren } from 'preact';
import { useContext, useMemo, useState } from 'preact/hooks';
import { createClient, KeyfrontError, type Client } from '../client/client.js';

/** The kind of a credential. */
export type Kind = 'management' | 'service';

/** The credentials of this page, in memory only: a reload discards them. */
export interface ConsoleSession {
  /** A client for each credential that the user has signed in with. */
  readonly clients: Readonly<Partial<Record<Kind, Client>>>;
  /** Whether the service has rejected the present credential of this kind. Views keep their state meanwhile. */
  readonly isRejected: (kind: Kind) => boolean;
  readonly signIn: (kind: Kind, secret: string) => void;
  readonly signOut: () => void;
}

const SessionContext = createContext<ConsoleSession | undefined>(undefined);

/** Provides the session to its children. */
export function SessionProvider({ children }: { readonly children: ComponentChildren }) {
  const [clients, setClients] = useState<ConsoleSession['clients']>({});
  const [rejected, setRejected] = useState<ReadonlySet<Client | undefined>>(new Set());
  const session = useMemo<ConsoleSession>(
    () => ({
      clients,
      isRejected: (kind) => rejected.has(clients[kind]),
      signIn: (kind, secret) => {
        const client = connect(kind, secret, () => setRejected((all) => new Set([...all, client])));
        setClients((others) => ({ ...others, [kind]: client }));
      },
      signOut: () => setClients({}),
    }),
    [clients, rejected],
  );
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

/** Creates a client that reports when the service rejects its credential, such as after a revocation. */
function connect(kind: Kind, secret: string, onRejected: () => void): Client {
  const client = createClient({ url: location.origin, [kind]: secret, trustedDocuments: true });
  const check = (error: unknown): never => {
    if (error instanceof KeyfrontError && error.code === 'UNAUTHENTICATED') onRejected();
    throw error;
  };
  return {
    send: (document, variables, options) => client.send(document, variables, options).catch(check),
    async *follow(document, variables, options) {
      try {
        yield* client.follow(document, variables, options);
      } catch (error) {
        check(error);
      }
    },
  };
}
