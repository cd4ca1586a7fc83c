// A queueing model of updates on PostgreSQL. From the measured costs of an update, it computes figures that one machine
// cannot show, such as those of eight processes on separate machines.
import { quantile } from './statistics.mjs';

/**
 * @typedef {object} Costs all in microseconds
 * @property {number} process CPU time of a Keyfront process for a request
 * @property {number} group CPU time of PostgreSQL for a group of updates of any size
 * @property {number} row CPU time of PostgreSQL for each update of a group
 * @property {number} sync duration of a disk sync, which all groups share that arrived before its start
 * @property {number} roundTrip round trip to the server
 */

/**
 * @typedef {object} Deployment
 * @property {number} processes Keyfront processes, each on its own processor
 * @property {number} processors processors of PostgreSQL
 * @property {number} [groups] concurrent groups of a process
 * @property {number} [maxGroupSize] maximum number of updates in a group
 */

/** Returns the maximum number of updates per second of each resource. The smallest one is the bottleneck. */
export function limitsOf(
  /** @type {Costs} */ costs,
  /** @type {Deployment} */ { processes, processors, groups = 3, maxGroupSize = 128 },
) {
  const roundMs = (costs.roundTrip * 2 + costs.group + costs.row * maxGroupSize + costs.sync * 1.5) / 1000;
  return {
    'Keyfront’s processors': (processes / costs.process) * 1e6,
    'PostgreSQL’s processors': (processors / (costs.row + costs.group / maxGroupSize)) * 1e6,
    'groups under way': ((processes * groups * maxGroupSize) / roundMs) * 1000,
  };
}

/**
 * Simulates updates that arrive at random, at a rate per second, for some seconds of simulated time. At a rate above
 * the capacity, latencies grow with the length of the run.
 */
export function simulate(
  /** @type {Costs} */ costs,
  /** @type {Deployment} */ { processes, processors, groups = 3, maxGroupSize = 128 },
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
    let active = 0;
    const start = () => {
      if (waiting.length === 0 || active >= groups) return;
      const group = waiting.slice(0, maxGroupSize);
      waiting = waiting.slice(maxGroupSize);
      active += 1;
      // A round trip for the read and one for the write.
      events.in(costs.roundTrip * 2, () =>
        database(costs.group + costs.row * group.length, () =>
          disk(() => {
            active -= 1;
            for (const arrivedAt of group) thread(costs.process / 3, () => waits.push(events.now() - arrivedAt));
            start();
          }),
        ),
      );
    };
    return (/** @type {number} */ arrivedAt) =>
      thread((costs.process * 2) / 3, () => {
        waiting.push(arrivedAt);
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

/** Creates a queue with several servers. */
function createServers(/** @type {number} */ count, /** @type {ReturnType<typeof createEvents>} */ events) {
  const free = Array.from({ length: count }, () => 0);
  return (/** @type {number} */ us, /** @type {() => void} */ then) => {
    const first = free.indexOf(Math.min(...free));
    const end = Math.max(free[first] ?? 0, events.now()) + us;
    free[first] = end;
    events.in(end - events.now(), then);
  };
}

/** Creates a disk with one sync at a time. Requests during a sync share the next one. */
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

/** Creates a queue of events in order of time: a binary heap. */
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
      const earliest = atOf(2 * index + 1) <= atOf(2 * index + 2) ? 2 * index + 1 : 2 * index + 2;
      if (atOf(earliest) >= atOf(index)) return first;
      swap(index, earliest);
      index = earliest;
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
