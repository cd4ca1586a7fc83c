/** The events of a subscription, for the response pane. */
export interface EventList {
  /** The newest first. */
  readonly events: readonly unknown[];
  /** The reason why no more events follow. */
  readonly ended?: string;
}

/** The part of GraphiQL's state that its callback `onTabChange` receives. */
export interface TabsState {
  readonly tabs: readonly { readonly id: string }[];
  readonly activeTabIndex: number;
}

/** Subscriptions that continue while another tab is active. GraphiQL itself ends those of an inactive tab. */
export interface Subscriptions {
  readonly onTabChange: (state: TabsState) => void;
  readonly activeTab: () => string;
  /** Returns the subscription of the active tab if it has this request; closes it if it has another. */
  readonly find: (request: string) => AsyncIterable<EventList> | undefined;
  readonly start: (
    tab: string,
    request: string,
    events: AsyncIterable<unknown>,
    close: () => void,
  ) => AsyncIterable<EventList>;
}

interface Subscription {
  readonly request: string;
  /** Yields the list of events after each change, until another tab becomes active. */
  readonly attach: () => AsyncIterable<EventList>;
  readonly detach: () => void;
  readonly close: () => void;
}

const maxEvents = 100;

/** @param resume - presses the play button, so that GraphiQL shows the events of the active tab again */
export function createSubscriptions(resume: () => void): Subscriptions {
  const subscriptions = new Map<string, Subscription>();
  let active = '';

  function close(tab: string): void {
    subscriptions.get(tab)?.close();
    subscriptions.delete(tab);
  }

  function onStop(tab: string): void {
    // GraphiQL stops a subscription first and changes the tab then, both in the same task.
    setTimeout(() => {
      if (tab === active) close(tab);
    });
  }

  return {
    onTabChange({ tabs, activeTabIndex }) {
      for (const tab of subscriptions.keys()) if (!tabs.some(({ id }) => id === tab)) close(tab);
      const next = tabs[activeTabIndex]?.id ?? '';
      if (next === active) return;
      subscriptions.get(active)?.detach();
      active = next;
      // GraphiQL calls this while it changes its state.
      if (subscriptions.has(active)) setTimeout(resume);
    },
    activeTab: () => active,
    find(request) {
      if (subscriptions.get(active)?.request !== request) close(active);
      return subscriptions.get(active)?.attach();
    },
    start(tab, request, events, abort) {
      close(tab);
      const subscription = createSubscription(request, events, abort, {
        onStop: () => onStop(tab),
        onEnd: () => subscriptions.delete(tab),
      });
      subscriptions.set(tab, subscription);
      return subscription.attach();
    },
  };
}

function createSubscription(
  request: string,
  source: AsyncIterable<unknown>,
  close: () => void,
  { onStop, onEnd }: { readonly onStop: () => void; readonly onEnd: () => void },
): Subscription {
  let list: EventList = { events: [] };
  let wake = () => {};
  let detach = () => {};
  const show = (next: EventList) => {
    list = next;
    wake();
  };
  const collect = async () => {
    try {
      for await (const event of source) {
        // A checkpoint contains only a cursor; the next checkpoint replaces it.
        const [newest] = list.events;
        const older = isCheckpoint(event) && isCheckpoint(newest) ? list.events.slice(1) : list.events;
        show({ events: [event, ...older].slice(0, maxEvents) });
      }
      show({ ...list, ended: 'The service has ended the subscription.' });
    } catch (error) {
      show({ ...list, ended: error instanceof Error ? error.message : String(error) });
    }
  };
  void collect();

  function attach(): AsyncIterableIterator<EventList> {
    detach();
    let shown: EventList | undefined;
    let isAttached = true;
    detach = () => {
      isAttached = false;
      wake();
    };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        while (isAttached && shown === list) await new Promise<void>((resolve) => (wake = resolve));
        if (!isAttached || shown?.ended !== undefined) return { done: true, value: undefined };
        shown = list;
        if (list.ended !== undefined) onEnd();
        return { done: false, value: list };
      },
      return() {
        isAttached = false;
        wake();
        onStop();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
  return { request, attach, detach: () => detach(), close };
}

/** Whether an event is a checkpoint, which contains only a cursor. */
function isCheckpoint(event: unknown): boolean {
  const { data } = (event ?? {}) as { readonly data?: Record<string, { readonly entry?: unknown } | null> };
  return Object.values(data ?? {}).some((field) => field?.entry === null);
}
