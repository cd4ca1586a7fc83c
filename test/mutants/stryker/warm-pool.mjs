import { ThreadsPoolWorker } from 'vitest/node';

/** After so many mutants a new thread begins, because what tests leave in memory adds up. */
const maxRuns = 200;

/** @type {{ thread: ThreadsPoolWorker, isStarted: boolean, runs: number } | undefined} */
let warm;

/**
 * A worker of Vitest whose thread, with the modules that it has imported, outlives a run: to import the service takes longer
 * than most of its tests.
 */
class WarmWorker {
  name = 'warm';
  #options;
  #listeners = [];
  #config;

  constructor(options) {
    this.#options = options;
  }

  async start() {
    if (warm !== undefined && warm.runs >= maxRuns) {
      await warm.thread.stop();
      warm = undefined;
    }
    if (warm !== undefined) return;
    warm = { thread: new ThreadsPoolWorker(this.#options), isStarted: false, runs: 0 };
    await warm.thread.start();
  }

  on(event, callback) {
    warm.thread.on(event, callback);
    this.#listeners.push([event, callback]);
  }

  off(event, callback) {
    warm.thread.off(event, callback);
  }

  send(message) {
    switch (message.type) {
      case 'start':
        this.#config = message.context.config;
        if (warm.isStarted) return this.#reply('started');
        warm.isStarted = true;
        return warm.thread.send(message);
      case 'run':
        warm.runs += 1;
        // The titles of the tests to run are in the configuration, which the thread otherwise reads only when it starts.
        return warm.thread.send({ ...message, context: { ...message.context, config: this.#config } });
      case 'stop':
        return this.#reply('stopped');
      default:
        return warm.thread.send(message);
    }
  }

  async stop() {
    for (const [event, callback] of this.#listeners) this.off(event, callback);
  }

  deserialize(data) {
    return data;
  }

  #reply(type) {
    for (const [event, callback] of this.#listeners) {
      if (event === 'message') callback({ type, __vitest_worker_response__: true });
    }
  }
}

/** Whether the mutant is in code that runs when a module is imported, which only a new thread does again. */
const isStatic = ({ project }) => project.getProvidedContext().mutantActivation === 'static';

export const warmPool = {
  name: 'warm',
  createPoolWorker: (options) => (isStatic(options) ? new ThreadsPoolWorker(options) : new WarmWorker(options)),
};
