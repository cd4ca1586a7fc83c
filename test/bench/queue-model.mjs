// A model of updates on PostgreSQL: what waits for what, and nothing else. Figures that one machine cannot show, such as
// those of eight processes on machines of their own, come from it, fed with what an update was measured to cost.
import { quantile } from './statistics.mjs';

/**
 * @typedef {object} Costs all in microseconds
 * @property {number} process of a Keyfront process' one thread, for a request
 * @property {number} look of a PostgreSQL processor, for a group of updates however many they are
 * @property {number} row the same, for each update in it
 * @property {number} sync one wait for the disk, which all share that have come by its beginning
 * @property {number} trip to the server and back
 */

/**
 * @typedef {object} Plant
 * @property {number} processes of Keyfront, each on a processor of its own
 * @property {number} processors of PostgreSQL
 * @property {number} [groups] that a process has under way at a time
 * @property {number} [most] updates in a group
 */

/** What every update costs a resource, in microseconds, and how much of it there is: what gives out first, and at how many a second. */
export function limitsOf(
  /** @type {Costs} */ costs,
  /** @type {Plant} */ { processes, processors, groups = 3, most = 128 },
) {
  const roundMs = (costs.trip * 2 + costs.look + costs.row * most + costs.sync * 1.5) / 1000;
  return {
    'Keyfront’s processors': (processes / costs.process) * 1e6,
    'PostgreSQL’s processors': (processors / (costs.row + costs.look / most)) * 1e6,
    'groups under way': ((processes * groups * most) / roundMs) * 1000,
  };
}

/**
 * Lets updates arrive at random, so many a second, for some seconds of the model's own time. Where more arrive than can
 * be done, what was waited for grows with the length of the run.
 */
export function simulate(
  /** @type {Costs} */ costs,
  /** @type {Plant} */ { processes, processors, groups = 3, most = 128 },
  /** @type {{ perSecond: number, seconds: number, random: () => number }} */ { perSecond, seconds, random },
) {
  const events = createEvents();
  const database = createServers(processors, events);
  const disk = createDisk(costs.sync, events);
  /** @type {number[]} */
  const waits = [];
  const services = Array.from({ length: processes }, () => {
    const thread = createServers(1, events);
    /** @type {number[]} */
    let waiting = [];
    let underWay = 0;
    const start = () => {
      if (waiting.length === 0 || underWay >= groups) return;
      const group = waiting.slice(0, most);
      waiting = waiting.slice(most);
      underWay += 1;
      // The look and the write are a trip each.
      events.in(costs.trip * 2, () =>
        database(costs.look + costs.row * group.length, () =>
          disk(() => {
            underWay -= 1;
            for (const came of group) thread(costs.process / 3, () => waits.push(events.now() - came));
            start();
          }),
        ),
      );
    };
    return (/** @type {number} */ came) =>
      thread((costs.process * 2) / 3, () => {
        waiting.push(came);
        start();
      });
  });
  const arrive = () => {
    services[Math.floor(random() * processes)]?.(events.now());
    events.in((-Math.log(1 - random()) / perSecond) * 1e6, arrive);
  };
  arrive();
  events.run(seconds * 1e6);
  return { done: waits.length / seconds, p50Ms: quantile(waits, 0.5) / 1000, p99Ms: quantile(waits, 0.99) / 1000 };
}

/** So many servers before one queue. */
function createServers(/** @type {number} */ count, /** @type {ReturnType<typeof createEvents>} */ events) {
  const free = Array.from({ length: count }, () => 0);
  return (/** @type {number} */ us, /** @type {() => void} */ then) => {
    const first = free.indexOf(Math.min(...free));
    const end = Math.max(free[first] ?? 0, events.now()) + us;
    free[first] = end;
    events.in(end - events.now(), then);
  };
}

/** One wait at a time; who comes during one shares the next. */
function createDisk(/** @type {number} */ syncUs, /** @type {ReturnType<typeof createEvents>} */ events) {
  /** @type {(() => void)[]} */
  let next = [];
  let isBusy = false;
  const sync = () => {
    if (next.length === 0) return;
    isBusy = true;
    const all = next;
    next = [];
    events.in(syncUs, () => {
      isBusy = false;
      sync();
      for (const then of all) then();
    });
  };
  return (/** @type {() => void} */ then) => {
    next.push(then);
    if (!isBusy) sync();
  };
}

/** What happens when, in the order of time: a heap of moments. */
function createEvents() {
  /** @type {{ at: number, then: () => void }[]} */
  const heap = [];
  let now = 0;
  const atOf = (/** @type {number} */ index) => heap[index]?.at ?? Infinity;
  const swap = (/** @type {number} */ a, /** @type {number} */ b) => {
    const [one, other] = [heap[a], heap[b]];
    if (one && other) [heap[a], heap[b]] = [other, one];
  };
  const pop = () => {
    const [first] = heap;
    const last = heap.pop();
    if (last && heap.length > 0) heap[0] = last;
    for (let index = 0; ;) {
      const least = atOf(2 * index + 1) <= atOf(2 * index + 2) ? 2 * index + 1 : 2 * index + 2;
      if (atOf(least) >= atOf(index)) return first;
      swap(index, least);
      index = least;
    }
  };
  return {
    now: () => now,
    in: (/** @type {number} */ us, /** @type {() => void} */ then) => {
      heap.push({ at: now + us, then });
      for (let index = heap.length - 1; index > 0;) {
        const parent = (index - 1) >> 1;
        if (atOf(parent) <= atOf(index)) break;
        swap(parent, index);
        index = parent;
      }
    },
    run: (/** @type {number} */ until) => {
      for (let event = pop(); event && event.at <= until; event = pop()) {
        now = event.at;
        event.then();
      }
    },
  };
}
