import { Client } from 'pg';
import type { PgPool, Session } from '../../src/storage/postgres/pool.js';
import type { Prepared } from '../../src/storage/sql/session.js';

/** A statement that the store has sent. */
export interface SentStatement {
  readonly statement: Prepared | string;
  readonly values: readonly unknown[];
}

/** The work of the server for a statement, from its plan. */
export interface StatementWork {
  /** Tables with a sequential scan. */
  readonly scannedTables: readonly string[];
  /** Indexes that are read without their tables. */
  readonly indexesAlone: readonly string[];
  /** Number of rows read from tables and indexes, including those that a filter removed. */
  readonly rowsRead: number;
  /** Whether the plan contains a sort. */
  readonly hasSort: boolean;
}

/** Wraps connections to record their statements. */
export function recordStatements(connections: PgPool): { connections: PgPool; sent: SentStatement[] } {
  const sent: SentStatement[] = [];
  const recordingSession = (session: Session): Session => ({
    query: (statement, values = []) => {
      sent.push({ statement, values });
      return session.query(statement, values);
    },
    write: (statement, values = []) => {
      sent.push({ statement, values });
      return session.write(statement, values);
    },
  });
  return {
    sent,
    connections: {
      run: (work) => connections.run((session) => work(recordingSession(session))),
      close: () => connections.close(),
    },
  };
}

/**
 * Connects to a server to analyze statements. `of` executes a statement as the store does, rolls it back, and returns
 * the work of its custom plan and, for a prepared statement, of its generic plan.
 */
export async function openPlans(url: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    `LOAD 'auto_explain'; SET client_min_messages = log; SET auto_explain.log_min_duration = 0;
     SET auto_explain.log_analyze = on; SET auto_explain.log_format = json`,
  );
  let plans: string[] = [];
  client.on('notice', ({ message }) => {
    const [, plan] = /^duration: [\d.]+ ms {2}plan:\n(.*)$/s.exec(message ?? '') ?? [];
    if (plan !== undefined) plans.push(plan);
  });

  async function workOf({ statement, values }: SentStatement, mode: 'custom' | 'generic'): Promise<StatementWork> {
    await client.query(`SET plan_cache_mode = force_${mode}_plan; BEGIN`);
    try {
      plans = [];
      await client.query({ ...(typeof statement === 'string' ? { text: statement } : statement), values: [...values] });
      // auto_explain reports the plan of a statement before the next one is executed.
      await client.query('SHOW server_version');
      const nodes = plans.flatMap((plan) => nodesOf((JSON.parse(plan) as { Plan: PlanNode }).Plan));
      if (nodes.length === 0) throw new Error('The server returned no plan.');
      return {
        scannedTables: nodes
          .flatMap((node) => (node['Node Type'] === 'Seq Scan' ? (node['Relation Name'] ?? []) : []))
          // `settings` has one page at most, independently of the content of the database.
          .filter((table) => table !== 'settings'),
        indexesAlone: nodes.flatMap((node) =>
          node['Node Type'] === 'Index Only Scan' ? (node['Index Name'] ?? []) : [],
        ),
        rowsRead: nodes.reduce((sum, node) => sum + rowsReadBy(node), 0),
        hasSort: nodes.some((node) => node['Node Type'].includes('Sort')),
      };
    } finally {
      await client.query('ROLLBACK');
    }
  }

  return {
    async of(sent: SentStatement): Promise<StatementWork[]> {
      const custom = await workOf(sent, 'custom');
      return typeof sent.statement === 'string' ? [custom] : [custom, await workOf(sent, 'generic')];
    },
    close: () => client.end(),
  };
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

function rowsReadBy(node: PlanNode): number {
  // The child nodes read the rows that ModifyTable writes.
  if ((node['Relation Name'] ?? node['Index Name']) === undefined || node['Node Type'] === 'ModifyTable') return 0;
  const rows =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return rows * node['Actual Loops'];
}
